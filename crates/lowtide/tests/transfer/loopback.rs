//! `lowtide serve` and `lowtide fetch` over the loopback interface.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::programs::{self, Serve, program, serve};

/// Serves one client.
fn one_off(cc: &str) -> Serve {
    serve(&["--cc", cc, "--one-off"])
}

fn fetch(server: &Serve, args: &[&str]) -> Value {
    let output = programs::fetch(server.address, &[&["--json"], args].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_download_for_a_time_shows_its_seconds_and_its_sender() {
    let server = one_off("bbr");
    let result = fetch(&server, &["--duration", "2500ms"]);
    assert_eq!(result["direction"], "download");
    assert_eq!(result["outcome"], "complete");
    assert_eq!(result["controller"], "bbr");
    assert!(result["received_bytes"].as_u64().unwrap() > 1_000_000);
    let intervals = result["intervals"].as_array().unwrap();
    assert!(intervals.len() >= 2, "{result}");
    let received = |i: &Value| i["received_bytes"].as_u64().unwrap();
    let sum: u64 = intervals.iter().map(received).sum();
    assert_eq!(result["received_bytes"], sum);
    assert!(
        result["throughput_mbps"].as_f64().unwrap() > 0.0,
        "{result}"
    );
    assert!(result["rtt_ms"]["mean"].as_f64().unwrap() > 0.0, "{result}");
    assert!(result["cwnd_bytes"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn the_last_counters_are_those_of_the_whole_transfer() {
    let server = one_off("bbr");
    let result = fetch(&server, &["--bytes", "20MB"]);
    assert_eq!(result["is_final"], true, "{result}");
    // No packet has more than 1500 bytes.
    let sent = result["sent_packets"].as_u64().unwrap();
    assert!(sent > 20_000_000 / 1_500, "{result}");
    let sent = result["sent_bytes"].as_u64().unwrap();
    assert!(sent > 20_000_000, "{result}");
}

#[test]
fn reports_of_rbbrs_receiver_are_counted() {
    let reports = |cc| {
        let result = fetch(&one_off(cc), &["--duration", "2s"]);
        result["feedback"]["reports"].as_u64()
    };
    assert!(reports("rbbr") > Some(0));
    assert_eq!(reports("cubic"), None, "nobody reports");
}

#[test]
fn a_client_may_ask_for_a_controller_that_the_server_allows() {
    let server = serve(&["--cc", "bbr", "--allow-cc", "copa,cubic"]);
    let result = fetch(&server, &["--bytes", "1MB", "--cc", "cubic:hystart=true"]);
    assert_eq!(result["controller"], "cubic:hystart=true");
    let result = fetch(&server, &["--bytes", "1MB"]);
    assert_eq!(result["controller"], "bbr", "of those that do not ask");
    for (allowed, said) in [(&["--allow-cc", "copa"][..], "copa"), (&[], "--allow-cc")] {
        let server = serve(allowed);
        let output = program()
            .args([
                "fetch",
                &server.address.to_string(),
                "--bytes",
                "1MB",
                "--cc",
                "vegas",
            ])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("--cc vegas") && stderr.contains(said),
            "{stderr}"
        );
    }
}

#[test]
fn ebb_sends_either_way_unless_another_controller_is_named() {
    let server = serve(&["--allow-cc", "ebb"]);
    for (args, controller) in [
        (&["--bytes", "1MB"][..], "ebb"),
        (&["--bytes", "1MB", "--upload"], "ebb"),
        (&["--bytes", "1MB", "--cc", "ebb:idle=0.1"], "ebb:idle=0.1"),
    ] {
        let result = fetch(&server, args);
        assert_eq!(result["outcome"], "complete", "{result}");
        assert_eq!(result["controller"], controller, "{result}");
    }
}

#[test]
fn json_goes_into_a_file_and_text_stays_on_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("result.json");
    let server = one_off("bbr");
    let output = program()
        .args(["fetch", &server.address.to_string(), "--bytes", "1MB"])
        .arg(format!("--json={}", file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("download of 1.0 MB"), "{text}");
    let result: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(result["schema"], 1);
    assert_eq!(result["received_bytes"], 1_000_000);
}

#[test]
fn a_download_of_a_size_brings_just_that_on_each_stream() {
    let server = one_off("rbbr");
    let result = fetch(&server, &["--bytes", "3MB", "--streams", "2"]);
    assert_eq!(result["received_bytes"], 6_000_000);
}

#[test]
fn an_upload_is_counted_by_the_server() {
    let server = one_off("rbbr");
    let result = fetch(
        &server,
        &["--duration", "2500ms", "--upload", "--cc", "copa"],
    );
    assert_eq!(result["direction"], "upload");
    assert_eq!(result["controller"], "copa");
    assert!(
        result["received_bytes"].as_u64().unwrap() > 100_000,
        "{result}"
    );

    let server = one_off("rbbr");
    let result = fetch(&server, &["--bytes", "2MB", "--upload"]);
    assert_eq!(
        result["received_bytes"], 2_000_000,
        "all of it is waited for"
    );
}

#[test]
fn both_ways_leave_a_report_and_a_qlog_of_each_connections_sender() {
    for (way, cc) in [(&[][..], "bbr"), (&["--upload", "--cc", "copa"], "copa")] {
        let dir = tempfile::tempdir().unwrap();
        let (qlog, report) = (dir.path().join("qlog"), dir.path().join("report"));
        let server = one_off("bbr");
        let mut args = vec!["--duration", "1500ms", "--streams", "2"];
        args.extend(way);
        args.extend([
            "--qlog",
            qlog.to_str().unwrap(),
            "--report",
            report.to_str().unwrap(),
        ]);
        let result = fetch(&server, &args);
        assert!(
            result["received_bytes"].as_u64().unwrap() > 100_000,
            "{result}"
        );
        let html = std::fs::read_to_string(report.join("index.html")).unwrap();
        assert!(html.contains(&format!("\"name\":\"{cc}\"")), "{way:?}");
        let log = std::fs::read_to_string(qlog.join("connection-1.sqlog")).unwrap();
        let events: Vec<Value> = log
            .split('\u{1e}')
            .skip(1)
            .map(|record| serde_json::from_str(record).unwrap())
            .collect();
        assert_eq!(events[0]["trace"]["vantage_point"]["name"], cc);
        let times: Vec<f64> = events[1..]
            .iter()
            .map(|e| e["time"].as_f64().unwrap())
            .collect();
        assert!(
            times.is_sorted() && *times.last().unwrap() > 1_000.0,
            "{way:?}"
        );
        let metrics = &events[1]["data"];
        assert!(
            metrics["congestion_window"].as_u64().unwrap() > 0,
            "{metrics}"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_transfer_keeps_what_it_has_and_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let server = one_off("bbr");
    let child = program()
        .args([
            "fetch",
            &server.address.to_string(),
            "--json",
            "--duration",
            "60s",
            "--report",
        ])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["outcome"], "interrupted");
    assert!(
        result["received_bytes"].as_u64().unwrap() > 100_000,
        "{result}"
    );
    assert!(dir.path().join("index.html").exists());
}

#[test]
fn what_cannot_work_is_said_with_the_part_in_question() {
    let refused = |args: &[&str], code: i32, part: &str| {
        let output = program().args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(
            stderr.contains(part) && !stderr.contains("panicked"),
            "{stderr}"
        );
    };
    refused(&["fetch", "nowhere:x:y"], 2, "nowhere:x:y");
    refused(
        &["fetch", "127.0.0.1:9", "--cc", "bbbr"],
        2,
        "did you mean 'bbr'",
    );
    refused(
        &["fetch", "127.0.0.1:9", "--ca", "/no/such/file"],
        2,
        "/no/such/file",
    );
    refused(&["serve", "--listen", "192.0.2.1:0"], 1, "192.0.2.1");
}
