//! One run over real packets: a link in namespaces of its own, and a server and a client for each flow.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lowtide_cc::units::{self, Bytes, Time};
use lowtide_lab::files;
use lowtide_lab::program::{Programs, SenderLog};
use lowtide_lab::run::{Run, Stop};
use lowtide_lab::setting::Setting;
use lowtide_link::{Child, Emulation, Ends, Error, PathConfig, Ports, Tunnel};
use lowtide_sim::source::SourceConfig;

use crate::command::filled;
use crate::recipe::Program;

/// The server's port of the first flow; below those that systems give to clients.
const FIRST_PORT: u16 = 20_000;

/// How often programs are looked at.
const LOOK: Duration = Duration::from_millis(5);

/// How long a server may take until it listens.
const READY: Duration = Duration::from_secs(20);

/// How long programs may take to end once they were told to.
const GRACE: Duration = Duration::from_secs(1);

/// What a bulk sender is told to send: so much of what the link can carry at most, and this on top.
const BULK_SHARE: f64 = 1.25;
const BULK_MORE: Bytes = Bytes::new(1_000_000);

/// What is run.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) seed: u64,
    /// The program of each group.
    pub(crate) programs: &'a [Program],
    /// Starts this program again, from this process and from another.
    pub(crate) this: &'a [PathBuf; 2],
    /// Uttered when all is to end.
    pub(crate) stop: &'a Stop,
}

/// Why a run came to nothing.
pub(crate) enum Trouble {
    /// Nothing was measured: a program did not start, or the link failed.
    NotRun(Error),
    /// A program ended before its time.
    BrokeOff(Error),
}

impl<E: Into<Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::NotRun(error.into())
    }
}

/// Makes a run, and says why the link was not what it should be where it was not; `None` when it was stopped.
pub(crate) fn run(order: Order<'_>) -> Result<Option<(Run, Option<String>)>, Trouble> {
    let Order { setting, seed, .. } = order;
    let config = setting.config(seed).map_err(Error::failed)?;
    let mtu = u16::try_from(setting.packet_size.get()).map_err(Error::failed)?;
    let count = u16::try_from(config.flows.len()).map_err(Error::failed)?;
    let path = PathConfig {
        down: config.forward.clone(),
        up: config.reverse.clone(),
        base_rtt: setting.base_rtt(),
        seed,
        ports: Some(Ports {
            first: FIRST_PORT,
            count,
        }),
    };
    // For what programs write, gone when it is dropped.
    let folder = tempfile::Builder::new()
        .prefix("lowtide-score-")
        .tempdir()?;
    let folder_of = |n: usize| folder.path().join(n.to_string());
    let [start, path_of_this] = order.this;
    // Dropped last but one: whatever fails, nothing is left running.
    let ends = Ends::isolated(mtu, start)?;
    let tunnel = ends.tunnel();
    let volume = config
        .forward
        .link
        .volume_between(Time::ZERO, Time::ZERO + config.duration);
    let groups = setting.group_of_flows();
    let mut flows: Vec<Flow<'_>> = Vec::new();
    for (n, (flow, group)) in config.flows.iter().zip(groups).enumerate() {
        let end = Time::ZERO + config.duration;
        let stop = flow.stop.unwrap_or(end).min(end);
        let sized = match flow.source {
            SourceConfig::Sized(bytes) => Some(bytes),
            _ => None,
        };
        let bulk = Bytes::new((volume.as_f64() * BULK_SHARE) as u64) + BULK_MORE;
        let life = stop.since(flow.start).as_secs_f64().ceil();
        let folder = folder_of(n);
        fs::create_dir(&folder)?;
        flows.push(Flow {
            name: match config.flows.len() {
                1 => String::new(),
                _ => format!(" of flow {n}"),
            },
            tunnel,
            this: path_of_this,
            program: &order.programs[group],
            port: FIRST_PORT + n as u16,
            values: vec![
                ("host", tunnel.addresses().far().to_string()),
                ("port", (FIRST_PORT + n as u16).to_string()),
                ("seconds", life.to_string()),
                ("bytes", sized.unwrap_or(bulk).get().to_string()),
                ("dir", folder.display().to_string()),
            ],
            start: of(flow.start),
            stop: of(stop),
            is_sized: sized.is_some(),
            server: None,
            client: None,
            is_over: false,
        });
    }
    for flow in &mut flows {
        flow.server = Some(flow.start(true)?);
    }
    for flow in &mut flows {
        if !flow.wait_until_served(order.stop)? {
            return Ok(None);
        }
    }
    if !wait_for_first_packet(&mut flows, tunnel, order.stop)? {
        return Ok(None);
    }
    let probe = Programs::new(setting, seed).map_err(Error::failed)?;
    let emulation = Emulation::between(tunnel, &path, [Some(probe), None])?;
    let completed = carry(
        &mut flows,
        of(Time::ZERO + config.duration),
        &emulation,
        order.stop,
    )?;
    let Some(completed) = completed else {
        return Ok(None);
    };
    end(&mut flows);
    drop(flows);
    let (summary, [probe, _]) = emulation.finish()?;
    drop(ends);
    let Some(mut probe) = probe else {
        return Err(Error::failed("the link lost its probe").into());
    };
    for n in 0..config.flows.len() {
        if let Some(log) = sender_log(&folder_of(n)) {
            probe.note(n, &log);
        }
    }
    let run = probe.finish(&completed);
    let silent = run
        .measured
        .flows
        .iter()
        .position(|flow| flow["loss_share"].is_nan());
    if let Some(flow) = silent {
        let name = &order.programs[setting.group_of_flows()[flow]].name;
        let problem = format!(
            "flow {flow} ({name}) sent nothing: do both commands take {{host}} and {{port}}?"
        );
        return Err(Error::Failed(problem).into());
    }
    let unfaithful = (!summary.faithful).then(|| summary.complaints.join("; "));
    Ok(Some((run, unfaithful)))
}

/// A time of the link by the wall's clock.
fn of(time: Time) -> Duration {
    Duration::from_nanos(time.since(Time::ZERO).as_nanos())
}

/// Starts the clients of flows that begin with the link, and waits for the first packet: what programs need until
/// they send is not the link's time. False when all is to end.
fn wait_for_first_packet(
    flows: &mut [Flow<'_>],
    tunnel: &Tunnel,
    stop: &Stop,
) -> Result<bool, Error> {
    let begins = |flow: &&mut Flow<'_>| flow.start.is_zero();
    let mut are_any = false;
    for flow in flows.iter_mut().filter(begins) {
        flow.client = Some(flow.start(false)?);
        are_any = true;
    }
    let until = Instant::now() + READY;
    while are_any && !tunnel.near_waits() && Instant::now() < until {
        if stop.is_uttered() {
            return Ok(false);
        }
        for flow in flows.iter_mut().filter(begins) {
            flow.step(Duration::ZERO)?;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(true)
}

/// Starts and ends clients when it is time, until `end`; which flows had nothing left to send, and since
/// when; `None` when it was stopped.
fn carry(
    flows: &mut [Flow<'_>],
    end: Duration,
    emulation: &Emulation<Option<Programs>>,
    stop: &Stop,
) -> Result<Option<Vec<(usize, Time)>>, Trouble> {
    let began = emulation.started_at();
    let mut completed = Vec::new();
    loop {
        let now = began.elapsed();
        if now >= end {
            return Ok(Some(completed));
        }
        if stop.is_uttered() {
            return Ok(None);
        }
        if emulation.is_broken() {
            return Err(Error::failed("the link failed").into());
        }
        for (n, flow) in flows.iter_mut().enumerate() {
            if flow.step(now).map_err(Trouble::BrokeOff)? {
                let at = units::Duration::from_nanos(now.as_nanos() as u64);
                completed.push((n, Time::ZERO + at));
            }
        }
        let next = flows.iter().map(|flow| flow.next(now)).min();
        let rest = next.unwrap_or(end).min(end).saturating_sub(began.elapsed());
        thread::sleep(rest.min(LOOK));
    }
}

/// Ends all programs: clients first, so that servers do not go on sending to those that are gone.
fn end(flows: &mut [Flow<'_>]) {
    let clients = flows.iter().filter_map(|flow| flow.client.as_ref());
    let servers = flows.iter().filter_map(|flow| flow.server.as_ref());
    for process in clients.chain(servers) {
        process.child.terminate();
    }
    let until = Instant::now() + GRACE;
    for flow in flows {
        for mut process in flow.client.take().into_iter().chain(flow.server.take()) {
            process
                .child
                .end(until.saturating_duration_since(Instant::now()));
        }
    }
}

/// A server and a client.
struct Flow<'a> {
    /// Behind `server` and `client`, where there are several.
    name: String,
    tunnel: &'a Tunnel,
    this: &'a Path,
    program: &'a Program,
    port: u16,
    values: Vec<(&'static str, String)>,
    start: Duration,
    stop: Duration,
    /// The transfer ends by itself.
    is_sized: bool,
    server: Option<Process>,
    client: Option<Process>,
    is_over: bool,
}

impl Flow<'_> {
    /// Runs the server at the far end, or the client at the near one.
    fn start(&self, is_server: bool) -> Result<Process, Error> {
        let (addresses, tunnel) = (self.tunnel.addresses(), self.tunnel);
        let (far, near) = (addresses.far(), addresses.near());
        let (end, command, local, peer) = match is_server {
            true => (tunnel.far(), &self.program.server, far, near),
            false => (tunnel.near(), &self.program.client, near, far),
        };
        let text = filled(command, &self.values);
        let environment = [
            ("LOWTIDE", self.this.display().to_string()),
            ("LOWTIDE_LINK_LOCAL", local.to_string()),
            ("LOWTIDE_LINK_PEER", peer.to_string()),
            ("LOWTIDE_LINK_PORT", self.port.to_string()),
        ];
        end.run(|| Process::start(&text, environment))?
    }

    /// Waits for the server to listen; false when all is to end.
    fn wait_until_served(&mut self, stop: &Stop) -> Result<bool, Error> {
        let until = Instant::now() + READY;
        let port = self.port;
        while !self
            .tunnel
            .far()
            .run(|| lowtide_link::listens(Some(port)))?
        {
            if stop.is_uttered() {
                return Ok(false);
            }
            self.look_at_server()?;
            if Instant::now() > until {
                let seconds = READY.as_secs();
                let problem = format!("does not listen on port {port} after {seconds} s");
                return Err(self.failed("server", self.server.as_ref(), &problem));
            }
            thread::sleep(LOOK);
        }
        Ok(true)
    }

    fn look_at_server(&mut self) -> Result<(), Error> {
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        match server.child.has_ended()? {
            None => Ok(()),
            Some(how) => {
                let problem = format!("ended too soon ({how})");
                Err(self.failed("server", self.server.as_ref(), &problem))
            }
        }
    }

    /// Does what is due; whether the client has all that it was to fetch.
    fn step(&mut self, now: Duration) -> Result<bool, Error> {
        if self.is_over || now < self.start {
            return Ok(false);
        }
        if now >= self.stop {
            // At once: what is told to end may go on sending.
            for mut process in self.client.take().into_iter().chain(self.server.take()) {
                process.child.end(Duration::ZERO);
            }
            self.is_over = true;
            return Ok(false);
        }
        let Some(client) = &mut self.client else {
            self.client = Some(self.start(false)?);
            return Ok(false);
        };
        let Some(how) = client.child.has_ended()? else {
            self.look_at_server()?;
            return Ok(false);
        };
        if self.is_sized && how.success() {
            self.is_over = true;
            return Ok(true);
        }
        let problem = format!(
            "ended after {:.1} of {:.1} s ({how})",
            now.saturating_sub(self.start).as_secs_f64(),
            self.stop.saturating_sub(self.start).as_secs_f64()
        );
        Err(self.failed("client", self.client.as_ref(), &problem))
    }

    /// When something is due next.
    fn next(&self, now: Duration) -> Duration {
        if now < self.start {
            self.start
        } else {
            self.stop
        }
    }

    fn failed(&self, end: &str, process: Option<&Process>, problem: &str) -> Error {
        let said = process.map_or_else(String::new, Process::said);
        let (program, name) = (&self.program.name, &self.name);
        Error::Failed(format!("the {end} of {program}{name} {problem}{said}"))
    }
}

/// A program and what it said last.
struct Process {
    child: Child,
    tail: Arc<Mutex<VecDeque<u8>>>,
}

/// How much is kept of what a program says.
const TAIL: usize = 2000;

impl Process {
    fn start(text: &str, environment: [(&'static str, String); 4]) -> Result<Self, Error> {
        let (mut reader, writer) = io::pipe()?;
        let other = writer.try_clone()?;
        let outputs = [Stdio::from(writer), Stdio::from(other)];
        let child = Child::shell(OsStr::new(text), environment, outputs)?;
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&tail);
        // Ends with the last process that has the other end.
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&buffer[..n]);
                let over = kept.len().saturating_sub(TAIL);
                kept.drain(..over);
            }
        });
        Ok(Self { child, tail })
    }

    /// The last lines that it printed.
    fn said(&self) -> String {
        const LINES: usize = 4;
        // What it wrote before it ended may still be on its way.
        thread::sleep(LOOK * 10);
        let mut kept = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<String> = lines.map(|l| l.trim().escape_debug().to_string()).collect();
        match &lines[lines.len().saturating_sub(LINES)..] {
            [] => String::new(),
            last => format!(": {}", last.join(" | ")),
        }
    }
}

/// The most qlogs of a flow that are read.
const MAX_LOGS: usize = 8;

/// The largest qlog that is read.
const LOG: files::Kind = files::Kind {
    name: "qlog",
    most: 64 << 20,
};

/// What the sender of a flow has logged in its folder, if it has: of several logs the one of most packets.
/// One that cannot be read is none.
fn sender_log(folder: &Path) -> Option<SenderLog> {
    let written = ["qlog", "sqlog"].map(|ending| files::of_folder(folder, ending));
    let paths = written.into_iter().flat_map(Result::unwrap_or_default);
    let logs = paths.take(MAX_LOGS).filter_map(|path| {
        let bytes = files::read(&path, LOG).ok()?;
        SenderLog::parse(&bytes)
    });
    logs.max_by_key(|log| log.sent)
}
