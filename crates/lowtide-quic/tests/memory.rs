//! An endpoint through a thousand connections opened and dropped, in virtual time: that they do not mix, and
//! what memory they take.
//!
//! `cargo test --release -p lowtide-quic --features virtual-time --test memory -- --nocapture` prints
//! the figures.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use lowtide_cc::registry;
use lowtide_host::contract;
use lowtide_quic::certificate::SelfSigned;
use lowtide_quic::{Controllers, Factory, Parts, Rbbr};
use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::{Model, primary, spawn, test_seed, time};
use s2n_quic::{Client, Server};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Connections that are open at the same time.
const TOGETHER: usize = 50;

/// What each of them fetches.
const SIZE: usize = 20_000;

fn in_use() -> usize {
    dhat::HeapStats::get().curr_bytes
}

/// Opens connections, uses each, drops them; bytes in use while they are open.
async fn batch(client: &Client, connect: &Connect) -> usize {
    let mut open = Vec::new();
    for _ in 0..TOGETHER {
        let mut connection = client.connect(connect.clone()).await.unwrap();
        let mut stream = connection.open_bidirectional_stream().await.unwrap();
        stream.send(Bytes::from_static(b"?")).await.unwrap();
        open.push((connection, stream));
    }
    for (_, stream) in &mut open {
        let mut received = 0;
        while let Some(data) = stream.receive().await.unwrap() {
            received += data.len();
        }
        assert_eq!(received, SIZE);
    }
    in_use()
}

/// Runs 200 connections to warm up and 1000 more to a server with these parts; bytes in use after the
/// first, while 50 of the others are open, and after them.
fn run(server_parts: Parts) -> [usize; 3] {
    let certificate = SelfSigned::new(["localhost"]).unwrap();
    let model = Model::default();
    model.set_delay(Duration::from_millis(20));
    let figures = Arc::new(Mutex::new([0; 3]));
    let noted = figures.clone();
    let client_parts = Rbbr::default().parts();
    let counters = [server_parts.events.counter(), client_parts.events.counter()];
    test_seed(model, 1, |handle| {
        let mut server = Server::builder()
            .with_io(handle.builder().build()?)?
            .with_tls((certificate.certificate.as_str(), certificate.key.as_str()))?
            .with_congestion_controller(server_parts.controller)?
            .with_event(server_parts.events)?
            .with_packet_interceptor(server_parts.interceptor)?
            .with_datagram(server_parts.datagrams)?
            .start()?;
        let connect = Connect::new(server.local_addr()?).with_server_name("localhost");
        spawn(async move {
            while let Some(mut connection) = server.accept().await {
                spawn(async move {
                    while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await
                    {
                        let _ = stream.send(Bytes::from_static(&[7; SIZE])).await;
                        let _ = stream.close().await;
                    }
                });
            }
        });
        let client = Client::builder()
            .with_io(handle.builder().build()?)?
            .with_tls(certificate.certificate.as_str())?
            .with_congestion_controller(client_parts.controller)?
            .with_event(client_parts.events)?
            .with_packet_interceptor(client_parts.interceptor)?
            .with_datagram(client_parts.datagrams)?
            .start()?;
        primary::spawn(async move {
            for _ in 0..4 {
                batch(&client, &connect).await;
            }
            // Closed connections linger for three probe timeouts (RFC 9000 §10.2).
            time::delay(Duration::from_secs(10)).await;
            let before = in_use();
            let mut open = 0;
            for _ in 0..1000 / TOGETHER {
                open = open.max(batch(&client, &connect).await);
            }
            time::delay(Duration::from_secs(10)).await;
            *noted.lock().unwrap() = [before, open, in_use()];
        });
        Ok(())
    })
    .unwrap();
    assert_eq!(counters.map(|c| c.count()), [0, 0]);
    *figures.lock().unwrap()
}

#[test]
fn a_thousand_connections_do_not_mix_and_leave_no_memory_behind() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let [before, open, after] = run(Rbbr::default().parts());
    println!("{before} bytes before, {open} with {TOGETHER} open, {after} after 1000");
    // Both ends of a connection are in this process.
    assert!(open > before + TOGETHER * 1_000, "{open}");
    // A controller alone has more than a kilobyte, what the parts share of a connection some 400 bytes.
    let grown = after.saturating_sub(before);
    assert!(grown < 100 * 1_000, "{before} {after}");

    let spec = registry::parse("rbbr").unwrap();
    let (make, notes) = contract::recorded(Arc::new(move |config| spec.build(config)));
    run(Controllers::from(Factory::with_controller("recorded", make)).parts());
    let notes = notes.lock().unwrap();
    // Each is copied once, before its first packet.
    assert_eq!(notes.controllers, 2 * 1_200);
    assert_eq!(notes.breaches, [""; 0]);
}
