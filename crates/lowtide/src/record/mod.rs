//! `lowtide record`.

pub(crate) mod answer;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::files::{self as user_files, Draft, Kind};
use lowtide_record::run::{self, RunError};
use lowtide_record::wire::Reason;
use lowtide_record::{ClientError, Plan, Progress, QueueBand, Recording, Token, Way, files};

use crate::address::resolve;
use crate::failure::Failure;
use crate::{interrupt, output};

/// Where recorders are answered, beside the port of transfers.
const PORT: u16 = 4456;

/// A file with a secret.
const SECRET: Kind = Kind {
    name: "secret",
    most: 4096,
};

/// Above this volume somebody must have said that it may be.
const MUCH: Bytes = Bytes::new(2_000_000_000);

#[derive(clap::Args)]
#[command(after_help = "\
To see it work on one machine, with an emulated link between both ends (Linux):
  lowtide link --rate 10mbit --rtt 40ms --peer 'lowtide serve --record --only' -- \\
    lowtide record 198.18.0.1 --down -o home")]
pub(crate) struct Args {
    /// Where 'lowtide serve --record' runs: host or host:port
    #[arg(value_name = "HOST")]
    server: String,

    /// Record what the link carries to here [default: this way, unless --up is given]
    #[arg(long)]
    down: bool,

    /// Record what it carries from here; with --down both at once
    #[arg(long)]
    up: bool,

    /// Beginning of the files' names: NAME.down, NAME.down.csv, NAME.json, ...
    #[arg(long, short, value_name = "NAME")]
    output: PathBuf,

    /// How long the link is kept busy
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration, help_heading = "Limits")]
    duration: Duration,

    /// The most that is sent, both ways together; what ends first ends the recording
    #[arg(long, value_name = "SIZE", default_value = "500MB", value_parser = quantity::bytes, help_heading = "Limits")]
    max_volume: Bytes,

    /// The highest rate each way; a link that carries more is not kept backlogged
    #[arg(long, value_name = "RATE", default_value = "500mbit", value_parser = quantity::rate, help_heading = "Limits")]
    max_rate: Rate,

    /// Queueing delay below which more is sent
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantity::duration, help_heading = "Limits")]
    queue_low: Duration,

    /// Queueing delay above which less is sent
    #[arg(long, value_name = "TIME", default_value = "400ms", value_parser = quantity::duration, help_heading = "Limits")]
    queue_high: Duration,

    /// Bytes of a packet, IP header included
    #[arg(long, value_name = "N", default_value_t = 1400)]
    packet: u16,

    /// Record although it may cost more than 2 GB
    #[arg(long, short)]
    yes: bool,

    /// File with the secret of the server, 16 characters or more
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Write each packet's time and queueing delay, too: NAME.down.packets.csv
    #[arg(long)]
    packets: bool,
}

impl Args {
    fn plan(&self) -> Result<Plan, Failure> {
        let plan = Plan {
            down: self.down || !self.up,
            up: self.up,
            duration: self.duration,
            max_rate: self.max_rate,
            max_volume: self.max_volume,
            queue: QueueBand {
                low: self.queue_low,
                high: self.queue_high,
            },
            packet: self.packet,
        };
        plan.check().map_err(Failure::input)?;
        Ok(plan)
    }

    /// The name of one of its files.
    fn file(&self, end: &str) -> PathBuf {
        let mut name = self.output.clone().into_os_string();
        name.push(".");
        name.push(end);
        name.into()
    }
}

/// The secret of a file, or none.
fn token(file: Option<&Path>) -> Result<Token, Failure> {
    let Some(file) = file else {
        return Ok(Token::none());
    };
    let text = user_files::read(file, SECRET).and_then(|bytes| user_files::text(file, bytes));
    Token::of(&text.map_err(Failure::input)?).ok_or_else(|| {
        let (file, least) = (file.display(), Token::LEAST);
        Failure::input(format!("{file}: a secret has {least} characters at least"))
    })
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let plan = args.plan()?;
    let token = token(args.token_file.as_deref())?;
    let server = resolve(&args.server, PORT)?;
    let most = plan.most();
    if most > MUCH && !args.yes {
        return Err(Failure::input(format!(
            "this may cost {}: say that it may with --yes, or bound it with --max-volume",
            megabytes(most)
        )));
    }
    // Before anything is sent: dropped, it leaves no trace.
    let json = args.file("json");
    Draft::of(&json).map_err(|e| Failure::input(format!("--output: {}: {e}", json.display())))?;
    let ways = match (plan.down, plan.up) {
        (true, true) => "down and up",
        (true, false) => "down",
        _ => "up",
    };
    output::say(format_args!(
        "records {ways} with {server} for {} s, {} s in all: at most {}, {} Mbit/s each way, \
         a queue of {:.0} to {:.0} ms",
        plan.duration.as_secs_f64(),
        plan.length().as_secs_f64(),
        megabytes(most),
        plan.max_rate.as_mbps(),
        plan.queue.low.as_millis_f64(),
        plan.queue.high.as_millis_f64(),
    ));
    let began = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut live = Live::default();
    let (noted, signal) = interrupt::stopping(interrupt::END, |stop| {
        let show = |how: &Progress| live.show(how, stop.is_uttered());
        run::record(plan, token, server, || stop.is_uttered(), show)
    })?;
    live.end();
    let failure = |problem: String| match signal {
        None => Failure::Run(problem),
        Some(signal) => Failure::Interrupted { signal, problem },
    };
    let noted = noted.map_err(|e| match e {
        RunError::Client(ClientError::Refused(Reason::Token | Reason::Plan)) => Failure::input(e),
        e => failure(e.to_string()),
    })?;
    if noted.plan != plan {
        output::say(format_args!(
            "the server gives less: {} s, {}, {} Mbit/s",
            noted.plan.duration.as_secs_f64(),
            megabytes(noted.plan.max_volume),
            noted.plan.max_rate.as_mbps()
        ));
    }
    let recording = Recording::of(&noted).ok_or_else(|| {
        let why = noted
            .problem
            .as_deref()
            .unwrap_or("do packets of this size pass? try --packet 1280");
        failure(format!("nothing was recorded: {why}"))
    })?;
    let origin = files::Origin {
        server: args.server.clone(),
        unix_time_s: began.map_or(0, |since| since.as_secs()),
        kernel_times: run::KERNEL_TIMES,
    };
    write(args, &recording, &origin)?;
    output::print(shown(&recording).as_bytes())?;
    match &recording.problem {
        None => Ok(()),
        Some(problem) => Err(failure(format!(
            "{problem}; what came until then is in the files"
        ))),
    }
}

fn write(args: &Args, recording: &Recording, origin: &files::Origin) -> Result<(), Failure> {
    let ways = [("down", &recording.down), ("up", &recording.up)];
    for (name, way) in ways {
        let Some(way) = way else { continue };
        let put =
            |end: &str, bytes: &[u8]| output::write(&args.file(&format!("{name}{end}")), bytes);
        put("", &files::opportunities(way, name))?;
        put(".csv", &files::rates(way, name))?;
        put(".delay.csv", &files::base_delay(way))?;
        if args.packets {
            put(".packets.csv", &files::packets(way))?;
        }
    }
    if let Some(delay) = files::quiet_delay(recording) {
        let name = if recording.plan.down { "up" } else { "down" };
        output::write(&args.file(&format!("{name}.delay.csv")), &delay)?;
    }
    let json = files::json(recording, origin).map_err(Failure::run)?;
    output::write(&args.file("json"), &json)
}

/// What was recorded, for people.
fn shown(recording: &Recording) -> String {
    let mut text = String::new();
    let ways = [("down", &recording.down), ("up", &recording.up)];
    for (name, way) in ways {
        if let Some(way) = way {
            text.push_str(&shown_way(name, way));
        }
    }
    let clocks = &recording.clocks;
    let drift = if clocks.is_corrected {
        let ppm = clocks.drift_ppm.abs();
        let is_slower = clocks.drift_ppm < 0.0;
        let how = if is_slower { "slower" } else { "faster" };
        format!("; this clock runs {ppm:.0} ppm {how} than the server's (corrected)")
    } else {
        String::new()
    };
    text.push_str(&format!(
        "shortest round trip {:.1} ms{drift}\n",
        clocks.base_rtt_us / 1e3
    ));
    text
}

fn shown_way(name: &str, way: &Way) -> String {
    let [p5, p50, p95] = way.queue_percentiles().map(Duration::as_millis_f64);
    let lost = f64::from(way.lost) / f64::from(way.sent.max(1)) * 100.0;
    format!(
        "{name:<5} {:.2} Mbit/s over {:.1} s, longest pause {:.0} ms; queue {p5:.0}/{p50:.0}/{p95:.0} ms \
         (5, 50, 95 %); lost {lost:.2} %; not backlogged {:.1} %{}\n",
        way.mean().as_mbps(),
        way.length.as_secs_f64(),
        way.longest_gap().as_millis_f64(),
        way.idle_share() * 100.0,
        if way.idle_share() > 0.05 {
            ": a lower bound there"
        } else {
            ""
        }
    )
}

fn megabytes(bytes: Bytes) -> String {
    format!("{:.0} MB", bytes.as_f64() / 1e6)
}

/// The live line, on a terminal.
#[derive(Default)]
struct Live {
    has_shown: bool,
    has_told: bool,
}

impl Live {
    fn show(&mut self, how: &Progress, is_ending: bool) {
        let mut out = std::io::stderr();
        if is_ending && !self.has_told {
            self.has_told = true;
            self.end();
            output::say("ending, which takes 10 s at most; Ctrl-C again discards the recording");
        }
        if out.is_terminal() {
            self.has_shown = true;
            let _ = write!(
                out,
                "\r{:5.1} s  down {:.1} MB  up {:.1} MB ",
                how.elapsed.as_secs_f64(),
                how.down.as_f64() / 1e6,
                how.up.as_f64() / 1e6,
            );
        }
    }

    fn end(&self) {
        if self.has_shown {
            let _ = writeln!(std::io::stderr());
        }
    }
}
