//! `lowtide record` and the server that answers it, as a user meets them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};

use assert_cmd::cargo::CommandCargoExt as _;
use serde_json::Value;

use crate::{lowtide, namespaces_work};

/// A server of recorders, ended with the test.
struct Server(Child, String);

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut command = Process::cargo_bin("lowtide").unwrap();
        command.args(["serve", "--record=127.0.0.1:0", "--only"]);
        let mut child = command.args(args).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        let address = line
            .split_whitespace()
            .find(|word| word.contains("127.0.0.1:"));
        Self(
            child,
            address.unwrap_or_else(|| panic!("{line}")).to_string(),
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_link_is_recorded_and_its_files_are_traces() {
    if !namespaces_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = assert_cmd::cargo::cargo_bin("lowtide");
    let program = program.to_str().unwrap();
    let name = folder.path().join("home");
    let peer = format!("{program} serve --record --only");
    let near = format!(
        "{program} record $LOWTIDE_LINK_PEER --duration 2s --max-rate 50mbit --packets -o {}",
        name.display()
    );
    let link = [
        "link", "--rate", "10mbit", "--rtt", "40ms", "--buffer", "inf",
    ];
    let mut run = lowtide(&link);
    run.args(["--peer", &peer, "--", "sh", "-c", &near])
        .assert()
        .success();
    let how = json(&folder.path().join("home.json"));
    let mean = how["down"]["mean_mbps"].as_f64().unwrap();
    // More than the link carries nobody can see; less on a busy machine.
    assert!((0.5..=10.5).contains(&mean), "{mean}");
    let rtt = how["base_rtt_ms"].as_f64().unwrap();
    assert!(rtt >= 40.0, "{rtt}");
    let file = |end: &str| {
        folder
            .path()
            .join(format!("home.{end}"))
            .display()
            .to_string()
    };
    for trace in [file("down"), file("down.csv")] {
        lowtide(&["trace", "info", &trace]).assert().success();
    }
    let (down, delay) = (file("down"), file("down.delay.csv"));
    lowtide(&[
        "compare",
        "--trace",
        &down,
        "--delay-trace",
        &delay,
        "--duration",
        "1s",
    ])
    .assert()
    .success();
    let plain = lowtide(&["trace", "convert", &down, "--to", "mahimahi"]);
    let plain = { plain }.assert().success().get_output().stdout.clone();
    assert!(!plain.contains(&b'#'));
    assert!(
        fs::read_to_string(file("down.packets.csv"))
            .unwrap()
            .starts_with("time_us,")
    );
}

#[test]
fn a_server_with_a_secret_records_for_those_who_know_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let secret = file("secret", "what both ends know\n");
    let other = file("other", "what one end believes\n");
    let name = folder.path().join("x").display().to_string();
    let server = Server::start(&["--token-file", &secret]);
    let record = |extra: &[&str]| {
        let mut command = lowtide(&[
            "record",
            &server.1,
            "-o",
            &name,
            "--up",
            "--max-rate",
            "1mbit",
        ]);
        command.args(["--duration", "1s"]).args(extra).assert()
    };
    for wrong in [&[][..], &["--token-file", &other]] {
        let said = record(wrong).code(2).get_output().stderr.clone();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("--token-file"), "{said}");
    }
    assert!(!folder.path().join("x.json").exists());
    record(&["--token-file", &secret]).success();
    assert!(json(&folder.path().join("x.json"))["up"]["received_packets"].as_u64() > Some(10));
    let short = file("short", "short\n");
    let said = record(&["--token-file", &short])
        .code(2)
        .get_output()
        .stderr
        .clone();
    assert!(String::from_utf8(said).unwrap().contains("16 characters"));
}

#[test]
fn what_may_cost_much_wants_a_yes_and_what_cannot_be_written_is_said_first() {
    let much = [
        "record",
        "127.0.0.1:9",
        "-o",
        "x",
        "--max-volume",
        "9GB",
        "--duration",
        "10min",
    ];
    let said = lowtide(&much).assert().code(2).get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("--yes") && said.contains("MB"), "{said}");
    let nowhere = ["record", "127.0.0.1:9", "-o", "/proc/nowhere/x"];
    let said = lowtide(&nowhere)
        .assert()
        .code(2)
        .get_output()
        .stderr
        .clone();
    assert!(
        String::from_utf8(said)
            .unwrap()
            .contains("/proc/nowhere/x.json")
    );
}
