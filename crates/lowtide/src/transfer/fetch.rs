//! `lowtide fetch`.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration as Wall, Instant};

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration};
use lowtide_lab::contender::Contenders;
use s2n_quic::Client;

use super::bounds::SILENCE;
use super::client::{self, Connections, Packets, Plan};
use super::printer::Printer;
use super::progress::Progress;
use super::protocol::{PORT, SAMPLES};
use super::recorded;
use super::report::{Interval, Outcome, Summary, Transferred};
use super::statistics::{ByConnection, SenderState};
use super::{DEFAULT_CONTROLLER, SECOND, bounds, controllers, interrupt, runtime, trust};
use crate::address::resolve;
use crate::failure::Failure;
use crate::json_flag::JsonFlag;
use crate::output;
use crate::qlog_version::QlogVersionArg;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server: host:port
    #[arg(value_name = "ADDR")]
    address: String,

    /// Controller of what is sent, as in bbr or cubic:abe=true; on a download the server must
    /// allow it, with --allow-cc [default: ebb on an upload, the server's on a download]
    #[arg(long, value_name = "NAME")]
    cc: Option<String>,

    /// How long, as in 3s [default: 10s, or until --bytes are there]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    duration: Option<Duration>,

    /// How much on each stream, as in 100MB [default: as much as --duration allows]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    bytes: Option<Bytes>,

    /// Send to the server instead
    #[arg(long)]
    upload: bool,

    /// Streams on each connection
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    streams: u32,

    /// Connections
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: u32,

    /// Longest delay of an acknowledgment: at 1ms one is sent each millisecond in which packets
    /// arrive, at 0ms for each; at s2n-quic's own 25ms for every tenth, which starves filters
    #[arg(long, value_name = "TIME", default_value = "1ms",
          value_parser = quantity::duration_or_zero)]
    max_ack_delay: Duration,

    /// Trust only the server that has this certificate, PEM [default: any]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Name that the certificate must have
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    server_name: String,

    /// Write a qlog of each connection's sender into this folder: its metrics and its controller's
    /// phases, sampled every 20 ms
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,

    #[command(flatten)]
    qlog_version: QlogVersionArg,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    #[command(flatten)]
    json: JsonFlag,
}

impl Args {
    /// Whether the sender must be recorded.
    fn records(&self) -> bool {
        self.qlog.is_some() || self.report.is_some()
    }

    /// Controller of what this side sends: acknowledgments at least.
    fn own_controller(&self) -> &str {
        match &self.cc {
            Some(cc) if self.upload => cc,
            _ => DEFAULT_CONTROLLER,
        }
    }
}

/// Longest time without `--duration` and `--bytes`.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// How long the server's last reports are waited for, at least, and at most while packets still come:
/// queues on the way may be long.
const LAST_REPORTS: Wall = Wall::from_secs(2);
const LAST_PACKETS: Wall = Wall::from_secs(5);

/// A server from which nothing has come for so long when its last reports should be there is gone.
const GONE: Wall = Wall::from_millis(1_500);

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let runtime = runtime()?;
    let interrupted = runtime.block_on(fetch(args, contenders))?;
    drop(runtime);
    match interrupted {
        None => Ok(()),
        Some(code) => {
            output::say(format_args!("error: interrupted"));
            std::process::exit(code)
        }
    }
}

/// The exit code of a transfer that was interrupted.
async fn fetch(args: &Args, contenders: &Contenders) -> Result<Option<i32>, Failure> {
    let target = resolve(&args.address, PORT)?;
    let statistics = ByConnection::default();
    if let Some(cc) = &args.cc {
        // A typing mistake need not travel.
        controllers(contenders, cc)?;
    }
    let parts = controllers(contenders, args.own_controller())?
        .with_observers(statistics.observers())
        .parts();
    let tls = trust::client(args.ca.as_deref())?;
    let limits = bounds::of_client(args.connections, args.max_ack_delay.into())?;
    let local = if target.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let failed = |e: &dyn Display| Failure::run(format!("{target}: {e}"));
    let packets = Packets::default();
    let client = client::endpoint(tls, local, limits, parts, packets.clone());
    let mut client = client.map_err(|e| failed(&e))?;
    let plan = Plan {
        target,
        server_name: args.server_name.clone(),
        is_upload: args.upload,
        count: args.bytes.map(Bytes::get),
        connections: args.connections,
        streams: args.streams,
        is_recorded: args.records(),
        server_controller: args.cc.clone().filter(|_| !args.upload),
    };
    let opened = tokio::select! {
        opened = Connections::open(&client, &plan, &statistics) => opened,
        code = interrupt() => {
            say_goodbye(&mut client).await;
            return Ok(Some(code));
        }
    };
    let connections = match opened {
        Ok(connections) => connections,
        Err(problem) => {
            say_goodbye(&mut client).await;
            return Err(failed(&problem));
        }
    };
    let mut transfer = Transfer {
        args,
        target,
        statistics,
        connections,
        packets,
        intervals: Vec::new(),
        is_final: false,
    };
    let printer = (!args.json.is_printed()).then(|| Printer::new(missing));
    let printer = printer.transpose()?;
    let mut outcome = transfer.watch(printer.as_ref()).await;
    transfer.finish(&mut outcome).await;
    let summary = transfer.summary(&outcome);
    transfer.connections.close();
    say_goodbye(&mut client).await;
    // What is left is printing, which may block; whoever interrupts that wants no more of it.
    tokio::spawn(async { std::process::exit(interrupt().await) });
    if let Some(printer) = printer {
        // Whoever reads it wants all of it, and in order.
        printer.finish(Wall::MAX);
    }
    show(args, &summary)?;
    recorded::write(
        args.qlog.as_deref().map(|f| (f, args.qlog_version.get())),
        args.report.as_deref(),
        &summary,
        &transfer.progress().take_recordings(),
    )?;
    match outcome {
        Outcome::Complete if summary.received_bytes == 0 => Err(failed(&if args.upload {
            "the server did not say that it received anything"
        } else {
            "nothing was transferred"
        })),
        Outcome::Complete => Ok(None),
        Outcome::Interrupted(code) => Ok(Some(code)),
        Outcome::CutShort(problem) => Err(failed(&format!("cut short: {problem}"))),
    }
}

/// Lets servers learn that connections have ended, so that they do not keep them; a second is plenty.
async fn say_goodbye(client: &mut Client) {
    let _ = tokio::time::timeout(SECOND, client.wait_idle()).await;
}

/// Shows the summary as the flags say.
fn show(args: &Args, summary: &Summary<'_>) -> Result<(), Failure> {
    if !args.json.is_printed() {
        output::print(format!("{}\n", summary.text()).as_bytes())?;
    }
    args.json.put(summary)
}

/// A transfer under way.
struct Transfer<'a> {
    args: &'a Args,
    target: SocketAddr,
    statistics: ByConnection,
    connections: Connections,
    packets: Packets,
    intervals: Vec<Interval>,
    /// The senders' state is that at the end.
    is_final: bool,
}

impl Transfer<'_> {
    fn progress(&self) -> &Progress {
        &self.connections.progress
    }

    /// Shows each second until the time is over, all streams have ended, or something went wrong.
    async fn watch(&mut self, printer: Option<&Printer>) -> Outcome {
        let print = |line: String| {
            if let Some(printer) = printer {
                printer.line(line);
            }
        };
        print(Interval::HEADING.to_string());
        let args = self.args;
        let default = args.bytes.is_none().then_some(DEFAULT_DURATION);
        let limit = args.duration.or(default);
        let mut seconds = tokio::time::interval(SECOND);
        seconds.tick().await;
        let mut until = pin!(async {
            match limit {
                Some(limit) => tokio::time::sleep(limit.into()).await,
                None => std::future::pending().await,
            }
        });
        let mut interrupted = pin!(interrupt());
        loop {
            tokio::select! {
                () = &mut until => return Outcome::Complete,
                code = &mut interrupted => return Outcome::Interrupted(code),
                ended = self.connections.streams.join_next() => match ended {
                    Some(Ok(Err(problem))) => return Outcome::CutShort(problem),
                    Some(Err(panic)) => return Outcome::CutShort(panic.to_string()),
                    None | Some(Ok(Ok(()))) => if self.connections.streams.is_empty() {
                        return Outcome::Complete;
                    },
                },
                _ = seconds.tick() => {
                    self.take_samples();
                    let second = self.interval(self.progress().elapsed());
                    self.intervals.push(second);
                    print(second.line());
                    if self.progress().silence() > SILENCE {
                        let silent = SILENCE.as_secs();
                        return Outcome::CutShort(format!("nothing came for {silent} s"));
                    }
                }
            }
        }
    }

    /// Waits for what the server has not told yet, takes the last interval, and says so when the
    /// server is not there any more.
    async fn finish(&mut self, outcome: &mut Outcome) {
        let mut end = self.progress().elapsed();
        let is_all = self.connections.streams.is_empty();
        let mut last = match (self.args.upload, is_all) {
            (false, _) => Some(self.interval(end)),
            // Of what came until the server last said what came: more is under way, maybe in a long
            // queue.
            (true, false) => {
                end = self.progress().heard_at();
                Some(self.interval(end))
            }
            (true, true) => None,
        };
        if !matches!(outcome, Outcome::CutShort(_)) {
            self.connections.ask_for_last_reports();
            let is_gone = self.wait_for_last_reports().await;
            let has_all = is_all && !self.args.upload;
            if *outcome == Outcome::Complete && is_gone && !has_all {
                let at = self.progress().heard_at().as_secs_f64();
                *outcome = Outcome::CutShort(format!("nothing came after {at:.1} s"));
            }
        }
        if matches!(outcome, Outcome::CutShort(_)) {
            // Silence is no part of the transfer.
            end = self.progress().heard_at();
            let seconds = end.as_secs_f64();
            while self
                .intervals
                .last()
                .is_some_and(|i| i.start_s >= seconds || i.received_bytes == 0)
            {
                self.intervals.pop();
            }
            if let Some(cut) = self.intervals.pop_if(|i| i.end_s > seconds) {
                let shorter = Interval::new(cut.start_s, seconds, cut.received_bytes, cut.sender);
                self.intervals.push(shorter);
            }
            last = Some(self.interval(end));
        }
        let sender = self.sender();
        let mut last = last.unwrap_or_else(|| self.interval(end));
        last.sender = sender;
        match self.intervals.last_mut() {
            Some(before) if last.received_bytes == 0 => before.sender = sender,
            _ => self.intervals.push(last),
        }
        self.take_samples();
    }

    /// Waits for last reports. Whether the server is gone instead.
    async fn wait_for_last_reports(&mut self) -> bool {
        let asked = Instant::now();
        let mut newest = (self.packets.count(), asked);
        loop {
            self.is_final = self.progress().is_confirmed();
            if self.is_final {
                return false;
            }
            let count = self.packets.count();
            if count != newest.0 {
                newest = (count, Instant::now());
            }
            let is_silent = newest.1.elapsed() > GONE;
            let waited = asked.elapsed();
            if waited > LAST_PACKETS || (waited > LAST_REPORTS && is_silent) {
                return is_silent && !self.connections.are_alive();
            }
            tokio::time::sleep(SECOND / 100).await;
        }
    }

    /// Keeps what the senders of an upload saw.
    fn take_samples(&self) {
        if !(self.args.upload && self.args.records()) {
            return;
        }
        for (index, id) in self.connections.ids().enumerate() {
            while let Some(samples) = self
                .statistics
                .of(id)
                .map(|sender| sender.take_samples(SAMPLES))
                .filter(|samples| !samples.is_empty())
            {
                self.progress().record(index, samples);
            }
        }
    }

    fn summary<'s>(&'s self, outcome: &'s Outcome) -> Summary<'s> {
        let args = self.args;
        Summary::new(Transferred {
            address: self.target,
            is_upload: args.upload,
            outcome,
            controller: if args.upload {
                Some(args.own_controller().to_string())
            } else {
                self.progress().server_controller()
            },
            connections: args.connections,
            streams: args.streams,
            sender: self.intervals.last().and_then(|i| i.sender),
            is_final: self.is_final,
            intervals: &self.intervals,
        })
    }

    /// From the last interval to `end`.
    fn interval(&self, end: Wall) -> Interval {
        let start = self.intervals.last().map_or(0.0, |i| i.end_s);
        let before: u64 = self.intervals.iter().map(|i| i.received_bytes).sum();
        let bytes = self.progress().received().saturating_sub(before);
        let end = end.as_secs_f64().max(start);
        Interval::new(start, end, bytes, self.sender())
    }

    /// The state of all connections' senders.
    fn sender(&self) -> Option<SenderState> {
        if !self.args.upload {
            return self.progress().server_sender();
        }
        let senders = self
            .connections
            .ids()
            .filter_map(|id| self.statistics.of(id));
        SenderState::together(senders.map(|s| s.state()))
    }
}

fn missing(lines: u64) -> String {
    format!("({lines} lines are missing here)")
}
