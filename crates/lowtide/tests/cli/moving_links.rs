//! Links that move, are limited both ways and are shared with traffic that does not answer, as a user
//! meets them.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

fn run_in(folder: &Path, command: &str) -> Command {
    let mut run = Command::cargo_bin("lowtide").unwrap();
    run.current_dir(folder).args(command.split_whitespace());
    run
}

fn json(folder: &Path, command: &str) -> Value {
    let output = run_in(folder, command)
        .assert()
        .success()
        .get_output()
        .clone();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(folder: &Path, command: &str, parts: &[&str]) {
    let output = run_in(folder, command)
        .assert()
        .code(2)
        .get_output()
        .clone();
    let said = String::from_utf8(output.stderr).unwrap();
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}

/// A value of a comparison's entry.
fn value(compared: &Value, controller: &str, metric: &str) -> f64 {
    let results = compared["results"].as_array().unwrap();
    let entry = results.iter().find(|r| r["controller"] == controller);
    let pointer = format!("/{}", metric.replace('.', "/"));
    let found = entry.and_then(|entry| entry.pointer(&pointer));
    found.and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// 20 ms, from 5 to 10 s 40 ms, and so on.
const RISES: &str = "time_ms,delay_ms\n0,20\n5000,40\n10000,20\n15000,20\n";

#[test]
fn a_moving_base_delay_is_in_the_rtt_and_not_in_the_queueing_delay() {
    let folder = folder_with("rises.csv", RISES);
    let common = "compare --cc bbr --rate 20mbit --rtt 40ms --duration 15s --json";
    let steady = json(folder.path(), common);
    let moving = json(folder.path(), &format!("{common} --delay-trace rises.csv"));
    let of = |compared: &Value, metric: &str| value(compared, "oracle", metric);
    // The limit queues nothing: what moves is its RTT alone.
    let higher = of(&moving, "rtt_ms.p95") - of(&steady, "rtt_ms.p95");
    assert!((19.0..21.0).contains(&higher), "{higher}");
    for metric in ["queue_delay_ms.p99", "self_inflicted_ms.p95"] {
        let (moving, steady) = (of(&moving, metric), of(&steady, metric));
        assert!(moving - steady < 0.1, "{metric}: {moving} {steady}");
    }
    // The same in a scenario file.
    let scenario = "link = { rate = \"20mbit\" }\nrun = { duration = \"15s\" }\n\
                    path = { rtt = \"40ms\", delay_trace = \"rises.csv\" }\n\
                    flows = [{ controller = \"bbr\" }]\n";
    fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let run = json(folder.path(), "run s.toml --json");
    assert_eq!(
        run["results"][0]["rtt_ms"]["p95"].as_f64(),
        Some(value(&moving, "bbr", "rtt_ms.p95"))
    );
}

#[test]
fn packets_keep_their_order_over_a_shorter_delay_unless_asked() {
    let folder = folder_with("falls.csv", "time_ms,delay_ms\n0,60\n1000,10\n2000,60\n");
    let common = "compare --cc bbr --rate 20mbit --duration 9s --json --delay-trace falls.csv";
    let resent = |more: &str| {
        let compared = json(folder.path(), &format!("{common} {more}"));
        value(&compared, "bbr", "retransmitted_share")
    };
    let (kept, free) = (resent(" --buffer inf"), resent("--buffer inf --reorder"));
    assert!(kept == 0.0 && free > 0.0, "{kept} {free}");
}

#[test]
fn a_delay_file_that_is_none_is_refused_with_place_and_remedy() {
    let folder = folder_with("d.csv", "time_ms,delay_ms\n0,20\n5,x\n");
    let compare = "compare --rate 20mbit --delay-trace d.csv";
    let parts = ["--delay-trace: d.csv: line 3: 'x' is no delay_ms from 0 to 100000"];
    refused(folder.path(), compare, &parts);
    let scenario = "link = { rate = \"5mbit\" }\nflows = [{}]\n[path]\ndelay_trace = \"d.csv\"\n";
    fs::write(folder.path().join("s.toml"), scenario).unwrap();
    refused(
        folder.path(),
        "run s.toml",
        &["s.toml:4:1: path.delay_trace", "line 3"],
    );
    fs::write(folder.path().join("r.csv"), "time_ms,rate_mbps\n0,20\n").unwrap();
    let parts = ["names no unit: write one of delay_s", "is a link's trace"];
    refused(
        folder.path(),
        "link --rate 20mbit --delay-trace r.csv",
        &parts,
    );
}

#[test]
fn the_handover_experiment_runs() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments/handover.toml");
    let folder = tempdir().unwrap();
    let mut run = run_in(folder.path(), "run --json --vary flows.controller=ebb");
    let output = run.arg(file).assert().success().get_output().clone();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["results"].as_array().unwrap().len(), 3);
}

#[test]
fn an_upload_shares_both_ways_with_a_download_and_is_measured_apart() {
    let folder = tempdir().unwrap();
    let common = "compare --cc bbr --rate 20mbit --reverse-rate 4mbit --duration 20s --json";
    let alone = json(folder.path(), common);
    let with = |upload: &str| {
        let command = format!("{common} --reverse-buffer 100p --reverse-cc {upload}");
        json(folder.path(), &command)
    };
    let of = |compared: &Value, metric: &str| value(compared, "bbr", metric);
    // 100 packets take 300 ms on the way back, where acknowledgments wait behind them.
    let (mild, full) = (with("ebb"), with("cubic:hystart=false"));
    let rtts = [&alone, &mild, &full].map(|run| of(run, "rtt_ms.p50"));
    assert!(
        rtts[0] < rtts[1] && rtts[1] < rtts[2] && rtts[2] > 200.0,
        "{rtts:?}"
    );
    // The upload's own throughput is not the download's.
    assert!(of(&full, "throughput_mbps") <= 20.0);
    let flows = full["results"][1]["flows"].as_array().unwrap();
    let upload = flows[1]["throughput_mbps"].as_f64().unwrap();
    assert!((3.0..4.0).contains(&upload), "{upload}");
    // The limit makes room for the upload's acknowledgments.
    let waits = value(&full, "oracle", "queue_delay_ms.p95");
    assert!(waits < 20.0, "{waits}");
}

#[test]
fn a_scenario_file_and_flags_mean_the_same_upload() {
    let scenario = "link = { rate = \"20mbit\" }\nreverse = { rate = \"4mbit\" }\n\
                    run = { duration = \"5s\" }\n[[flows]]\ncontroller = \"bbr\"\n\
                    [[flows]]\ncontroller = \"cubic\"\ndirection = \"reverse\"\n";
    let folder = folder_with("s.toml", scenario);
    let run = json(folder.path(), "run s.toml --json");
    let command = "compare --cc bbr --rate 20mbit --reverse-rate 4mbit --reverse-cc cubic --duration 5s --json";
    let compared = json(folder.path(), command);
    for metric in ["throughput_mbps", "rtt_ms.p95"] {
        let pointer = format!("/results/0/{}", metric.replace('.', "/"));
        let run = run.pointer(&pointer).and_then(Value::as_f64);
        assert_eq!(run, Some(value(&compared, "bbr", metric)), "{metric}");
    }
    let lonely = scenario.replace("reverse = { rate = \"4mbit\" }\n", "");
    fs::write(folder.path().join("s.toml"), lonely).unwrap();
    let parts = [
        "s.toml:",
        "flows.1.direction",
        "no limit on the way back",
        "(see reverse)",
    ];
    refused(folder.path(), "run s.toml", &parts);
    let nobody = "compare --rate 5mbit --reverse-rate 1mbit --reverse-cc nobody";
    let parts = ["--reverse-cc: there is no controller 'nobody'"];
    refused(folder.path(), nobody, &parts);
}

#[test]
fn cross_traffic_takes_its_part_of_the_link_and_the_same_seed_brings_the_same() {
    let arrivals: String = (0..5_000).map(|n| format!("{},1500\n", n * 2)).collect();
    let folder = folder_with("others.csv", &format!("time_ms,bytes\n{arrivals}"));
    let common = "compare --cc cubic:hystart=false --rate 20mbit --duration 10s --json --no-timing";
    let rate = |cross: &str| {
        let compared = json(folder.path(), &format!("{common} {cross}"));
        value(&compared, "cubic:hystart=false", "throughput_mbps")
    };
    let alone = rate("");
    // 1500 bytes each 2 ms are 6 Mbit/s, half of the time at 12 Mbit/s as well.
    for cross in ["cbr:6mbit", "onoff:12mbit:1s:1s", "file:others.csv"] {
        let left = rate(&format!("--cross {cross}"));
        assert!(
            (12.0..14.2).contains(&left) && alone > 19.0,
            "{cross}: {left} {alone}"
        );
    }
    let both = rate("--cross cbr:6mbit --cross file:others.csv");
    assert!((6.0..8.2).contains(&both), "{both}");
    let web = |seed: u64| {
        let command = format!("{common} --cross web:30% --seed {seed}");
        json(folder.path(), &command)
    };
    let (first, again, other) = (web(1), web(1), web(2));
    assert!(first == again && first != other);
    let left = value(&first, "cubic:hystart=false", "throughput_mbps");
    assert!((8.0..18.0).contains(&left), "{left}");
}

#[test]
fn cross_traffic_that_is_none_is_refused_with_place_and_remedy() {
    let folder = folder_with("others.csv", "time_ms,bytes\n5,1500\n4,1500\n");
    let parts = ["--cross: ", "'cbr' is no cross traffic; write cbr:5mbit"];
    refused(folder.path(), "compare --rate 5mbit --cross cbr", &parts);
    let off = "compare --rate 5mbit --cross onoff:1mbit:0s:1s";
    refused(
        folder.path(),
        off,
        &["--cross: '0s' is too small for a time; write cbr:5mbit"],
    );
    let parts = ["--cross: others.csv: line 3: time '4' is earlier than"];
    refused(
        folder.path(),
        "compare --rate 5mbit --cross file:others.csv",
        &parts,
    );
    let parts = [
        "--cross: ",
        "short flows; a run has at most 10000 flows",
        "lower load",
    ];
    refused(
        folder.path(),
        "compare --rate 9gbit --cross web:90%",
        &parts,
    );
    let parts = ["--cross: web traffic has hosts of its own"];
    refused(
        folder.path(),
        "link --rate 5mbit --cross web:5% -- true",
        &parts,
    );
    let parts = ["--reverse-trace or --reverse-rate", "needs exactly one of"];
    refused(
        folder.path(),
        "compare --rate 5mbit --reverse-cross cbr:1mbit",
        &parts,
    );
}

#[test]
fn what_others_recorded_becomes_a_link_or_its_delay() {
    let folder = folder_with("delay_1.txt", "20\n20\n60\n20\n");
    let pairs: String = (0..10)
        .map(|n| format!("{n}\t{}\n", 4 + n % 2 * 4))
        .collect();
    fs::write(folder.path().join("pairs.txt"), pairs).unwrap();
    let ok = |command: &str| {
        let output = run_in(folder.path(), command)
            .assert()
            .success()
            .get_output()
            .clone();
        String::from_utf8(output.stdout).unwrap()
    };
    let delays = ok("trace convert delay_1.txt --from leoreplayer-delay --to csv -o d.csv");
    assert_eq!(delays, "");
    let converted = fs::read_to_string(folder.path().join("d.csv")).unwrap();
    assert_eq!(converted, "time_ms,delay_ms\n0,20\n10,20\n20,60\n30,20\n");
    ok("trace convert pairs.txt --from pairs --to csv --interval 1s -o link.csv");
    let compare = "compare --trace link.csv --delay-trace d.csv --cc bbr --json";
    let compared = json(folder.path(), compare);
    let used = value(&compared, "oracle", "throughput_mbps");
    assert!((5.9..6.1).contains(&used), "{used}");
    let parts = ["pairs.txt: line 1: ", "is no JSON"];
    refused(
        folder.path(),
        "trace convert pairs.txt --from iperf3 --to csv",
        &parts,
    );
    let command = "trace convert delay_1.txt --from leoreplayer-delay --to mahimahi";
    refused(
        folder.path(),
        command,
        &["delays are no opportunities: write --to csv"],
    );
    let command = "trace convert pairs.txt --from pairs --to csv --uplink";
    refused(
        folder.path(),
        command,
        &["--uplink goes with --from gnettrack only"],
    );
}
