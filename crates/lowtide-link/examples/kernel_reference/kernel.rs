//! A cell with the kernel's TCP, in two namespaces of its own.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use lowtide_link::{Addresses, Emulation, Namespace, PathConfig, Tunnel, be_prompt};

use crate::cells::{Cell, Pauses};
use crate::measured::Measured;

type Failure = Box<dyn Error + Send + Sync>;

pub(crate) const PACKET: u16 = 1500;
/// What of a packet is data: without the headers of IP and TCP and the timestamps.
const SEGMENT: usize = 1448;
const PORT: u16 = 9001;
/// Runs that the machine spoilt are made again so often.
pub(crate) const ATTEMPTS: u64 = 4;

/// Windows of the kernel must not be what limits.
fn allow_large_windows() {
    for name in ["tcp_wmem", "tcp_rmem"] {
        let file = format!("/proc/sys/net/ipv4/{name}");
        if let Err(e) = fs::write(&file, "4096 1048576 268435456") {
            eprintln!("warning: cannot write {file}: {e}; windows may limit the flow");
        }
    }
}

/// When an application's segment is due after its start.
fn due(pauses: &Pauses, segment: u64) -> Duration {
    let interval = f64::from(PACKET) * 8.0 / (pauses.rate.as_mbps() * 1e6);
    let burst = (pauses.on.as_secs_f64() / interval).ceil();
    let (cycle, place) = (segment as f64 / burst, segment as f64 % burst);
    let period = pauses.on.as_secs_f64() + pauses.off.as_secs_f64();
    Duration::from_secs_f64(cycle.floor() * period + place * interval)
}

struct Connected {
    stream: TcpStream,
    /// How long the handshake took.
    handshake: Duration,
}

fn connect(to: SocketAddr, controller: &str) -> io::Result<Connected> {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    socket.set_tcp_congestion(controller.as_bytes())?;
    socket.set_tcp_nodelay(true)?;
    let before = Instant::now();
    socket.connect(&to.into())?;
    let handshake = before.elapsed();
    // So that a full window does not hide the end.
    socket.set_write_timeout(Some(Duration::from_millis(100)))?;
    let stream = socket.into();
    Ok(Connected { stream, handshake })
}

fn send(mut stream: &TcpStream, pauses: Option<Pauses>, done: &AtomicBool) -> io::Result<()> {
    // An application that waits for a processor would be another application.
    be_prompt();
    let start = Instant::now();
    let data = vec![0; 256 * 1024];
    let mut segments = 0;
    while !done.load(Ordering::Relaxed) {
        let piece = match &pauses {
            None => &data[..],
            Some(pauses) => {
                let wait =
                    (start + due(pauses, segments)).saturating_duration_since(Instant::now());
                thread::sleep(wait.min(Duration::from_millis(50)));
                if wait > Duration::from_millis(50) {
                    continue;
                }
                segments += 1;
                &data[..SEGMENT]
            }
        };
        match stream.write(piece) {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn receive(listener: &TcpListener, done: &AtomicBool) {
    be_prompt();
    let mut buffer = vec![0; 1 << 20];
    if let Ok((mut stream, _)) = listener.accept() {
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        while !done.load(Ordering::Relaxed) {
            let _ = stream.read(&mut buffer);
        }
    }
}

/// Share of the data segments that were sent again, percent, by `ss`'s words for TCP_INFO.
fn sent_again() -> Result<f64, Failure> {
    let ss = Command::new("ss")
        .args(["-tinHO", "state", "all", "dport", "=", &format!(":{PORT}")])
        .output()?;
    let text = String::from_utf8_lossy(&ss.stdout).into_owned();
    let of = |name: &str| {
        text.split_whitespace()
            .find_map(|word| word.strip_prefix(name))
    };
    let sent = of("data_segs_out:").and_then(|n| n.parse::<f64>().ok());
    let sent = sent.ok_or_else(|| format!("ss says nothing of the flow: {text}"))?;
    let again = of("retrans:").and_then(|r| r.split('/').nth(1)?.parse::<f64>().ok());
    Ok(again.unwrap_or(0.0) / sent * 100.0)
}

/// A run; what went wrong with it, if the machine was too slow.
fn attempt(
    cell: &Cell,
    controller: &str,
    seconds: u64,
    seed: u64,
) -> Result<(Measured, Option<String>), Failure> {
    let (far, near) = (Namespace::new()?, Namespace::new()?);
    far.run(allow_large_windows)?;
    near.run(allow_large_windows)?;
    let tunnel = Arc::new(Tunnel::between(far, near, PACKET, Addresses::ALL)?);
    let path = PathConfig {
        down: cell.forward(),
        up: cell.reverse(),
        base_rtt: cell.rtt,
        seed,
        ports: None,
    };
    let to: SocketAddr = (tunnel.addresses().near(), PORT).into();
    let listener = tunnel.near().run(|| TcpListener::bind(to))??;
    let emulation = Emulation::between(&tunnel, &path, [(), ()])?;
    let end = emulation.started_at() + Duration::from_secs(seconds);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| receive(&listener, &done));
        let measure = || {
            let connected = tunnel
                .far()
                .run(|| connect(to, controller))?
                .map_err(|e| format!("no flow with the kernel's '{controller}': {e}"))?;
            let stream = &connected.stream;
            let sending = scope.spawn({
                let (stream, done, pauses) = (stream.try_clone()?, &done, cell.pauses());
                move || send(&stream, pauses, done)
            });
            while Instant::now() < end && !sending.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            let (summary, _) = emulation.finish()?;
            let again = tunnel.far().run(sent_again)??;
            let delay = |d: &lowtide_link::DirectionSummary| d.delay_ms.ok_or("nothing arrived");
            let (down, up) = (delay(&summary.down)?, delay(&summary.up)?);
            let measured = Measured {
                mbps: summary.down.throughput_mbps,
                rtt_ms: down.mean + up.mean,
                p95_ms: down.p95 + up.mean,
                again,
            };
            let mut complaint = summary.complaints.first().cloned();
            let rtt = Duration::from_nanos(cell.rtt.as_nanos());
            if connected.handshake > rtt + Duration::from_millis(100) {
                complaint = Some(format!("the handshake took {:?}", connected.handshake));
            }
            Ok((measured, complaint))
        };
        let measured = measure();
        done.store(true, Ordering::Relaxed);
        // Ends the accepting if nobody came.
        let _ = tunnel.near().run(|| TcpStream::connect(to));
        measured
    })
}

/// A run that the machine did not spoil and whose handshake was not lost.
pub(crate) fn run(
    cell: &Cell,
    controller: &str,
    seconds: u64,
    seed: u64,
) -> Result<Measured, Failure> {
    let mut last = String::new();
    for n in 0..ATTEMPTS {
        let (measured, complaint) = attempt(cell, controller, seconds, seed + n * 1000)?;
        match complaint {
            None => return Ok(measured),
            Some(complaint) => last = complaint,
        }
        eprintln!("again: {}, {controller}: {last}", cell.name());
    }
    Err(format!(
        "{}, {controller}: {ATTEMPTS} attempts were spoilt, lately: {last}",
        cell.name()
    )
    .into())
}
