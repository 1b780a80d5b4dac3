//! What a connection goes through: paths, packet sizes, peers without the extension.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lowtide_quic::lowtide_cc::controller::FeedbackSnapshot;
use lowtide_quic::lowtide_cc::units::Time;
use lowtide_quic::{AckSeen, Controllers, ExtensionSeen, Observer, Rbbr};
use s2n_quic::Client;
use s2n_quic::provider::io::testing::{Handle, Socket, spawn, time};

use crate::peers::{
    FOREVER, bare_server, client, download, endpoint, model, narrow, plain_client, server,
};
use crate::recorder::recorded;

const SIZE: usize = 3_000_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// The last acknowledgment's view of the extension.
#[derive(Debug, Default)]
struct Extension(Mutex<Option<(ExtensionSeen, Option<FeedbackSnapshot>)>>);

impl Observer for Extension {
    fn on_ack(&self, ack: &AckSeen<'_>) {
        if let Some(age) = ack.extension.age(ack.now) {
            assert!(age <= ack.now.since(Time::ZERO), "{ack:?}");
        }
        let snapshot = ack.controller.and_then(|c| c.snapshot().feedback);
        *self.0.lock().unwrap() = Some((ack.extension, snapshot));
    }
}

#[test]
fn feedback_travels_between_peers_that_speak_the_extension_and_plain_peers_never_see_it() {
    // RBBR alone, RBBR's parts at the client only, at the server only, at both.
    for (client_speaks, server_speaks) in
        [(false, false), (true, false), (false, true), (true, true)]
    {
        let (controllers, notes) = recorded("rbbr");
        let extension = Arc::new(Extension::default());
        let controllers = controllers.with_observer(extension.clone());
        let client = if client_speaks { client } else { plain_client };
        let download = if server_speaks {
            download(narrow(), 5 * SIZE, PATIENCE, server(controllers), client)
        } else {
            let server = bare_server(Controllers::from(controllers));
            download(narrow(), 5 * SIZE, PATIENCE, server, client)
        };
        let both = client_speaks && server_speaks;
        assert!(download.is_done(), "{}", download.error());
        let notes = notes.lock().unwrap();
        assert_eq!(
            !notes.feedback.is_empty(),
            both,
            "{client_speaks} {server_speaks}"
        );
        let carriers: Vec<u64> = notes.feedback.iter().map(|(carrier, _)| *carrier).collect();
        assert!(carriers.is_sorted_by(|a, b| a < b));
        let (seen, used) = extension.0.lock().unwrap().unwrap();
        assert_eq!(seen.negotiated, Some(both));
        assert_eq!(seen.reports, notes.feedback.len() as u64);
        assert_eq!(seen.newest.map(|n| n.rate), used.map(|u| u.rate));
        assert_eq!(used.map(|u| u.state), both.then_some("used"));
    }
}

/// Knows which connections got an observer, in their order.
#[derive(Debug, Default)]
struct Paths(Mutex<Vec<Option<u64>>>);

#[derive(Debug)]
struct Nothing;

impl Observer for Nothing {}

#[test]
fn a_new_path_gets_a_new_controller_of_the_same_connection() {
    let (controllers, notes) = recorded("rbbr");
    let paths = Arc::new(Paths::default());
    let seen = paths.clone();
    let controllers = controllers.with_observers(Arc::new(move |id| {
        seen.0.lock().unwrap().push(id);
        Some(Arc::new(Nothing))
    }));
    let moving_client = |handle: &Handle, tls: &str| {
        let socket: Arc<Mutex<Option<Socket>>> = Arc::default();
        let mine = socket.clone();
        spawn(async move {
            time::delay(Duration::from_millis(400)).await;
            let socket = socket.lock().unwrap().take().unwrap();
            let mut address: SocketAddr = socket.local_addr().unwrap();
            address.set_port(address.port() + 1);
            socket.rebind(address);
            time::delay(FOREVER).await;
        });
        let parts = Rbbr::default().parts().into();
        endpoint!(Client, handle, tls, parts, move |socket| {
            *mine.lock().unwrap() = Some(socket);
        })
    };
    let server = server(controllers);
    let download = download(model(), 2 * SIZE, PATIENCE, server, moving_client);
    assert!(download.is_done(), "{}", download.error());
    assert_eq!(download.received(), 2 * SIZE as u64);
    let paths = paths.0.lock().unwrap();
    assert_eq!(paths.len(), 2, "two paths were used: {paths:?}");
    assert!(paths[0].is_some() && paths[0] == paths[1], "{paths:?}");
    let notes = notes.lock().unwrap();
    assert_eq!(notes.breaches, [""; 0]);
}

#[test]
fn larger_packets_are_found_and_become_the_controllers_unit() {
    let (controllers, notes) = recorded("cubic");
    assert!(download(model(), SIZE, PATIENCE, server(controllers), client).is_done());
    let notes = notes.lock().unwrap();
    assert_eq!(notes.mtus.last(), Some(&1472), "{:?}", notes.mtus);
    assert_eq!(notes.breaches, [""; 0], "probes are packets too");
}

#[test]
fn a_typed_provider_is_enough_for_an_endpoint() {
    let server = bare_server(lowtide_quic::BbrS::default());
    let client = |handle: &Handle, tls: &str| {
        let parts = Controllers::new("copa").unwrap().parts().into();
        endpoint!(Client, handle, tls, parts)
    };
    assert!(download(model(), SIZE, PATIENCE, server, client).is_done());
}
