//! `lowtide link` as a user meets it. What needs a network namespace says so and is skipped where the
//! machine does not allow one.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::namespaces_work;
use crate::program::{Begun, Folder, Ran, command, entry, has, lowtide, number};

#[test]
fn the_commands_exit_code_passes_and_it_knows_both_addresses() {
    if !namespaces_work() {
        return;
    }
    let script = "echo $LOWTIDE_LINK_LOCAL $LOWTIDE_LINK_PEER; exit 7";
    let ran = lowtide(&format!("link --rate 20mbit -- sh -c '{script}'")).code(7);
    let addresses: Vec<&str> = ran.out.split_whitespace().collect();
    let [local, peer] = addresses[..] else {
        panic!("{}", ran.out);
    };
    for (address, end) in [(local, ".2"), (peer, ".1")] {
        let is_ours = address.starts_with("198.18.") && address.ends_with(end);
        assert!(is_ours, "{address}");
    }
    has(&ran.err, &["constant 20 Mbit/s", " down "]);
    lowtide("link -- sh -c 'kill -9 $$'").code(137);
}

#[test]
fn the_peer_is_ended_with_the_command_and_its_output_is_kept_apart() {
    if !namespaces_work() {
        return;
    }
    let folder = Folder::new();
    let peer = "echo from the peer; echo $$ > id; sleep 1000; :";
    let wait = "until [ -s id ]; do sleep 0.05; done";
    let ran = folder.ok(&format!("link --peer '{peer}' -- sh -c '{wait}'"));
    assert!(ran.out.is_empty());
    has(&ran.err, &["from the peer"]);
    let id = folder.read("id");
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
    let folder = Folder::new();
    // Each end has a process of its own, and one that has left it for good.
    let script = |name: &str| {
        let wait = "setsid sleep 1000 & readlink /proc/self/ns/net";
        format!("{wait} > {name}.part; mv {name}.part {name}; sleep 1000; :")
    };
    let (far, near) = (script("far"), script("near"));
    let mut link = folder.begin(&format!("link --peer '{far}' -- sh -c '{near}'"));
    let namespace = |name: &str| fs::read_to_string(folder.at(name)).unwrap_or_default();
    link.until(|| !namespace("near").is_empty() && !namespace("far").is_empty());
    let (near, far) = (namespace("near"), namespace("far"));
    let namespaces = [near.trim(), far.trim()];
    assert_ne!(near, far);
    // Two programs and a guard in each.
    assert!(processes_in(&namespaces) >= 6);
    drop(link);
    let end = Instant::now() + Duration::from_secs(60);
    while processes_in(&namespaces) > 0 {
        assert!(Instant::now() < end, "{} remain", processes_in(&namespaces));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_guard_does_nothing_outside_of_its_namespace() {
    Folder::new().refuses("link-guard", "net:[1] => lowtide link");
}

#[test]
fn a_signal_ends_the_command_and_the_summary_is_still_printed() {
    if !namespaces_work() {
        return;
    }
    let folder = Folder::new();
    let link = "link --json=summary.json -- sh -c 'touch up; exec sleep 1000'";
    let mut link = folder.begin(link);
    link.until(|| folder.at("up").exists());
    link.signal("TERM");
    link.ran().code(128 + 15);
    let summary = folder.json("summary.json");
    assert!(number(&summary, "duration_s") > 0.0);
    assert!(summary["faithful"].is_boolean() && summary["up"]["offered_packets"].is_u64());
}

/// A relay to somebody who listens and says nothing: the relay's flags, and its own address.
fn relay() -> (UdpSocket, String, SocketAddr) {
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (free, target) = (free_address(), service.local_addr().unwrap());
    (service, format!("--udp {free},{target}"), free)
}

/// Runs a relay for two seconds while a client sends to this address.
fn relayed(folder: &Folder, client: SocketAddr, flags: &str) -> Ran {
    let client = Client::of(client);
    let ran = folder.ok(&format!("link --duration 2s --json {flags}"));
    drop(client);
    ran
}

#[test]
fn the_udp_relay_needs_no_privileges_and_prints_json() {
    let (_service, udp, free) = relay();
    let flags = format!("--rate 10mbit {udp}");
    let summary = relayed(&Folder::new(), free, &flags).json();
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
fn fetched_through(queue: &str, cc: &str) -> (Value, Value) {
    let serve = format!("serve --listen 127.0.0.1:0 --one-off --json --cc {cc}");
    let begun = |line: &str| Begun::of(command(line));
    let mut server = begun(&serve);
    let mut lines = BufReader::new(server.child().stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let target = next()["address"].as_str().unwrap().to_string();
    let relay = free_address();
    let link = format!("link --rate 20mbit --rtt 20ms --queue {queue} --json");
    let mut link = begun(&format!("{link} --udp {relay},{target}"));
    let fetched = lowtide(&format!("fetch {relay} --bytes 5MB --json"));
    let closed = loop {
        let line = next();
        if line["event"] == "closed" {
            break line;
        }
    };
    link.signal("INT");
    let summary = link.ran().json();
    server.ran();
    fetched.ok();
    (closed, summary)
}

/// Real sockets: the link marks what the sender sends ECN-capable, the receiver's stack counts the marks,
/// and the sender's tells its controller.
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

/// What the page of a report shows.
fn data_of(folder: &Folder) -> Value {
    let page = folder.read("report/index.html");
    let (_, data) = page.split_once(r#"id="data">"#).unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_has_the_program_beside_what_compare_says_of_controllers_on_the_same_link() {
    if !namespaces_work() {
        return;
    }
    let folder = Folder::new();
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let test = "--exact link::program_that_transfers --ignored";
    let link = "--rate 20mbit --rtt 40ms --buffer 2bdp --seed 3 --cc bbr --cc cubic";
    let peer = format!("--peer 'SEND=1 {program} {test} --quiet'");
    let run = format!("link --json=link.json --report report {link} {peer} -- {program} {test}");
    let parts = [
        "your program",
        "oracle (limit)",
        "cubic",
        "of what the link offered then",
    ];
    has(&folder.ok(&run).err, &parts);

    let summary = folder.json("link.json");
    let [ref comparison] = summary["comparisons"].as_array().unwrap()[..] else {
        panic!("{summary}");
    };
    assert_eq!(comparison["way"], "down");
    let own = entry(comparison, "your program");
    let limit = entry(comparison, "oracle");
    let used = number(own, "utilisation");
    assert!(used > 0.05 && used <= 1.0, "{own}");
    assert!(own["throughput_mbps"].as_f64() < limit["throughput_mbps"].as_f64());
    let active = number(comparison, "active.utilisation");
    assert!(active >= used, "{comparison}");
    let seconds = number(comparison, "duration_s");
    let bytes = number(own, "throughput_mbps") * seconds * 1e6 / 8.0;
    let delivered = number(&summary, "down.delivered_bytes");
    assert!(
        (bytes - delivered).abs() <= 0.001 * delivered,
        "{bytes} of {delivered}"
    );
    let queue = number(own, "queue_delay_ms.p95");
    // The link holds 40 ms of propagation and two BDP of queue.
    assert!(queue > 0.0 && queue <= 90.0, "{own}");
    assert!(own["retransmitted_share"].is_null(), "{own}");

    let duration = format!("{}ms", (seconds * 1e3).round());
    let compare = format!("compare --json --duration {duration} {link}");
    let compared = folder.ok(&compare).json();
    assert_eq!(compared["link"], comparison["link"]);
    let others = compared["results"].as_array().unwrap();
    let rows = comparison["results"].as_array().unwrap();
    assert_eq!(others.len() + 1, rows.len());
    for other in others {
        let name = other["controller"].as_str().unwrap();
        assert_eq!(entry(comparison, name), other, "{name}");
    }

    let data = data_of(&folder);
    has(data["about"].as_str().unwrap(), &["program_that_transfers"]);
    let [ref shown] = data["links"].as_array().unwrap()[..] else {
        panic!("one link");
    };
    assert!(shown["capacity"].is_object());
    let entries = shown["entries"].as_array().unwrap();
    let names = [0, 1].map(|n| entries[n]["name"].as_str().unwrap());
    assert_eq!(names, ["oracle", "your program"]);
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
    let ran = relayed(&Folder::new(), listen, &format!("--udp {listen},{target}"));
    let summary = ran.json();
    let up = &summary["up"];
    let rejected = up["rejected_packets"]["ECONNREFUSED"].as_u64();
    assert!(rejected > Some(1), "{summary}");
    assert!(rejected <= up["delivered_packets"].as_u64(), "{summary}");
    assert!(summary["duration_s"].as_f64().unwrap() >= 2.0);
    has(&ran.err, &[&format!("{} ECONNREFUSED", rejected.unwrap())]);
}

#[test]
fn a_report_of_a_relay_shows_the_way_that_has_the_link() {
    let (_service, udp, free) = relay();
    let folder = Folder::new();
    let flags = "--rate 10mbit --limited up --cc bbr --report report --quiet";
    let summary = relayed(&folder, free, &format!("{flags} {udp}")).json();
    let comparison = &summary["comparisons"][0];
    assert_eq!(comparison["way"], "up");
    let used = number(entry(comparison, "your program"), "utilisation");
    // 1000 bytes every 20 ms are 4 % of 10 Mbit/s.
    assert!(used > 0.0 && used < 0.05, "{used}");
    assert!(number(entry(comparison, "bbr"), "utilisation") > 0.5);
    let entries = &data_of(&folder)["links"][0]["entries"];
    assert_eq!(entries[1]["name"], "your program");
}

#[test]
fn a_signal_while_controllers_run_leaves_them_out_and_keeps_what_was_measured() {
    let (_service, udp, free) = relay();
    let folder = Folder::new();
    // So fast a link takes the controllers many times longer than the program.
    let link = "link --rate 40gbit --limited up --duration 2s --report report --json=link.json";
    let mut link = folder.begin(&format!("{link} {udp}"));
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut said = BufReader::new(link.child().stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("40000 Mbit/s"));
    for _ in 0..10 {
        client.send_to(&[1; 972], free).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let summary = said.find(|line| line.as_ref().unwrap().trim_start().starts_with("up "));
    assert!(summary.is_some());
    // One that comes before the controllers run is passed over.
    let status = loop {
        link.signal("INT");
        std::thread::sleep(Duration::from_millis(100));
        if let Some(status) = link.child().try_wait().unwrap() {
            break status;
        }
    };
    assert!(status.success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    has(&rest.join("\n"), &["nothing to compare with: interrupted"]);
    let summary = folder.json("link.json");
    let rows = summary["comparisons"][0]["results"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(number(&rows[0], "throughput_mbps") > 0.0);
    let entries = &data_of(&folder)["links"][0]["entries"];
    assert_eq!(entries[0]["name"], "your program");
}

#[test]
fn bad_input_is_refused_with_a_remedy() {
    let folder = Folder::new();
    let rows = "
        --udp 127.0.0.1:5000                         => LISTEN,TARGET
        --udp localhost:1,127.0.0.1:2                => no address with a port
        --udp 127.0.0.1:1,127.0.0.1:2 -- true        => cannot be used with
        --duration 1s -- true                        => cannot be used with
        --duration 1s                                => --udp
        --trace /nonexistent -- true                 => /nonexistent
        --mtu 10 -- true                             => --mtu
        --cc none -- true                            => --cc
        ";
    folder.refuses("link", rows);
    if namespaces_work() {
        let rows = "no-such-command => no command 'no-such-command'
                    /etc/passwd     => not executable";
        folder.refuses("link --", rows);
    }
}
