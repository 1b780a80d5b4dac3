//! `lowtide link` as a user meets it. What needs a network namespace says so and is skipped where the
//! machine does not allow one.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt as _;
use serde_json::Value;

use crate::{lowtide, namespaces_work};

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
    let free = free_address();
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
    let client = Client::of(free);
    let output = lowtide(&args)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    drop(client);
    let summary: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(summary["link"], "constant 10 Mbit/s");
    let up = &summary["up"];
    let packets = up["delivered_packets"].as_u64().unwrap();
    assert!(
        packets > 0 && up["delivered_bytes"].as_u64() == Some(packets * 1000),
        "{up}"
    );
}

/// Fetches from a server that sends by `cc` through a relay whose queue marks: what the server says of its
/// connection when it is closed, and what the link says of itself.
#[cfg(feature = "quic")]
fn fetched_through(queue: &str, cc: &str) -> (Value, Value) {
    let program = || Process::cargo_bin("lowtide").unwrap();
    let mut server = program()
        .args(["serve", "--listen", "127.0.0.1:0", "--one-off", "--json"])
        .args(["--cc", cc])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let target = next()["address"].as_str().unwrap().to_string();
    let relay = free_address();
    let mut link = program()
        .args([
            "link", "--rate", "20mbit", "--rtt", "20ms", "--queue", queue,
        ])
        .args(["--json", "--udp", &format!("{relay},{target}")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let fetched = lowtide(&["fetch", &relay.to_string(), "--bytes", "5MB", "--json"]).output();
    let closed = loop {
        let line = next();
        if line["event"] == "closed" {
            break line;
        }
    };
    let id = link.id().to_string();
    Process::new("kill").args(["-INT", &id]).status().unwrap();
    let summary = serde_json::from_reader(link.stdout.take().unwrap()).unwrap();
    link.wait().unwrap();
    server.wait().unwrap();
    let fetched = fetched.unwrap();
    assert!(fetched.status.success(), "{fetched:?}");
    (closed, summary)
}

/// Real sockets: the link marks what the sender sends ECN-capable, the receiver's stack counts the marks,
/// and the sender's tells its controller.
#[cfg(feature = "quic")]
#[test]
fn marks_of_the_link_are_told_to_the_sending_controller_to_the_packet() {
    for (queue, cc, codepoint) in [("codel", "cubic", "ect0"), ("dualpi2", "prague", "ect1")] {
        let (closed, link) = fetched_through(queue, cc);
        let (told, down) = (closed["marked_packets"].as_u64(), &link["down"]);
        assert!(told > Some(0), "{closed}");
        assert_eq!(told, down["marked_packets"].as_u64(), "{closed} {down}");
        let offered = down["offered_ecn"][codepoint].as_u64();
        assert!(offered > Some(3_000), "{down}");
    }
    // Who does not answer marks is not ECN-capable.
    let (closed, link) = fetched_through("codel", "window:packets=200");
    let down = &link["down"];
    assert_eq!(closed["marked_packets"], 0, "{closed}");
    assert_eq!(down["offered_ecn"]["ect0"], 0, "{down}");
    assert!(down["dropped_managed_packets"].as_u64() > Some(0), "{down}");
}

/// What one end of a transfer does; the other runs the same with `SEND`. A program for a link, not a
/// test.
#[test]
#[ignore = "runs behind a link, in another test"]
fn program_that_transfers() {
    const VOLUME: usize = 4_000_000;
    if std::env::var_os("SEND").is_some() {
        let (mut to, _) = TcpListener::bind("0.0.0.0:7100").unwrap().accept().unwrap();
        to.write_all(&vec![7; VOLUME]).unwrap();
    } else if let Ok(peer) = std::env::var("LOWTIDE_LINK_PEER") {
        let mut from = TcpStream::connect((peer, 7100)).unwrap();
        assert_eq!(io::copy(&mut from, &mut io::sink()).unwrap(), VOLUME as u64);
    }
}

/// The row of a controller.
fn row<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let rows = comparison["results"].as_array().unwrap();
    let found = rows.iter().find(|row| row["controller"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {comparison}"))
}

/// What the page of a report shows.
fn data_of(report: &Path) -> Value {
    let page = fs::read_to_string(report.join("index.html")).unwrap();
    let (_, data) = page.split_once(r#"id="data">"#).unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_has_the_program_beside_what_compare_says_of_controllers_on_the_same_link() {
    if !namespaces_work() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report");
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let test = ["--exact", "link::program_that_transfers", "--ignored"];
    let peer = format!("SEND=1 '{program}' {} --quiet", test.join(" "));
    let link = [
        "--rate", "20mbit", "--rtt", "40ms", "--buffer", "2bdp", "--seed", "3",
    ];
    let whom = ["--cc", "bbr", "--cc", "cubic"];
    let json = dir.path().join("link.json");
    let json_flag = format!("--json={}", json.display());
    let mut args = vec!["link", &json_flag, "--report", report.to_str().unwrap()];
    args.extend(link.iter().chain(&whom));
    args.extend(["--peer", &peer, "--", program]);
    args.extend(test);
    let output = lowtide(&args).assert().success().get_output().clone();
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "your program",
        "oracle (limit)",
        "cubic",
        "of what the link offered then",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }

    let summary: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let [ref comparison] = summary["comparisons"].as_array().unwrap()[..] else {
        panic!("{summary}");
    };
    assert_eq!(comparison["way"], "down");
    let own = row(comparison, "your program");
    let (used, limit) = (
        own["utilisation"].as_f64().unwrap(),
        row(comparison, "oracle"),
    );
    assert!(used > 0.05 && used <= 1.0, "{own}");
    assert!(own["throughput_mbps"].as_f64() < limit["throughput_mbps"].as_f64());
    let active = &comparison["active"];
    assert!(
        active["utilisation"].as_f64().unwrap() >= used,
        "{comparison}"
    );
    let seconds = comparison["duration_s"].as_f64().unwrap();
    let bytes = own["throughput_mbps"].as_f64().unwrap() * seconds * 1e6 / 8.0;
    let delivered = summary["down"]["delivered_bytes"].as_f64().unwrap();
    assert!(
        (bytes - delivered).abs() <= 0.001 * delivered,
        "{bytes} of {delivered}"
    );
    let queue = own["queue_delay_ms"]["p95"].as_f64().unwrap();
    // The link holds 40 ms of propagation and two BDP of queue.
    assert!(queue > 0.0 && queue <= 90.0, "{own}");
    assert!(own["retransmitted_share"].is_null(), "{own}");

    let duration = format!("{}ms", (seconds * 1e3).round());
    let mut args = vec!["compare", "--json", "--duration", &duration];
    args.extend(link.iter().chain(&whom));
    let output = lowtide(&args).assert().success().get_output().clone();
    let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(compared["link"], comparison["link"]);
    let others = compared["results"].as_array().unwrap();
    assert_eq!(
        others.len() + 1,
        comparison["results"].as_array().unwrap().len()
    );
    for other in others {
        let name = other["controller"].as_str().unwrap();
        assert_eq!(row(comparison, name), other, "{name}");
    }

    let data = data_of(&report);
    assert!(
        data["about"]
            .as_str()
            .unwrap()
            .contains("program_that_transfers")
    );
    let [ref shown] = data["links"].as_array().unwrap()[..] else {
        panic!("one link");
    };
    assert!(shown["capacity"].is_object());
    let entries = shown["entries"].as_array().unwrap();
    let names: Vec<&str> = entries
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["oracle", "your program"]);
    let time = &entries[1]["time"];
    assert_eq!(time["bin"], shown["bin"]);
    for series in [
        &time["sojourn"],
        &time["queue"],
        &time["flows"][0]["delivered"],
    ] {
        assert!(series.is_object(), "{time}");
    }
}

/// A local UDP address that nobody has.
fn free_address() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap()
}

/// Sends 1000 bytes, headers included, every 20 ms until it is dropped.
struct Client {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    fn of(to: SocketAddr) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let seen = done.clone();
        let send = move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            while !seen.load(Ordering::Relaxed) {
                let _ = socket.send_to(&[1; 972], to);
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        let thread = Some(std::thread::spawn(send));
        Self { done, thread }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_service_that_is_not_there_is_counted_and_ends_no_relay() {
    let (listen, target) = (free_address(), free_address());
    let between = format!("{listen},{target}");
    let client = Client::of(listen);
    let args = ["link", "--udp", &between, "--duration", "2s", "--json"];
    let output = lowtide(&args).assert().success().get_output().clone();
    drop(client);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (sent, rejected) = (
        &summary["up"]["delivered_packets"],
        &summary["up"]["rejected_packets"],
    );
    let rejected = rejected["ECONNREFUSED"].as_u64().unwrap();
    assert!(
        rejected > 1 && rejected <= sent.as_u64().unwrap(),
        "{summary}"
    );
    assert!(summary["duration_s"].as_f64().unwrap() >= 2.0);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("{rejected} ECONNREFUSED")), "{said}");
}

#[test]
fn a_report_of_a_relay_shows_the_way_that_has_the_link() {
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = service.local_addr().unwrap();
    let free = free_address();
    let client = Client::of(free);
    let dir = tempfile::tempdir().unwrap();
    let (report, between) = (dir.path().to_str().unwrap(), format!("{free},{target}"));
    let args = [
        "link",
        "--rate",
        "10mbit",
        "--limited",
        "up",
        "--duration",
        "2s",
        "--udp",
        &between,
        "--cc",
        "bbr",
        "--report",
        report,
        "--json",
        "--quiet",
    ];
    let output = lowtide(&args).assert().success().get_output().clone();
    drop(client);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let comparison = &summary["comparisons"][0];
    assert_eq!(comparison["way"], "up");
    let used = row(comparison, "your program")["utilisation"]
        .as_f64()
        .unwrap();
    // 1000 bytes every 20 ms are 4 % of 10 Mbit/s.
    assert!(used > 0.0 && used < 0.05, "{used}");
    assert!(row(comparison, "bbr")["utilisation"].as_f64().unwrap() > 0.5);
    assert_eq!(
        data_of(dir.path())["links"][0]["entries"][1]["name"],
        "your program"
    );
}

#[test]
fn a_signal_while_controllers_run_leaves_them_out_and_keeps_what_was_measured() {
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = service.local_addr().unwrap();
    let free = free_address();
    let dir = tempfile::tempdir().unwrap();
    let json = format!("--json={}", dir.path().join("link.json").display());
    let report = dir.path().to_str().unwrap();
    // So fast a link takes the controllers many times longer than the program.
    let between = format!("{free},{target}");
    let args = [
        "link",
        "--rate",
        "40gbit",
        "--limited",
        "up",
        "--duration",
        "2s",
        "--udp",
        &between,
        "--report",
        report,
        &json,
    ];
    let mut child = Process::cargo_bin("lowtide")
        .unwrap()
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("40000 Mbit/s"));
    for _ in 0..10 {
        client.send_to(&[1; 972], free).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let summary = said.find(|line| line.as_ref().unwrap().trim_start().starts_with("up "));
    assert!(summary.is_some());
    let id = child.id().to_string();
    // One that comes before the controllers run is passed over.
    let status = loop {
        Process::new("kill").args(["-INT", &id]).status().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
    };
    assert!(status.success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert!(
        rest.join("\n")
            .contains("nothing to compare with: interrupted"),
        "{rest:?}"
    );
    let json = fs::read(dir.path().join("link.json")).unwrap();
    let summary: Value = serde_json::from_slice(&json).unwrap();
    let rows = summary["comparisons"][0]["results"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0]["throughput_mbps"].as_f64().unwrap() > 0.0);
    assert_eq!(
        data_of(dir.path())["links"][0]["entries"][0]["name"],
        "your program"
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
    refused(&["link", "--cc", "none", "--", "true"], "--cc");
    if namespaces_work() {
        refused(
            &["link", "--", "no-such-command"],
            "no command 'no-such-command'",
        );
        refused(&["link", "--", "/etc/passwd"], "not executable");
    }
}
