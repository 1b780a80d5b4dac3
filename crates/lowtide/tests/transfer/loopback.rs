//! `lowtide serve` and `lowtide fetch` over the loopback interface.

use serde_json::Value;

use crate::program::{Folder, has, lowtide, number};
use crate::programs::{self, Serve, serve};

/// Serves one client.
fn one_off(cc: &str) -> Serve {
    serve(&format!("--cc {cc} --one-off"))
}

fn fetch(server: &Serve, flags: &str) -> Value {
    let flags = format!("--json {flags}");
    programs::fetch(server.address, &flags).ok().json()
}

#[track_caller]
fn above(least: f64, result: &Value, metric: &str) {
    assert!(number(result, metric) > least, "{metric} in {result}");
}

#[test]
fn a_download_for_a_time_shows_its_seconds_and_its_sender() {
    let server = one_off("bbr");
    let result = fetch(&server, "--duration 2500ms");
    assert_eq!(result["direction"], "download");
    assert_eq!(result["outcome"], "complete");
    assert_eq!(result["controller"], "bbr");
    above(1e6, &result, "received_bytes");
    let intervals = result["intervals"].as_array().unwrap();
    assert!(intervals.len() >= 2, "{result}");
    let received = |i: &Value| i["received_bytes"].as_u64().unwrap();
    let sum: u64 = intervals.iter().map(received).sum();
    assert_eq!(result["received_bytes"], sum);
    for positive in ["throughput_mbps", "rtt_ms.mean", "cwnd_bytes"] {
        above(0.0, &result, positive);
    }
}

#[test]
fn the_last_counters_are_those_of_the_whole_transfer() {
    let server = one_off("bbr");
    let result = fetch(&server, "--bytes 20MB");
    assert_eq!(result["is_final"], true, "{result}");
    // No packet has more than 1500 bytes.
    above(20e6 / 1500.0, &result, "sent_packets");
    above(20e6, &result, "sent_bytes");
}

#[test]
fn reports_of_rbbrs_receiver_are_counted() {
    let reports = |cc| {
        let result = fetch(&one_off(cc), "--duration 2s");
        result["feedback"]["reports"].as_u64()
    };
    // At gigabits on a busy machine the sender's counters may not come in time: another transfer is judged then.
    let seen = (0..5).find_map(|_| reports("rbbr"));
    assert!(seen > Some(0), "{seen:?}");
    assert_eq!(reports("cubic"), None, "nobody reports");
}

#[test]
fn each_side_gets_the_bytes_and_the_controller_that_were_asked_for() {
    let choosing = "--cc bbr --allow-cc copa,cubic";
    for (served, asked, controller, bytes) in [
        (choosing, "--bytes 1MB", "bbr", 1_000_000),
        (
            choosing,
            "--bytes 1MB --cc cubic:hystart=true",
            "cubic:hystart=true",
            1_000_000,
        ),
        // Who names none sends by ebb, either way.
        ("--allow-cc ebb", "--bytes 1MB", "ebb", 1_000_000),
        (
            "--allow-cc ebb",
            "--bytes 1MB --cc ebb:idle=0.1",
            "ebb:idle=0.1",
            1_000_000,
        ),
        ("--allow-cc ebb", "--bytes 1MB --upload", "ebb", 1_000_000),
        ("--cc rbbr", "--bytes 3MB --streams 2", "rbbr", 6_000_000),
        // All of it is waited for.
        (
            "--cc rbbr",
            "--bytes 2MB --upload --cc copa",
            "copa",
            2_000_000,
        ),
    ] {
        let result = fetch(&serve(served), asked);
        assert_eq!(result["outcome"], "complete", "{result}");
        assert_eq!(result["controller"], controller, "{result}");
        assert_eq!(result["received_bytes"], bytes, "{result}");
    }
    for (allowed, said) in [("--allow-cc copa", "copa"), ("", "--allow-cc")] {
        let server = serve(allowed);
        let ran = programs::fetch(server.address, "--bytes 1MB --cc vegas").code(1);
        has(&ran.err, &["--cc vegas", said]);
    }
}

#[test]
fn json_goes_into_a_file_and_text_stays_on_the_terminal() {
    let folder = Folder::new();
    let server = one_off("bbr");
    let fetch = format!("fetch {} --bytes 1MB --json=result.json", server.address);
    has(&folder.ok(&fetch).out, &["download of 1.0 MB"]);
    let result = folder.json("result.json");
    assert_eq!(result["schema"], 1);
    assert_eq!(result["received_bytes"], 1_000_000);
}

#[test]
fn an_upload_is_counted_by_the_server() {
    let server = one_off("rbbr");
    let result = fetch(&server, "--duration 2500ms --upload --cc copa");
    assert_eq!(result["direction"], "upload");
    assert_eq!(result["controller"], "copa");
    above(1e5, &result, "received_bytes");
}

#[test]
fn both_ways_leave_a_report_and_a_qlog_of_each_connections_sender() {
    for (way, cc) in [("", "bbr"), ("--upload --cc copa", "copa")] {
        let folder = Folder::new();
        let server = one_off("bbr");
        let files = "--qlog qlog --report report";
        let flags = format!("--json --duration 1500ms --streams 2 {way} {files}");
        let result = folder.run(&format!("fetch {} {flags}", server.address));
        above(1e5, &result.ok().json(), "received_bytes");
        has(
            &folder.read("report/index.html"),
            &[&format!("\"name\":\"{cc}\"")],
        );
        let log = folder.read("qlog/connection-1.sqlog");
        let records = log.split('\u{1e}').skip(1);
        let events: Vec<Value> = records.map(|r| serde_json::from_str(r).unwrap()).collect();
        assert_eq!(events[0]["trace"]["vantage_point"]["name"], cc);
        let times = events[1..].iter().map(|e| e["time"].as_f64().unwrap());
        let times: Vec<f64> = times.collect();
        assert!(times.is_sorted() && times.last() > Some(&1_000.0), "{way}");
        above(0.0, &events[1], "data.congestion_window");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_transfer_keeps_what_it_has_and_is_marked() {
    let folder = Folder::new();
    let server = one_off("bbr");
    let fetch = format!("fetch {} --json --duration 60s --report .", server.address);
    let mut fetch = folder.begin(&fetch);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    fetch.signal("INT");
    let ran = fetch.ran().code(130);
    has(&ran.err, &["interrupted"]);
    let result = ran.json();
    assert_eq!(result["outcome"], "interrupted");
    above(1e5, &result, "received_bytes");
    assert!(folder.at("index.html").exists());
}

#[test]
fn what_cannot_work_is_said_with_the_part_in_question() {
    let rows = "
        nowhere:x:y                       => nowhere:x:y
        127.0.0.1:9 --cc bbbr             => did you mean 'bbr'
        127.0.0.1:9 --ca /no/such/file    => /no/such/file
        ";
    Folder::new().refuses("fetch", rows);
    let ran = lowtide("serve --listen 192.0.2.1:0").code(1);
    has(&ran.err, &["192.0.2.1"]);
}
