//! `lowtide fetch`.

use std::path::PathBuf;
use std::time::Duration as Wall;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration};
use lowtide_lab::contender::Contenders;
use lowtide_transfer::{Fetched, Interval, Outcome, PORT, Plan};

use super::printer::Printer;
use super::text;
use crate::address::resolve;
use crate::failure::Failure;
use crate::flags::{JsonFlag, QlogFlag};
use crate::{interrupt, output};

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
    qlog_version: QlogFlag,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    #[command(flatten)]
    json: JsonFlag,
}

impl Args {
    fn plan(&self) -> Result<Plan, Failure> {
        let default = self.bytes.is_none().then_some(DEFAULT_DURATION);
        Ok(Plan {
            target: resolve(&self.address, PORT)?,
            server_name: self.server_name.clone(),
            certificate: self.ca.clone(),
            is_upload: self.upload,
            count: self.bytes.map(Bytes::get),
            duration: self.duration.or(default),
            connections: self.connections,
            streams: self.streams,
            max_ack_delay: self.max_ack_delay,
            controller: self.cc.clone(),
            is_recorded: self.qlog.is_some() || self.report.is_some(),
        })
    }
}

/// Longest time without `--duration` and `--bytes`.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let plan = args.plan()?;
    let folders = [args.report.as_deref(), args.qlog.as_deref()];
    output::check([args.json.file()], folders)?;
    let printer = (!args.json.is_printed()).then(|| Printer::new(missing));
    let printer = printer.transpose()?;
    let tell = |second: Option<&Interval>| {
        if let Some(printer) = &printer {
            printer.line(second.map_or_else(|| text::HEADING.to_string(), text::second));
        }
    };
    let (done, signal) = interrupt::stopping(interrupt::END, |stop| {
        lowtide_transfer::fetch(&plan, contenders.registry(), stop, tell)
    })?;
    let interrupted = || {
        let problem = "interrupted".to_string();
        let signal = signal.unwrap_or_default();
        Err(Failure::Interrupted { signal, problem })
    };
    let Some(fetched) = done? else {
        return interrupted();
    };
    // Whoever interrupts what is left wants no more of it: it may block.
    let shown = || {
        if let Some(printer) = printer {
            // Whoever reads it wants all of it, and in order.
            printer.finish(Wall::MAX);
        }
        show(args, &fetched)
    };
    interrupt::with_farewell(|| {}, shown)?;
    let failed = |problem: &str| Err(Failure::run(format!("{}: {problem}", plan.target)));
    match &fetched.outcome {
        Outcome::Complete if fetched.summary.received_bytes > 0 => Ok(()),
        Outcome::Complete if args.upload => {
            failed("the server did not say that it received anything")
        }
        Outcome::Complete => failed("nothing was transferred"),
        Outcome::Interrupted => interrupted(),
        Outcome::CutShort(problem) => failed(&format!("cut short: {problem}")),
    }
}

/// Shows and writes what the flags ask for.
fn show(args: &Args, fetched: &Fetched) -> Result<(), Failure> {
    let summary = &fetched.summary;
    if !args.json.is_printed() {
        output::print(format!("{}\n", text::summary(summary)).as_bytes())?;
    }
    args.json.put(summary)?;
    if let Some(folder) = &args.qlog {
        fetched.write_qlogs(folder, args.qlog_version.version())?;
        output::say(format_args!("qlog: {}", folder.display()));
    }
    if let Some(folder) = &args.report {
        let path = folder.join("index.html");
        fetched.write_report(&path)?;
        output::say(format_args!("report: {}", path.display()));
    }
    Ok(())
}

fn missing(lines: u64) -> String {
    format!("({lines} lines are missing here)")
}
