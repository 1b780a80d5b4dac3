//! Attacks on the server: whatever one client does, the next one is served.

use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::time::timeout;

use crate::peers::{Attacker, UPLOAD, runtime};
use crate::program::has;
use crate::programs::{Serve, address, fetch, fetch_bytes, peak_kb, serve, serving};

/// A request for a download of so many bytes.
fn download(count: u64) -> Bytes {
    [&b"D"[..], &count.to_be_bytes()].concat().into()
}

#[test]
fn garbage_keeps_nobody_out() {
    let server = serve("");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut state = 1_u64;
    for round in 0..5_000 {
        let mut packet = vec![0; round % 1_400 + 1];
        for byte in &mut packet {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        // Every second one begins as an Initial packet of QUIC version 1.
        if round % 2 == 0 && packet.len() > 5 {
            packet[..5].copy_from_slice(&[0xc3, 0, 0, 0, 1]);
        }
        socket.send_to(&packet, server.address).unwrap();
    }
    fetch_bytes(server.address, 100_000);
    assert!(peak_kb(server.child.id()).unwrap() < 100_000);
}

#[test]
fn output_that_nobody_reads_stops_nobody() {
    // Fewer than the 64 KiB that a pipe holds.
    const FILLING: usize = 65_000;
    let (reader, mut filler) = std::io::pipe().unwrap();
    let child = serving("").stdout(filler.try_clone().unwrap()).spawn();
    let mut lines = BufReader::new(reader);
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let server = Serve {
        child: child.unwrap(),
        address: address(&first),
    };
    filler.write_all(&[b'\n'; FILLING]).unwrap();
    runtime().block_on(async {
        let attacker = Attacker::of(server.address, 1);
        for _ in 0..20 {
            attacker.connect().await.close(0_u32.into());
        }
    });
    for _ in 0..3 {
        fetch_bytes(server.address, 100_000);
    }
    drop(filler);
    let is_line = |line: &Result<String, _>| line.as_ref().is_ok_and(|line| !line.is_empty());
    let printed = lines.lines().filter(is_line).take(20).count();
    assert_eq!(printed, 20, "what was not read in time is there later");
}

#[test]
fn many_connections_of_an_address_share_what_one_may_take() {
    const CONNECTIONS: u64 = 60;
    let server = serve("");
    runtime().block_on(async {
        let attacker = Attacker::of(server.address, 1);
        for _ in 0..CONNECTIONS {
            attacker.keep(attacker.connect().await);
        }
        let granted = attacker.granted.bytes();
        let bound = (128 << 20) + CONNECTIONS * (256 << 10);
        assert!(granted <= bound, "{granted} bytes of flow control");
        fetch_bytes(server.address, 100_000);
    });
}

#[test]
fn a_client_with_too_many_connections_is_refused_and_told_why() {
    let server = serve("--max-connections-per-address 3");
    let refused = fetch(server.address, "--connections 5 --bytes 1kB").code(1);
    has(&refused.err, &["--max-connections-per-address"]);
    // Connections count until they have drained, three PTO after their close (RFC 9000 §10.2), which
    // is long on a busy machine; one that was not closed would stay for 10 s.
    let until = Instant::now() + Duration::from_secs(8);
    while fetch(server.address, "--bytes 100kB").code != Some(0) {
        assert!(Instant::now() < until, "still refused");
    }
}

#[test]
fn a_client_that_takes_no_reports_is_served_nevertheless() {
    let server = serve("");
    runtime().block_on(async {
        let attacker = Attacker::of(server.address, 0);
        let mut connection = attacker.connect().await;
        let stream = connection.open_bidirectional_stream().await.unwrap();
        let (mut from, mut to) = stream.split();
        to.send(download(50_000)).await.unwrap();
        to.finish().unwrap();
        let mut got = 0;
        let all = async {
            while let Some(data) = from.receive().await.unwrap() {
                got += data.len();
            }
        };
        timeout(Duration::from_secs(20), all)
            .await
            .expect("an answer");
        assert_eq!(got, 50_000);
    });
}

#[test]
fn a_hole_at_the_start_of_a_stream_holds_a_bounded_amount() {
    let server = serve("");
    runtime().block_on(async {
        let attacker = Attacker::of(server.address, 1);
        let mut pushed = 0;
        // Without a bound for an address, these are three windows of 64 MiB.
        for _ in 0..3 {
            let mut connection = attacker.connect().await;
            let stream = connection.open_bidirectional_stream().await.unwrap();
            let (_, mut to) = stream.split();
            attacker.hole.open();
            to.send(Bytes::from_static(&UPLOAD)).await.unwrap();
            let push = async {
                loop {
                    to.send(Bytes::from_static(&[0; 50_000])).await.unwrap();
                    pushed += 50_000;
                }
            };
            let _ = timeout(Duration::from_secs(2), push).await;
            attacker.keep(connection);
        }
        // And what the attacker has not sent yet.
        assert!(pushed > 0 && pushed < 140 << 20, "{pushed}");
        fetch_bytes(server.address, 100_000);
        let peak = peak_kb(server.child.id()).unwrap();
        assert!(peak < 250_000, "{peak} kB after {pushed} bytes");
    });
}
