//! Attacks on the client: whatever a server does, a transfer ends, in bounded memory, and says what
//! happened.

use std::net::UdpSocket;
use std::process::Stdio;
use std::time::Duration;

use s2n_quic::Connection;
use s2n_quic::stream::BidirectionalStream;
use serde_json::{Value, json};

use crate::peers::{answer, runtime, serve};
use crate::program::{Begun, command, has};
use crate::programs::{fetch, peak_kb, serve as honest};

/// Takes all streams of a connection.
async fn streams<F>(connection: Connection, with: impl Fn(BidirectionalStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (_handle, mut acceptor) = connection.split();
    while let Ok(Some(stream)) = acceptor.accept_bidirectional_stream().await {
        tokio::spawn(with(stream));
    }
}

/// A report of the server.
fn report(controller: &str) -> Value {
    json!({
        "controller": controller,
        "received_bytes": u64::MAX,
        "rtt_ms": { "mean": 1.0, "min": 1.0, "last": 1.0 },
        "sent_packets": u64::MAX,
        "sent_bytes": u64::MAX,
        "lost_packets": u64::MAX,
        "lost_bytes": u64::MAX,
        "cwnd_bytes": u64::MAX,
        "inflight_bytes": u64::MAX,
    })
}

/// Sends the same report again and again, and data.
async fn repeat(mut connection: Connection, line: Vec<u8>, pause: Duration) {
    let mut reports = connection.open_send_stream().await.unwrap();
    tokio::spawn(async move {
        while reports.send(line.clone().into()).await.is_ok() {
            tokio::time::sleep(pause).await;
        }
    });
    streams(connection, answer).await;
}

fn line(report: &Value) -> Vec<u8> {
    let mut line = serde_json::to_vec(report).unwrap();
    line.push(b'\n');
    line
}

#[test]
fn a_server_without_reports_does_not_keep_a_transfer_from_ending() {
    let runtime = runtime();
    let address = runtime.block_on(serve(|connection| streams(connection, answer)));
    let result = fetch(address, "--duration 1s --json").ok().json();
    assert_eq!(result["outcome"], "complete");
    assert!(result["received_bytes"].as_u64().unwrap() > 0, "{result}");
    assert_eq!(result["is_final"], false);
}

#[test]
fn a_server_that_says_nothing_at_all_is_called_silent() {
    let runtime = runtime();
    let silent = |connection| streams(connection, |_| std::future::pending());
    let address = runtime.block_on(serve(silent));
    has(&fetch(address, "--duration 1s").code(1).err, &["cut short"]);
}

#[test]
fn what_a_server_says_does_not_reach_the_terminal_as_it_is() {
    let runtime = runtime();
    let name = "\u{1b}]0;mine\u{7}\u{1b}[2J\u{9b}31m\r".to_string() + &"x".repeat(10_000);
    let said = line(&report(&name));
    let hostile = move |c| repeat(c, said.clone(), Duration::from_millis(100));
    let address = runtime.block_on(serve(hostile));
    for flags in ["", "--json"] {
        let ran = fetch(address, &format!("--bytes 100kB {flags}"));
        let shown = ran.out + &ran.err;
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!shown.contains(obeyed), "{shown:?}");
        assert!(shown.contains("mine") && shown.len() < 8_000, "{shown}");
    }
}

#[test]
fn a_flood_of_samples_that_nobody_asked_for_is_not_kept() {
    let runtime = runtime();
    let sample = json!({
        "at_us": 1, "sent_packets": 1, "sent_bytes": 1, "acked_bytes": 1, "lost_packets": 0,
        "lost_bytes": 0, "rtts": 1, "least_rtt_us": 1, "largest_rtt_us": 1, "rtt_sum_us": 1,
        "smoothed_rtt_us": 1, "inflight": 1, "cwnd": 1, "pacing": 1, "bandwidth": 1, "gain": 1.0,
        "min_rtt_us": 1, "phase": "y".repeat(200),
    });
    let mut flood = report("bbr");
    flood["samples"] = vec![sample; 100].into();
    let said = line(&flood);
    let hostile = move |c| repeat(c, said.clone(), Duration::ZERO);
    let address = runtime.block_on(serve(hostile));
    let dir = tempfile::tempdir().unwrap();
    let report = format!("--report {}", dir.path().display());
    for flags in ["", &report] {
        let mut child = command(&format!("fetch {address} --json --duration 3s {flags}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            peak = peak_kb(child.id()).unwrap_or(0).max(peak);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(peak > 0 && peak < 40_000, "{peak} kB");
    }
}

#[test]
fn a_transfer_from_a_killed_server_is_cut_short_and_says_so() {
    for way in ["", "--upload"] {
        let mut server = honest("");
        let fetch = format!("fetch {} --json --duration 3s {way}", server.address);
        let fetch = Begun::of(command(&fetch));
        std::thread::sleep(Duration::from_millis(1_500));
        server.child.kill().unwrap();
        let ran = fetch.ran().code(1);
        has(&ran.err, &["cut short"]);
        let result = ran.json();
        assert_eq!(result["outcome"], "cut_short", "{way}: {result}");
        assert!(
            result["received_bytes"].as_u64() > Some(0),
            "{way}: {result}"
        );
        // The rate is that of the time in which something came.
        assert!(result["duration_s"].as_f64() < Some(2.9), "{way}: {result}");
    }
}

#[test]
fn an_address_where_nothing_answers_is_named_with_what_to_look_at() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let said = fetch(address, "--bytes 1kB").code(1).err;
    let parts = [
        &address.to_string(),
        "nothing answers",
        "lowtide serve",
        "UDP",
    ];
    has(&said, &parts);
}
