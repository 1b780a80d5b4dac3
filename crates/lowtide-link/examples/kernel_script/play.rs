//! One scenario: namespace, device, socket, and the loop that plays the other end.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use lowtide_link::{Namespace, be_prompt};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::receiver::{Acknowledgment, Receiver};
use crate::scenario::{Fate, Scenario};
use crate::segment::{ACK, Received, Reply, SYN, sack, timestamps};

type Failure = Box<dyn Error + Send + Sync>;

const NAME: &str = "script";
const HERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const PORT: u16 = 9001;
/// Bytes of data in a segment, beside a timestamp option.
const SEGMENT: u32 = 1000;
const TIMESTAMP_OPTION: u32 = 12;
/// A repetition takes this much longer than an original, so that its round trip is not by chance the shortest of all:
/// RACK takes such an answer for one to the original (RFC 8985 §6.2, step 2).
const REPETITION: Duration = Duration::from_micros(500);
const OUR_FIRST: u32 = 1_000_000;
/// From the handshake's end to the scenario's beginning.
const QUIET: Duration = Duration::from_millis(100);

pub(crate) fn play(scenario: &Scenario, info: bool) -> Result<String, Failure> {
    Namespace::new()?.run(|| inside(scenario, info))?
}

fn device() -> Result<SyncDevice, Failure> {
    let device = DeviceBuilder::new()
        .name(NAME)
        .layer(Layer::L3)
        .mtu(1500)
        .ipv4(HERE, 30, None)
        .enable(false)
        .build_sync()?;
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{NAME}/disable_ipv6"), "1");
    // Each segment leaves when its turn comes, not with others as one large packet.
    let set = Command::new("ip")
        .args(["link", "set", NAME, "gso_max_segs", "1"])
        .status()?;
    if !set.success() {
        return Err("'ip link set gso_max_segs' failed".into());
    }
    device.enabled(true)?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// The application: connects, and writes when the scenario says.
fn write(
    scenario: &Scenario,
    start: &mpsc::Receiver<Instant>,
    info: bool,
) -> Result<String, Failure> {
    be_prompt();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    socket.set_tcp_congestion(scenario.controller.as_bytes())?;
    socket.set_tcp_nodelay(true)?;
    socket.set_send_buffer_size(1 << 20)?;
    socket.set_linger(Some(Duration::ZERO))?;
    socket.connect(&SocketAddr::from((THERE, PORT)).into())?;
    let mut stream = std::net::TcpStream::from(socket);
    let start = start.recv()?;
    let mut said = String::new();
    let mut ask = |ms: u64| -> Result<(), Failure> {
        if info {
            let ss = Command::new("ss").args(["-tinHO"]).output()?;
            let _ = writeln!(
                said,
                "# {ms} ms: {}",
                String::from_utf8_lossy(&ss.stdout).trim()
            );
        }
        Ok(())
    };
    for &(ms, segments) in scenario.writes {
        let at = start + Duration::from_millis(ms);
        thread::sleep((at - Duration::from_millis(10)).saturating_duration_since(Instant::now()));
        ask(ms)?;
        thread::sleep(at.saturating_duration_since(Instant::now()));
        stream.write_all(&vec![0; (segments * u64::from(SEGMENT)) as usize])?;
    }
    let end = start + Duration::from_millis(scenario.lasts_ms);
    thread::sleep(end.saturating_duration_since(Instant::now()));
    ask(scenario.lasts_ms)?;
    Ok(said)
}

/// What is to come, in order of time.
enum Event {
    Arrival {
        segment: u64,
        timestamp: u32,
        by: usize,
        is_answered: bool,
    },
    Reply(Acknowledgment),
}

struct Network<'a> {
    scenario: &'a Scenario,
    rtt: Duration,
    /// When the bottleneck is free.
    free_at: Instant,
    copies: BTreeMap<u64, u64>,
    sent: usize,
    events: BTreeMap<(Instant, usize), Event>,
    scheduled: usize,
}

impl Network<'_> {
    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// The kernel sent a segment. Returns which copy of it.
    fn on_segment(&mut self, now: Instant, segment: u64, timestamp: u32) -> u64 {
        let copies = self.copies.entry(segment).or_default();
        let copy = *copies;
        *copies += 1;
        let by = self.sent;
        self.sent += 1;
        let mut fates = self.scenario.fates.iter();
        let fate = fates.find(|f| f.0.contains(&segment) && f.1 == copy);
        let fate = fate.map(|f| f.2);
        let spacing = Duration::from_micros(self.scenario.spacing_us);
        self.free_at = self.free_at.max(now) + spacing;
        let mut late = match fate {
            Some(Fate::Lost) => return copy,
            Some(Fate::Late(ms)) => Duration::from_millis(ms),
            Some(Fate::AckLost) | None => Duration::ZERO,
        };
        if copy > 0 {
            late += REPETITION;
        }
        let is_answered = !matches!(fate, Some(Fate::AckLost));
        let at = self.free_at + late;
        self.schedule(
            at,
            Event::Arrival {
                segment,
                timestamp,
                by,
                is_answered,
            },
        );
        copy
    }
}

fn inside(scenario: &Scenario, info: bool) -> Result<String, Failure> {
    let device = device()?;
    let (tell, start) = mpsc::channel();
    thread::scope(|scope| {
        let application = scope.spawn(move || write(scenario, &start, info));
        if !be_prompt() {
            eprintln!("warning: no real-time priority");
        }
        let record = answer(scenario, &device, &tell)?;
        match application.join() {
            Ok(said) => Ok(record + &said?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Plays the other end until the scenario is over.
fn answer(
    scenario: &Scenario,
    device: &SyncDevice,
    tell: &mpsc::Sender<Instant>,
) -> Result<String, Failure> {
    let origin = Instant::now();
    let rtt = Duration::from_millis(scenario.rtt_ms);
    let mut network = Network {
        scenario,
        rtt,
        free_at: origin,
        copies: BTreeMap::new(),
        sent: 0,
        events: BTreeMap::new(),
        scheduled: 0,
    };
    let mut receiver = Receiver::new(scenario.sack);
    let mut syn: Option<Received> = None;
    let mut started: Option<Instant> = None;
    let mut record = header(scenario);
    let mut writes = scenario.writes.iter().peekable();
    let mut buffer = [0; 2048];
    loop {
        let now = Instant::now();
        if let Some(start) = started
            && now > start + Duration::from_millis(scenario.lasts_ms)
        {
            return Ok(record);
        }
        if let Some(start) = started {
            let written = |w: &&(u64, u64)| start + Duration::from_millis(w.0) <= now;
            while let Some((due, segments)) = writes.next_if(written) {
                let _ = writeln!(record, "{due:9.2} write {segments}");
            }
        }
        // What is due.
        while let Some(entry) = network.events.first_entry() {
            let due = entry.key().0;
            if due > Instant::now() {
                break;
            }
            match entry.remove() {
                Event::Arrival {
                    segment,
                    timestamp,
                    by,
                    is_answered,
                } => {
                    let acknowledgment = receiver.on_segment(segment, timestamp, by);
                    if is_answered {
                        let rtt = network.rtt;
                        network.schedule(due + rtt, Event::Reply(acknowledgment));
                    }
                }
                Event::Reply(a) => {
                    let Some(to) = &syn else { continue };
                    let first = to.sequence.wrapping_add(1);
                    let sequence = |segment: u64| first.wrapping_add(segment as u32 * SEGMENT);
                    let value = origin.elapsed().as_millis() as u32 + 1;
                    let blocks: Vec<_> = a
                        .blocks
                        .iter()
                        .map(|b| (sequence(b.0), sequence(b.1)))
                        .collect();
                    let mut options = timestamps(value, a.echo);
                    options.extend(sack(&blocks));
                    let reply = Reply {
                        to,
                        sequence: OUR_FIRST + 1,
                        acknowledgment: sequence(a.below),
                        flags: ACK,
                        options,
                    };
                    let _ = writeln!(record, "{:9.2} {a}", milliseconds(started, Instant::now()));
                    device.send(&reply.packet())?;
                }
            }
        }
        // What the kernel sent.
        loop {
            let length = match device.recv(&mut buffer) {
                Ok(length) => length,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e.into()),
            };
            let now = Instant::now();
            let Some(packet) = buffer.get(..length).and_then(Received::parse) else {
                continue;
            };
            if packet.flags & SYN != 0 {
                if syn.is_none() {
                    syn = Some(packet);
                    thread::sleep(rtt);
                    let options = handshake(scenario, packet.timestamp, origin);
                    let reply = Reply {
                        to: &packet,
                        sequence: OUR_FIRST,
                        acknowledgment: packet.sequence.wrapping_add(1),
                        flags: SYN | ACK,
                        options,
                    };
                    device.send(&reply.packet())?;
                }
                continue;
            }
            let Some(first) = syn.map(|s| s.sequence.wrapping_add(1)) else {
                continue;
            };
            if packet.payload == 0 {
                if started.is_none() {
                    let start = Instant::now() + QUIET;
                    started = Some(start);
                    tell.send(start)?;
                }
                continue;
            }
            let offset = packet.sequence.wrapping_sub(first);
            if offset % SEGMENT != 0 || packet.payload as u32 != SEGMENT {
                return Err(
                    format!("{} bytes at {offset} are not one segment", packet.payload).into(),
                );
            }
            let segment = u64::from(offset / SEGMENT);
            let ms = milliseconds(started, now);
            let copy = network.on_segment(now, segment, packet.timestamp);
            let again = if copy > 0 { " again" } else { "" };
            let _ = writeln!(record, "{ms:9.2} send {segment}{again}");
        }
        let wait = match network.events.first_key_value() {
            Some(((due, _), _)) => due.saturating_duration_since(Instant::now()),
            None => Duration::from_millis(1),
        };
        let mut fds = [PollFd::new(device.as_fd(), PollFlags::POLLIN)];
        let wait = TimeSpec::from_duration(wait.min(Duration::from_millis(1)));
        match ppoll(&mut fds, Some(wait), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

fn milliseconds(since: Option<Instant>, instant: Instant) -> f64 {
    let since = since.map(|s| instant.saturating_duration_since(s));
    since.map_or(0.0, |d| d.as_secs_f64() * 1e3)
}

fn handshake(scenario: &Scenario, echo: u32, origin: Instant) -> Vec<u8> {
    const WINDOW_SCALE: [u8; 4] = [1, 3, 3, 10];
    let mss = (SEGMENT + TIMESTAMP_OPTION) as u16;
    let mut options = vec![2, 4];
    options.extend(mss.to_be_bytes());
    options.extend(WINDOW_SCALE);
    options.extend(timestamps(origin.elapsed().as_millis() as u32 + 1, echo));
    if scenario.sack {
        options.extend([1, 1, 4, 2]);
    }
    options
}

fn header(scenario: &Scenario) -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "# Linux {}: milliseconds, what happened at the sender. Made by lowtide-link's example kernel_script.\n\
         controller {}\nrtt {}\nsack {}\n",
        release.trim(),
        scenario.controller,
        scenario.rtt_ms,
        scenario.sack,
    )
}
