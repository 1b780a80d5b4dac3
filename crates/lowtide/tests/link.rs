//! `lowtide link` as a user meets it. What needs a network namespace says so and is skipped where the
//! machine does not allow one.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::UdpSocket;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::CommandCargoExt as _;
use serde_json::Value;

fn lowtide(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lowtide").unwrap();
    command.args(args).timeout(Duration::from_secs(60));
    command
}

fn namespaces_work() -> bool {
    let output = lowtide(&["link", "--quiet", "--", "true"])
        .output()
        .unwrap();
    let works = output.status.success();
    if !works {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    works
}

#[test]
fn the_commands_exit_code_passes_and_it_knows_both_addresses() {
    if !namespaces_work() {
        return;
    }
    let script = "echo $LOWTIDE_LINK_LOCAL $LOWTIDE_LINK_PEER; exit 7";
    let run = lowtide(&["link", "--rate", "20mbit", "--", "sh", "-c", script]);
    let output = { run }.assert().code(7).get_output().clone();
    let seen = String::from_utf8(output.stdout).unwrap();
    let addresses: Vec<&str> = seen.split_whitespace().collect();
    let [local, peer] = addresses[..] else {
        panic!("{seen}");
    };
    assert!(
        local.starts_with("198.18.") && local.ends_with(".2"),
        "{local}"
    );
    assert!(
        peer.starts_with("198.18.") && peer.ends_with(".1"),
        "{peer}"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("constant 20 Mbit/s") && said.contains(" down "),
        "{said}"
    );

    lowtide(&["link", "--", "sh", "-c", "kill -9 $$"])
        .assert()
        .code(137);
}

#[test]
fn the_peer_is_ended_with_the_command_and_its_output_is_kept_apart() {
    if !namespaces_work() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("id");
    let peer = format!(
        "echo from the peer; echo $$ > {}; sleep 1000; :",
        mark.display()
    );
    let wait = format!("until [ -s {} ]; do sleep 0.05; done", mark.display());
    let args = ["link", "--peer", &peer, "--", "sh", "-c", &wait];
    let output = lowtide(&args).assert().success().get_output().clone();
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("from the peer"));
    let id = fs::read_to_string(&mark).unwrap();
    let gone = !std::path::Path::new("/proc").join(id.trim()).exists();
    assert!(gone, "the peer {id} still runs");
}

/// How many processes are in the network namespaces of these names.
fn processes_in(namespaces: &[&str]) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let is_in = |entry: &fs::DirEntry| {
        let namespace = fs::read_link(entry.path().join("ns/net"));
        namespace.is_ok_and(|n| namespaces.contains(&n.to_str().unwrap()))
    };
    all.filter(is_in).count()
}

#[test]
fn what_runs_behind_a_link_that_is_killed_is_gone_with_it() {
    if !namespaces_work() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mark = |name: &str| dir.path().join(name).display().to_string();
    // Each end has a process of its own, and one that has left it for good.
    let script = |name: &str| {
        let wait = "setsid sleep 1000 & readlink /proc/self/ns/net";
        format!(
            "{wait} > {0}.part; mv {0}.part {0}; sleep 1000; :",
            mark(name)
        )
    };
    let mut child = Process::cargo_bin("lowtide")
        .unwrap()
        .args([
            "link",
            "--peer",
            &script("far"),
            "--",
            "sh",
            "-c",
            &script("near"),
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let namespace = |name: &str| fs::read_to_string(mark(name)).unwrap_or_default();
    while namespace("near").is_empty() || namespace("far").is_empty() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(20));
    }
    let (near, far) = (namespace("near"), namespace("far"));
    let namespaces = [near.trim(), far.trim()];
    assert_ne!(near, far);
    // Two programs and a guard in each.
    assert!(processes_in(&namespaces) >= 6);
    child.kill().unwrap();
    child.wait().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while processes_in(&namespaces) > 0 {
        assert!(Instant::now() < end, "{} remain", processes_in(&namespaces));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_guard_does_nothing_outside_of_its_namespace() {
    let refused = lowtide(&["link-guard", "net:[1]"]).assert().code(2);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).to_string();
    assert!(said.contains("lowtide link"), "{said}");
}

#[test]
fn a_signal_ends_the_command_and_the_summary_is_still_printed() {
    if !namespaces_work() {
        return;
    }
    let mut command = Process::cargo_bin("lowtide").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (mark, json) = (dir.path().join("up"), dir.path().join("summary.json"));
    let script = format!("touch {}; exec sleep 1000", mark.display());
    let json_flag = format!("--json={}", json.display());
    let mut child = command
        .args(["link", &json_flag, "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !mark.exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = child.id().to_string();
    Process::new("kill").args(["-TERM", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    let summary: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert!(summary["duration_s"].as_f64().unwrap() > 0.0);
    assert!(summary["faithful"].is_boolean() && summary["up"]["offered_packets"].is_u64());
}

#[test]
fn the_udp_relay_needs_no_privileges_and_prints_json() {
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = service.local_addr().unwrap();
    let free = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let between = format!("{free},{target}");
    let args = [
        "link",
        "--rate",
        "10mbit",
        "--json",
        "--duration",
        "2s",
        "--udp",
        &between,
    ];
    let client = std::thread::spawn(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(free).unwrap();
        // Until the relay is there, and no longer than it is.
        for _ in 0..100 {
            let _ = socket.send(&[1; 972]);
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let output = lowtide(&args)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    client.join().unwrap();
    let summary: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(summary["link"], "constant 10 Mbit/s");
    let up = &summary["up"];
    let packets = up["delivered_packets"].as_u64().unwrap();
    assert!(
        packets > 0 && up["delivered_bytes"].as_u64() == Some(packets * 1000),
        "{up}"
    );
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    let refused = |args: &[&str], part: &str| {
        let output = lowtide(args).assert().code(2).get_output().stderr.clone();
        let said = String::from_utf8(output).unwrap();
        assert!(said.contains(part), "{args:?}: no {part:?} in {said:?}");
    };
    refused(&["link", "--udp", "127.0.0.1:5000"], "LISTEN,TARGET");
    refused(
        &["link", "--udp", "localhost:1,127.0.0.1:2"],
        "no address with a port",
    );
    refused(
        &["link", "--udp", "127.0.0.1:1,127.0.0.1:2", "--", "true"],
        "cannot be used with",
    );
    refused(
        &["link", "--duration", "1s", "--", "true"],
        "cannot be used with",
    );
    refused(&["link", "--duration", "1s"], "--udp");
    refused(
        &["link", "--trace", "/nonexistent", "--", "true"],
        "/nonexistent",
    );
    refused(&["link", "--mtu", "10", "--", "true"], "--mtu");
    if namespaces_work() {
        refused(
            &["link", "--", "no-such-command"],
            "no command 'no-such-command'",
        );
        refused(&["link", "--", "/etc/passwd"], "not executable");
    }
}
