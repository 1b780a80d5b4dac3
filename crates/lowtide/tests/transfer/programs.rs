//! The programs that are tested.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::program::{Ran, command, lowtide};

/// A server, ended with this.
pub(crate) struct Serve {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `serve --json` with more flags.
pub(crate) fn serving(flags: &str) -> Command {
    command(&format!("serve --listen 127.0.0.1:0 --json {flags}"))
}

/// The address that a server prints.
pub(crate) fn address(line: &str) -> SocketAddr {
    let listening: Value = serde_json::from_str(line).unwrap();
    assert_eq!(listening["event"], "listening");
    listening["address"].as_str().unwrap().parse().unwrap()
}

pub(crate) fn serve(flags: &str) -> Serve {
    let mut child = serving(flags).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let address = address(&first);
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        lines.read_to_end(&mut rest)
    });
    Serve { child, address }
}

pub(crate) fn fetch(address: SocketAddr, flags: &str) -> Ran {
    lowtide(&format!("fetch {address} {flags}"))
}

/// A fetch that works.
pub(crate) fn fetch_bytes(address: SocketAddr, bytes: u64) {
    let result = fetch(address, &format!("--json --bytes {bytes}B"))
        .ok()
        .json();
    assert_eq!(result["received_bytes"], bytes, "{result}");
}

/// Most memory that a process has had, kB.
pub(crate) fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
