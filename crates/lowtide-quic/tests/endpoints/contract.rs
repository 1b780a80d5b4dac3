//! The host keeps the core's contract, whatever the network does.

use std::time::Duration;

use lowtide_quic::Rbbr;
use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};

use crate::peers::{endpoint, fetch, model, run, serve};
use crate::recorder::recorded;
use s2n_quic::provider::io::testing::spawn;

const SIZE: usize = 4_000_000;

#[test]
fn what_the_controller_is_told_is_exact_under_loss_reordering_and_duplication() {
    for spec in ["newreno", "bbr"] {
        let model = model();
        model.set_drop_rate(0.01);
        model.set_retransmit_rate(0.01);
        model.set_network_jitter(Duration::from_millis(5));
        let (provider, notes) = recorded(spec);
        let mut download = None;
        run(model, |handle, certificate| {
            let tls = (certificate.certificate.as_str(), certificate.key.as_str());
            let server = endpoint!(Server, handle, tls, provider.parts().into());
            let connect = Connect::new(server.local_addr().unwrap()).with_server_name("localhost");
            spawn(serve(server, SIZE));
            let parts = Rbbr::default().parts().into();
            let client = endpoint!(Client, handle, certificate.certificate.as_str(), parts);
            download = Some(fetch(client, connect, Duration::from_secs(120)));
        });
        let download = download.unwrap();
        assert!(download.is_done(), "{}", download.error());
        assert_eq!(download.received(), SIZE as u64);
        let notes = notes.lock().unwrap();
        assert_eq!(notes.breaches, [""; 0], "{spec}");
        assert!(notes.lost_packets > 10, "{notes:?}");
        assert!(notes.acked_packets > 2_500, "{notes:?}");
    }
}

#[test]
fn without_the_other_parts_all_but_the_exact_packets_still_holds() {
    let model = model();
    model.set_drop_rate(0.01);
    let (provider, notes) = recorded("newreno");
    let mut download = None;
    run(model, |handle, certificate| {
        let tls = (certificate.certificate.as_str(), certificate.key.as_str());
        let server = Server::builder()
            .with_io(handle.builder().build().unwrap())
            .unwrap()
            .with_tls(tls)
            .unwrap()
            .with_congestion_controller(provider)
            .unwrap()
            .start()
            .unwrap();
        let connect = Connect::new(server.local_addr().unwrap()).with_server_name("localhost");
        spawn(serve(server, SIZE));
        let parts = Rbbr::default().parts().into();
        let client = endpoint!(Client, handle, certificate.certificate.as_str(), parts);
        download = Some(fetch(client, connect, Duration::from_secs(120)));
    });
    assert!(download.unwrap().is_done());
    let notes = notes.lock().unwrap();
    // A packet that was taken for acknowledged in the place of a lost one shows in the losses.
    let inexact = notes.breaches.len() as f64 / notes.acked_packets as f64;
    assert!(inexact < 0.05, "{:?}", notes.breaches.first());
    assert!(notes.lost_packets > 10 && notes.acked_packets > 2_500);
}
