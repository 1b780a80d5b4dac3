//! `lowtide trace`.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::setting::Problem;
use lowtide_lab::traces;
use lowtide_sim::link::MAHIMAHI_OPPORTUNITY;
use lowtide_sim::trace::import::{self, Choice, Imported};
use lowtide_sim::trace::{delay, generate, info};
use serde::Serialize;

use crate::failure::Failure;
use crate::flags::JsonFlag;
use crate::{output, table};

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Format {
    /// One millisecond a line: an opportunity
    Mahimahi,
    /// time_ms,rate_kbps
    Csv,
}

impl Format {
    /// With the time between two rates, or the bytes of an opportunity.
    fn with(self, interval: Duration, opportunity: Bytes) -> traces::Format {
        match self {
            Self::Csv => traces::Format::Series(interval),
            Self::Mahimahi => traces::Format::Mahimahi(opportunity),
        }
    }
}

/// What a file is converted from.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum From {
    /// Milliseconds of opportunities: mahimahi, Pantheon's traces, LeoReplayer's bw_*.txt, CellReplay's *-pdo
    Mahimahi,
    /// A rate series of this project
    Csv,
    /// The log of mahimahi's link or of Pantheon's tunnel: opportunities, or else departures
    MahimahiLog,
    /// LeoReplayer's delay_*.txt: a delay each 10 ms; becomes a CSV for --delay-trace
    LeoreplayerDelay,
    /// CellReplay's *-delay-light-pdo: the base delays; becomes a CSV for --delay-trace
    CellreplayDelay,
    /// Lines of seconds and Mbit/s
    Pairs,
    /// G-NetTrack's CSV, as the Irish 4G and 5G data sets: DL_bitrate, or with --uplink UL_bitrate
    Gnettrack,
    /// Lumos5G's CSV; --run chooses
    Lumos5g,
    /// The output of iperf3 --json
    Iperf3,
    /// A capture (pcap, pcapng): what came to --receiver
    Pcap,
}

impl From {
    fn format(self) -> import::Format {
        match self {
            Self::Mahimahi => import::Format::Mahimahi,
            Self::Csv => import::Format::Series,
            Self::MahimahiLog => import::Format::MahimahiLog,
            Self::LeoreplayerDelay => import::Format::LeoReplayerDelay,
            Self::CellreplayDelay => import::Format::CellReplayDelay,
            Self::Pairs => import::Format::Pairs,
            Self::Gnettrack => import::Format::GNetTrack,
            Self::Lumos5g => import::Format::Lumos5g,
            Self::Iperf3 => import::Format::Iperf3,
            Self::Pcap => import::Format::Pcap,
        }
    }
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Describe traces: length, rates in bins of 10 ms, gaps, autocorrelation
    Info {
        /// The traces; - is standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonFlag,
        /// Bytes of one opportunity
        #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
        opportunity: Option<Bytes>,
    },
    /// Convert a trace to the other format, or what others have recorded to one of ours
    Convert(ConvertArgs),
    /// Generate a trace of a link that cannot be had
    Generate(GenerateArgs),
    /// List the models of generated traces
    Models,
}

#[derive(clap::Args)]
pub(crate) struct ConvertArgs {
    /// The trace; - is standard input
    file: PathBuf,
    /// What it is [default: mahimahi, or csv where its name ends so]
    #[arg(long, value_name = "FORMAT")]
    from: Option<From>,
    /// What it becomes
    #[arg(long)]
    to: Format,
    /// The uplink's rates (gnettrack)
    #[arg(long, requires = "from")]
    uplink: bool,
    /// The run (lumos5g)
    #[arg(long, value_name = "N", requires = "from")]
    run: Option<u64>,
    /// Whose packets count (pcap) [default: the address to which most bytes go]
    #[arg(long, value_name = "ADDRESS", requires = "from")]
    receiver: Option<IpAddr>,
    /// Where it goes [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Time between two rates of a CSV
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = quantity::duration)]
    interval: Duration,
    /// Bytes of one opportunity
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    opportunity: Option<Bytes>,
}

#[derive(clap::Args)]
pub(crate) struct GenerateArgs {
    /// Model; 'lowtide trace models' describes them
    #[arg(long, value_name = "NAME", default_value = "lte")]
    model: String,
    /// Mean rate [default: the model's]
    #[arg(long, value_parser = quantity::rate)]
    mean: Option<Rate>,
    /// Length
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::duration)]
    duration: Duration,
    /// The same seed gives the same trace
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Format
    #[arg(long, default_value = "csv")]
    to: Format,
    /// Where it goes [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Info {
            files,
            json,
            opportunity,
        } => describe(files, json, *opportunity),
        Command::Convert(args) => convert(args),
        Command::Generate(args) => generate(args),
        Command::Models => {
            let entries = generate::named().iter().map(|named| {
                let mbps = named.model().mean().as_mbps();
                let about = format!("{} (mean {mbps} Mbit/s)", named.summary);
                (named.name, about)
            });
            output::print(table::list(16, entries).as_bytes())
        }
    }
}

fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    let (file, output) = (&args.file, args.output.as_ref());
    let choices = [
        (args.uplink, From::Gnettrack, "--uplink", "gnettrack"),
        (args.run.is_some(), From::Lumos5g, "--run", "lumos5g"),
        (args.receiver.is_some(), From::Pcap, "--receiver", "pcap"),
    ];
    for (given, of, flag, format) in choices {
        if given && args.from != Some(of) {
            let problem = format!("{flag} goes with --from {format} only");
            return Err(Failure::input(problem));
        }
    }
    let choice = Choice {
        uplink: args.uplink,
        run: args.run,
        receiver: args.receiver,
    };
    let imported = match args.from {
        None => traces::load(file, args.opportunity).map(|link| Imported::Link(Arc::new(link))),
        Some(from) => traces::import(file, from.format(), choice, args.opportunity),
    };
    let link = match (imported.map_err(Failure::input)?, args.to) {
        (Imported::Link(link), _) => link,
        (Imported::Delay(delay), Format::Csv) => {
            let text = delay::write(&delay).map_err(Failure::input)?;
            return put(&text, output);
        }
        (Imported::Delay(_), Format::Mahimahi) => {
            let problem = "delays are no opportunities: write --to csv";
            return Err(Failure::input(problem));
        }
    };
    let length = info::natural_length(&link)
        .ok_or_else(|| Failure::input(format!("{}: no length", file.display())))?;
    let size = args.opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY);
    let to = args.to.with(args.interval, size);
    let text = traces::write(&link, length, to);
    put(&text.map_err(|e| failure(&e).of(&file.display()))?, output)
}

fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    let generated = traces::generate(&args.model, args.mean, args.duration, args.seed);
    let (link, model) = generated.map_err(|e| failure(&e))?;
    let to = args.to.with(model.interval(), MAHIMAHI_OPPORTUNITY);
    let text = traces::write(&Arc::new(link), args.duration, to);
    let text = text.map_err(|e| failure(&e).of(&"the generated trace"))?;
    put(&text, args.output.as_ref())
}

/// What is wrong, by its flag.
fn failure(problem: &Problem) -> Failure {
    match problem.at.as_str() {
        "" => Failure::input(&problem.problem),
        at => Failure::input(format!("--{at}: {}", problem.problem)),
    }
}

fn put(text: &[u8], output: Option<&PathBuf>) -> Result<(), Failure> {
    match output {
        None => output::print(text),
        Some(path) => output::write(path, text),
    }
}

#[derive(Serialize)]
struct JsonInfo {
    file: String,
    length_s: f64,
    mean_mbps: f64,
    /// 5, 25, 50, 75, 95 % of the rates in bins of 10 ms.
    percentiles_mbps: [f64; 5],
    max_mbps: f64,
    variation: f64,
    /// Over bins of 100 ms and 1 s.
    variation_of_wider: [Option<f64>; 2],
    empty_share: f64,
    longest_gap_ms: f64,
    /// Times of at least 200 ms in which nothing could leave, and their mean length.
    outages: u64,
    outage_ms: f64,
    /// At 10 ms, 100 ms, 1 s and 10 s.
    autocorrelation: [Option<f64>; 4],
}

fn describe(files: &[PathBuf], json: &JsonFlag, opportunity: Option<Bytes>) -> Result<(), Failure> {
    let mut all = Vec::new();
    for file in files {
        let link = traces::load(file, opportunity).map_err(Failure::input)?;
        let info = traces::describe(&link)
            .map_err(|e| Failure::input(format!("{}: {e}", file.display())))?;
        all.push(JsonInfo {
            file: file.display().to_string(),
            length_s: info.length.as_secs_f64(),
            mean_mbps: info.mean.as_mbps(),
            percentiles_mbps: info.percentiles.map(Rate::as_mbps),
            max_mbps: info.max.as_mbps(),
            variation: info.variation,
            variation_of_wider: info.variation_of_wider,
            empty_share: info.empty_share,
            longest_gap_ms: info.longest_gap.as_millis_f64(),
            outages: info.outages,
            outage_ms: info.outage_length.as_millis_f64(),
            autocorrelation: info.autocorrelation,
        });
    }
    json.put(&all)?;
    if json.is_printed() {
        return Ok(());
    }
    let mut text = String::new();
    for i in all {
        let [p5, p25, p50, p75, p95] = i.percentiles_mbps;
        let shown = |values: &[Option<f64>]| {
            let values = values.iter();
            let values = values.map(|v| v.map_or("-".to_string(), |v| format!("{v:.2}")));
            values.collect::<Vec<_>>().join(" / ")
        };
        let [wider, widest] = i.variation_of_wider;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}\n  length          {:.1} s\n  mean            {:.2} Mbit/s\n  \
             10 ms rates     {p5:.2} / {p25:.2} / {p50:.2} / {p75:.2} / {p95:.2} Mbit/s (5, 25, 50, 75, 95 %), most {:.2}\n  \
             variation       {} (standard deviation / mean of rates over 10 ms, 100 ms, 1 s)\n  \
             empty bins      {:.1} %\n  longest gap     {} ms\n  \
             outages         {} of 200 ms and more, {:.0} ms on average\n  \
             autocorrelation {} (at 10 ms, 100 ms, 1 s, 10 s)",
            i.file,
            i.length_s,
            i.mean_mbps,
            i.max_mbps,
            shown(&[Some(i.variation), wider, widest]),
            i.empty_share * 100.0,
            i.longest_gap_ms,
            i.outages,
            i.outage_ms,
            shown(&i.autocorrelation),
        );
    }
    output::print(text.as_bytes())
}
