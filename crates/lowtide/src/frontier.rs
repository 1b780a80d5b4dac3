//! `lowtide frontier`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowtide_cc::units::Duration;
use lowtide_cc::units::quantity;
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::frontier::{self, Curve, Frontier, Question, Row, Swept, TracePath};
use lowtide_lab::json::JsonFrontier;
use lowtide_lab::setting::{
    BufferText, Host, Resolver, Sections, Setting, SpanText, default_buffer_name,
};
use lowtide_report::figures;
use lowtide_report::report::{FrontierResult, Report};
use lowtide_sim::queue::{self, QueueLimit};

use crate::failure::Failure;
use crate::flags::{FigureFlags, Jobs, Printed};
use crate::knobs::{self, Knobs};
use crate::output;
use crate::progress;
use crate::table::{self, Column, Look};

/// A buffer, as it was typed.
#[derive(Clone, Debug)]
struct Buffer {
    text: String,
    limit: QueueLimit,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Controllers, as in bbr,rbbr:alpha=0.5/0.7/0.9 with each value a point of a line, or one each
    /// time [default: all of 'lowtide list']
    #[arg(long = "cc", value_name = "NAME")]
    controllers: Vec<String>,

    /// The controller that all are measured against
    #[arg(long, value_name = "NAME", default_value = "bbr")]
    base: String,

    /// Ratios of throughput at which the delay of a line is looked up
    #[arg(long, value_name = "RATIO", value_delimiter = ',', default_value = "0.95,0.97,1",
          value_parser = ratio)]
    at: Vec<f64>,

    #[command(flatten)]
    traces: Knobs<knobs::OfTraces>,

    /// Round-trip propagation delays
    #[arg(long, value_name = "TIME", value_delimiter = ',', default_value = "40ms",
          value_parser = quantity::duration, help_heading = "Link")]
    rtt: Vec<Duration>,

    /// Queues before the bottleneck: 2bdp, 100p (packets), 64kB, 50ms or inf [default: 2bdp, at
    /// least 1200kB]
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', value_parser = buffer,
          help_heading = "Link")]
    buffer: Vec<Buffer>,

    #[command(flatten, next_help_heading = "Run")]
    jobs: Jobs,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the frontier of each RTT and buffer as SVG and PNG into this folder, of all traces
    /// together and of each by name; of up to six controllers an overview
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    figures: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Output")]
    style: FigureFlags,

    #[command(flatten)]
    printed: Printed,
}

fn buffer(text: &str) -> Result<Buffer, quantity::QuantityError> {
    let limit = queue::parse(text)?;
    let text = text.trim().to_string();
    Ok(Buffer { text, limit })
}

/// The largest ratio that is looked up.
const MAX_RATIO: f64 = 1000.0;

fn ratio(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().parse().ok();
    let fitting = value.filter(|v| *v > 0.0 && *v <= MAX_RATIO);
    fitting.ok_or_else(|| format!("a ratio is a number above 0 and up to {MAX_RATIO}, as in 0.97"))
}

/// What stands below the tables.
const NOTE: &str = "Ratios against the base: geometric means over the traces, and the worst trace; delay is the \
                    95th percentile of the queueing delay. Dominated: on so many traces another one had more \
                    throughput and less delay, each by more than 1 %.";

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let style = args.style.style()?;
    let question = Question {
        base: base(&args.base, contenders)?,
        curves: curves(&args.controllers, contenders)?,
        paths: paths(args, contenders)?,
        at: args.at.clone(),
    };
    let points = question.curves.iter().flat_map(|curve| &curve.points);
    for contender in points.chain([&question.base]) {
        for setting in question.paths.iter().flat_map(|path| &path.settings) {
            Host::check_senders(&setting.run_by(contender)).map_err(Failure::input)?;
        }
    }
    let folders = [args.report.as_deref(), args.figures.as_deref()];
    output::check([args.printed.json.file()], folders)?;
    let bar = progress::bar(question.count_runs());
    let started = Instant::now();
    let jobs = args.jobs.threads();
    let frontier = frontier::measure(&question, jobs, &|| bar.inc()).map_err(Failure::run)?;
    let wall = (!args.printed.no_timing).then(|| started.elapsed().as_secs_f64());
    bar.finish_and_clear();
    // What was computed is shown even when the report cannot be written.
    args.printed.json.put(&JsonFrontier::new(&frontier, wall))?;
    if !args.printed.json.is_printed() {
        let look = Look::of_output(args.printed.markdown);
        output::print(text(&frontier, wall, look).as_bytes())?;
    }
    if let Some(dir) = &args.report {
        let result = FrontierResult::new(&frontier);
        let report = Report {
            title: frontier.title(),
            frontiers: vec![result.map_err(Failure::run)?],
            ..Report::default()
        };
        output::write_report(report, dir)?;
    }
    if let Some(dir) = &args.figures {
        figures::write_frontier(&frontier, dir, &style).map_err(output::unwritable(dir))?;
        output::say(format_args!("figures: {}", dir.display()));
    }
    output::complain(frontier.failed.iter())
}

fn base(spec: &str, contenders: &Contenders) -> Result<Contender, Failure> {
    let base = contenders.parse(spec);
    base.map_err(|e| Failure::input(format!("--base: {e}")))
}

/// The controllers asked for; without any, the usual ones.
fn curves(specs: &[String], contenders: &Contenders) -> Result<Vec<Swept>, Failure> {
    if specs.is_empty() {
        return Ok(contenders.usual().into_iter().map(Swept::of).collect());
    }
    let mut curves = Vec::new();
    for specs in specs {
        let swept = Swept::parse_all(specs, contenders);
        curves.extend(swept.map_err(|e| Failure::input(format!("--cc: {e}")))?);
    }
    Ok(curves)
}

/// Every RTT with every buffer, all traces behind each.
fn paths(args: &Args, contenders: &Contenders) -> Result<Vec<TracePath>, Failure> {
    let mut resolver = Resolver::new(contenders, Path::new(""));
    if !args.traces.has_traces() {
        return Err(Failure::input(
            "there is no link: name a folder with --traces, or files with --trace",
        ));
    }
    let links = args.traces.sections(&mut resolver)?;
    let buffers: Vec<Option<&Buffer>> = match &args.buffer[..] {
        [] => vec![None],
        typed => typed.iter().map(Some).collect(),
    };
    let mut paths = Vec::new();
    for rtt in &args.rtt {
        for buffer in &buffers {
            let setting = |sections: &Sections| -> Result<Setting, Failure> {
                let mut sections = sections.clone();
                sections.path.rtt = Some(SpanText(*rtt));
                sections.link.buffer = buffer.map(|buffer| BufferText(buffer.limit));
                let setting = resolver.setting(&sections);
                setting.map_err(|problem| links.failure(&problem))
            };
            let settings: Vec<Setting> = links
                .sections
                .iter()
                .map(setting)
                .collect::<Result<_, _>>()?;
            paths.push(TracePath {
                rtt: *rtt,
                buffer: buffer.map_or_else(
                    || default_buffer_name(&settings).to_string(),
                    |buffer| buffer.text.clone(),
                ),
                settings,
            });
        }
    }
    Ok(paths)
}

/// The tables of each path.
fn text(frontier: &Frontier, wall: Option<f64>, look: Look) -> String {
    let (head, count) = (look.heading(), frontier.count());
    let mut text = String::new();
    for rows in frontier.rows.chunk_by(Row::is_beside) {
        let path = &rows[0];
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{head}RTT {} ms, buffer {}, {count}, against {}\n",
            path.rtt_ms, path.buffer, frontier.base
        );
        text.push_str(&table_of_rows(rows, look));
        text.push('\n');
        let is_line =
            |c: &&Curve| c.points.len() > 1 && c.rtt_ms == path.rtt_ms && c.buffer == path.buffer;
        let lines: Vec<&Curve> = frontier.curves.iter().filter(is_line).collect();
        if !lines.is_empty() {
            text.push_str(&table_of_lines(&lines, look));
            text.push('\n');
        }
    }
    if let Some(wall) = wall.filter(|_| !look.is_markdown()) {
        let packets = frontier.simulated_packets;
        let _ = writeln!(text, "{packets} packets simulated in {wall:.2} s\n");
    }
    text + &table::note(NOTE, look)
}

/// Digits of a ratio.
const DIGITS: usize = 3;

fn shown(ratio: f64) -> String {
    if ratio.is_finite() {
        format!("{ratio:.DIGITS$}")
    } else {
        "-".to_string()
    }
}

fn table_of_rows(rows: &[Row], look: Look) -> String {
    let columns = [
        ("throughput", 1),
        ("worst", 2),
        ("delay", 1),
        ("worst", 2),
        ("dominated", 3),
    ];
    let row = |row: &Row| {
        let with = |ratio: f64, half: Option<f64>| {
            shown(ratio) + &output::interval(half.filter(|h| h.is_finite()), DIGITS)
        };
        let of_all = &row.summary;
        let cells = vec![
            with(
                of_all.throughput_ratio,
                row.ci95.map(|c| c.throughput_ratio),
            ),
            shown(of_all.throughput_ratio_min),
            with(of_all.queue_p95_ratio, row.ci95.map(|c| c.queue_p95_ratio)),
            shown(of_all.queue_p95_ratio_max),
            row.dominated_on.len().to_string(),
        ];
        (row.controller.clone(), cells)
    };
    table::table("controller", &columns, rows.iter().map(row), look)
}

/// The delay of each line where it reaches the throughputs asked for.
fn table_of_lines(lines: &[&Curve], look: Look) -> String {
    let at = lines.first().map_or(&[][..], |line| &line.at);
    let heads = at.iter().map(|at| format!("at {}", at.throughput_ratio));
    let heads: Vec<String> = heads.collect();
    let columns: Vec<Column<'_>> = heads.iter().map(|head| (head.as_str(), 1)).collect();
    let row = |line: &&Curve| {
        let cells = line.at.iter().map(|at| at.queue_p95_ratio);
        let cells = cells.map(|ratio| shown(ratio.unwrap_or(f64::NAN)));
        (line.controller.clone(), cells.collect())
    };
    table::table("delay on the line", &columns, lines.iter().map(row), look)
}
