//! `lowtide kernel` as a user meets it. What the machine or the build does not allow says so and is skipped.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

#[path = "program/mod.rs"]
#[allow(dead_code, reason = "no test here needs a folder")]
mod program;

use program::{Begun, command, has, lowtide};

/// Controllers are the machine's: one test at a time.
static MACHINE: Mutex<()> = Mutex::new(());

/// Whether controllers can be loaded here, and none of this name is.
fn can_load(name: &str) -> bool {
    let ran = lowtide(&format!("kernel load {name} --pin"));
    if ran.code == Some(0) {
        lowtide(&format!("kernel unload {name}")).ok();
        return true;
    }
    eprintln!("skipped: {}", ran.err);
    // A build or machine that cannot is no mistake of the user's.
    ran.code(1);
    false
}

/// Of a controller that is loaded: itself, and its flow from this address.
fn status(local: &str) -> (Value, Option<Value>) {
    let own = lowtide("kernel status --json").ok().json()[0].take();
    let flows = own["flows"].as_array().unwrap();
    let flow = flows.iter().find(|flow| flow["local"] == local).cloned();
    (own, flow)
}

fn available() -> String {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap()
}

fn is_available(name: &str) -> bool {
    available().split_whitespace().any(|other| other == name)
}

/// Both ends of a connection whose first end uses a controller.
fn connection(controller: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_tcp_congestion(controller.as_bytes()).unwrap();
    socket
        .connect(&listener.local_addr().unwrap().into())
        .unwrap();
    (socket.into(), listener.accept().unwrap().0)
}

fn carries(from: &mut TcpStream, to: &mut TcpStream, bytes: usize) {
    std::thread::scope(|scope| {
        scope.spawn(|| from.write_all(&vec![7; bytes]).unwrap());
        let mut got = vec![0; bytes];
        to.read_exact(&mut got).unwrap();
        assert!(got.iter().all(|byte| *byte == 7));
    });
}

#[test]
fn what_is_not_there_is_said_with_exit_code_2() {
    has(&lowtide("kernel load nosuch").code(2).err, &["rtt-gain"]);
}

#[test]
fn each_controller_carries_data_and_leaves_nothing_behind() {
    let _machine = MACHINE.lock().unwrap();
    for (name, in_kernel) in [
        ("ebb", "ebb"),
        ("rtt-gain", "rtt_gain"),
        ("bbr-acd", "bbr_acd"),
        ("ebcc", "ebcc"),
    ] {
        if !can_load(name) {
            return;
        }
        lowtide(&format!("kernel load {name} --pin")).ok();
        let twice = lowtide(&format!("kernel load {name}")).code(2);
        has(&twice.err, &["already loaded"]);

        let (mut from, mut to) = connection(in_kernel);
        carries(&mut from, &mut to, 20_000_000);
        let (own, flow) = status(&from.local_addr().unwrap().to_string());
        assert_eq!((&own["name"], &own["pinned"]), (&name.into(), &true.into()));
        let flow = flow.unwrap_or_else(|| panic!("{own}"));
        assert!(flow["cwnd_packets"].as_u64().unwrap() >= 4, "{flow}");
        assert!(flow["pacing_mbps"].as_f64().unwrap() > 0.0, "{flow}");
        assert!(flow["min_rtt_ms"].as_f64().unwrap() > 0.0, "{flow}");

        // The connection outlives the registration.
        let unload = format!("kernel unload {name}");
        has(&lowtide(&unload).ok().out, &["1 connection keeps it"]);
        assert!(!is_available(in_kernel));
        carries(&mut from, &mut to, 1_000_000);
        has(&lowtide(&unload).code(2).err, &["not loaded"]);
    }
    assert!(!Path::new("/sys/fs/bpf/lowtide").exists());
}

#[test]
fn a_socket_that_no_process_has_is_shown_as_an_orphan() {
    let _machine = MACHINE.lock().unwrap();
    if !can_load("ebb") {
        return;
    }
    lowtide("kernel load ebb --pin").ok();
    // The other end reads nothing: what is left to be sent keeps the socket in the kernel.
    let (mut from, to) = connection("ebb");
    from.set_nonblocking(true).unwrap();
    while from.write(&[7; 65_536]).is_ok() {}
    let local = from.local_addr().unwrap().to_string();
    let is_orphan = || {
        status(&local)
            .1
            .map(|flow| flow["orphan"].as_bool().unwrap())
    };
    let before = is_orphan();
    drop(from);
    let after = is_orphan();
    let unloaded = lowtide("kernel unload ebb");
    drop(to);
    assert_eq!((before, after), (Some(false), Some(true)));
    has(&unloaded.out, &["without a process"]);
}

#[test]
fn a_killed_loader_takes_its_controller_along_and_connections_go_on() {
    let _machine = MACHINE.lock().unwrap();
    if !can_load("ebb") {
        return;
    }
    let mut loader = Begun::of(command("kernel load ebb"));
    loader.until(|| is_available("ebb"));
    has(
        &lowtide("kernel unload ebb").code(2).err,
        &["without --pin"],
    );
    let (mut from, mut to) = connection("ebb");
    carries(&mut from, &mut to, 1_000_000);
    // SIGKILL.
    drop(loader);
    while is_available("ebb") {
        std::thread::sleep(Duration::from_millis(10));
    }
    carries(&mut from, &mut to, 1_000_000);
}

/// A cgroup of its own, with this process in it until it is dropped.
struct Cgroup {
    folder: std::path::PathBuf,
    before: std::path::PathBuf,
}

impl Cgroup {
    /// `None` where there is no cgroup2 hierarchy, or it may not be changed.
    fn enter() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let mount = mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (folder, kind) = (words.next()?, words.next()?);
            (kind == "cgroup2").then(|| Path::new(folder))
        })?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let folder = mount.join(format!("lowtide-test-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let cgroup = Self {
            folder,
            before: mount.join(own),
        };
        cgroup.take(&cgroup.folder).ok()?;
        Some(cgroup)
    }

    fn take(&self, folder: &Path) -> std::io::Result<()> {
        fs::write(folder.join("cgroup.procs"), std::process::id().to_string())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = self.take(&self.before);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// What both ends of a connection use that do not choose.
fn unasked() -> [String; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let to = listener.accept().unwrap().0;
    [from, to].map(|end| {
        let name = socket2::SockRef::from(&end).tcp_congestion().unwrap();
        let name = String::from_utf8(name).unwrap();
        name.trim_end_matches('\0').to_owned()
    })
}

#[test]
fn a_cgroups_connections_get_it_unasked_with_its_parameter() {
    let _machine = MACHINE.lock().unwrap();
    if !can_load("ebb") {
        return;
    }
    let Some(cgroup) = Cgroup::enter() else {
        eprintln!("skipped: there is no cgroup2 hierarchy that this process may change");
        return;
    };
    let folder = cgroup.folder.to_str().unwrap();
    let usual = unasked();
    assert!(!usual.contains(&"ebb".to_owned()), "{usual:?}");
    lowtide(&format!(
        "kernel load ebb:idle=0.125 --pin --cgroup {folder}"
    ))
    .ok();
    let with = unasked();
    let status = lowtide("kernel status").out;
    lowtide("kernel unload ebb").ok();
    assert_eq!(with, ["ebb", "ebb"]);
    assert!(
        status.starts_with("ebb:idle=0.125: loaded, pinned, 1 cgroup, "),
        "{status}"
    );
    assert_eq!(unasked(), usual);
    assert!(!Path::new("/sys/fs/bpf/lowtide").exists());
}

#[test]
fn a_folder_that_is_no_cgroup_is_said_and_nothing_stays() {
    let _machine = MACHINE.lock().unwrap();
    if !can_load("ebb") {
        return;
    }
    for folder in ["/tmp", "/nowhere", "/etc/hostname"] {
        let refused = lowtide(&format!("kernel load ebb --pin --cgroup {folder}")).code(2);
        has(&refused.err, &[&format!("{folder} is no cgroup")]);
        assert!(!is_available("ebb"));
    }
}
