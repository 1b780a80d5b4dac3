//! `lowtide compare`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use lowtide_cc::registry;
use lowtide_lab::compare::{self, Comparison, Contender, Host, Plan};
use lowtide_lab::report;
use lowtide_lab::scenario::Scenario;

use crate::failure::Failure;
use crate::output::{self, JsonComparison};
use crate::scenario_args::ScenarioArgs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Controller to compare, as in bbr or cubic:hystart=true; repeat it for several
    /// [default: all of 'lowtide list']
    #[arg(long = "cc", value_name = "NAME")]
    controllers: Vec<String>,

    #[command(flatten)]
    scenario: ScenarioArgs,

    /// Repeat each run with so many seeds; mean and 95 % interval are shown
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Run",
          value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,

    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Run")]
    seed: u64,

    /// What carries the flows: the simulator's own transports, or the s2n-quic library in virtual
    /// time on the same links
    #[arg(
        long,
        value_name = "HOST",
        default_value = "model",
        help_heading = "Run"
    )]
    host: HostArg,

    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Run",
          value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: Option<u64>,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Print one JSON object (an array where there are several traces)
    #[arg(long, help_heading = "Output", conflicts_with_all = ["csv", "markdown"])]
    json: bool,

    /// Print CSV, a line for each controller
    #[arg(long, help_heading = "Output", conflicts_with = "markdown")]
    csv: bool,

    /// Print Markdown tables
    #[arg(long, help_heading = "Output")]
    markdown: bool,

    /// Leave out how long it took, so that the same runs give the same bytes
    #[arg(long, help_heading = "Output")]
    no_timing: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum HostArg {
    Model,
    #[cfg(feature = "quic")]
    Quic,
}

impl From<HostArg> for Host {
    fn from(host: HostArg) -> Self {
        match host {
            HostArg::Model => Self::Model,
            #[cfg(feature = "quic")]
            HostArg::Quic => Self::Quic,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let contenders = contenders(&args.controllers)?;
    let scenarios = args.scenario.scenarios()?;
    let plan = Plan {
        host: args.host.into(),
        seeds: args.seeds,
        first_seed: args.seed,
        jobs: args.jobs.unwrap_or(0) as usize,
        timelines: args.report.is_some(),
    };
    let runs = compare::count_runs(&contenders, &plan) * scenarios.len() as u64;
    let bar = progress_bar(runs);
    let mut done: Vec<(Scenario, Comparison)> = Vec::new();
    let mut walls = Vec::new();
    for scenario in scenarios {
        let started = Instant::now();
        let comparison = compare::compare(&scenario, &contenders, &plan, &|| bar.inc(1))
            .map_err(|e| Failure::input(format!("{}: {e}", scenario.link_name)))?;
        walls.push(started.elapsed().as_secs_f64());
        done.push((scenario, comparison));
    }
    bar.finish_and_clear();
    // What was computed is shown even when the report cannot be written.
    show(args, &done, &walls)?;
    if let Some(dir) = &args.report {
        write_reports(dir, &done, args.seed)?;
    }
    let failed: Vec<String> = done
        .iter()
        .flat_map(|(scenario, comparison)| {
            comparison.failed.iter().map(|f| {
                format!(
                    "{}: {}, seed {}: {}",
                    scenario.link_name, f.name, f.seed, f.reason
                )
            })
        })
        .collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::run(format!(
            "runs failed and are missing above: {}",
            failed.join("; ")
        )))
    }
}

/// Prints the comparisons; `walls`: how long each took, in seconds.
fn show(args: &Args, done: &[(Scenario, Comparison)], walls: &[f64]) -> Result<(), Failure> {
    let wall = |n: usize| (!args.no_timing).then_some(walls[n]);
    if args.json {
        let objects: Vec<JsonComparison<'_>> = done
            .iter()
            .enumerate()
            .map(|(n, (scenario, comparison))| JsonComparison::new(scenario, comparison, wall(n)))
            .collect();
        return match objects.as_slice() {
            [one] => output::print_json(one),
            several => output::print_json(&several),
        };
    }
    if args.csv {
        return output::print(&output::csv(done)?);
    }
    let mut text = String::new();
    for (n, (scenario, comparison)) in done.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = describe(&mut text, scenario, args);
        text.push_str(&output::table(scenario, comparison, args.markdown));
        if let Some(wall) = wall(n).filter(|_| !args.markdown) {
            let packets = comparison.simulated_packets;
            let _ = writeln!(text, "\n{packets} packets simulated in {wall:.2} s");
        }
        text.push('\n');
    }
    if !args.markdown {
        text.push_str("* best of the controllers. 'limit' knows the link's future; 'best window' is the constant\n  window with the highest throughput/p95 RTT. 'self p95': delay beyond what the link imposes, ms.\n");
    }
    output::print(text.as_bytes())
}

/// Writes a report for each comparison and says where, on standard error, so that it does not mix
/// with JSON.
fn write_reports(dir: &Path, done: &[(Scenario, Comparison)], seed: u64) -> Result<(), Failure> {
    for (n, (scenario, comparison)) in done.iter().enumerate() {
        let path = match done.len() {
            1 => dir.join("index.html"),
            _ => dir.join(format!("{}.html", n + 1)),
        };
        report::write(scenario, comparison, seed, &path)
            .map_err(|e| Failure::run(format!("cannot write {}: {e}", path.display())))?;
        // A closed standard error is no reason to stop.
        let _ = writeln!(std::io::stderr(), "report: {}", path.display());
    }
    Ok(())
}

fn describe(text: &mut String, scenario: &Scenario, args: &Args) -> std::fmt::Result {
    let head = if args.markdown { "### " } else { "" };
    let flows = match scenario.flows {
        1 => "1 flow".to_string(),
        n => format!("{n} flows"),
    };
    let seeds = match args.seeds {
        1 => String::new(),
        n => format!(", {n} seeds (mean ± 95 % interval)"),
    };
    writeln!(
        text,
        "{head}{}\n\nRTT {}, {} s, {flows}{seeds}\n",
        scenario.link_name,
        scenario.rtt,
        scenario.duration.as_secs_f64(),
    )
}

/// The controllers asked for; without any, all but the constant window, which is part of every
/// comparison.
fn contenders(names: &[String]) -> Result<Vec<Contender>, Failure> {
    let parse =
        |name: &str| Contender::parse(name).map_err(|e| Failure::input(format!("--cc: {e}")));
    if names.is_empty() {
        let all = registry::all()
            .iter()
            .map(|e| e.name)
            .filter(|name| *name != "window");
        return all.map(parse).collect();
    }
    names.iter().map(|name| parse(name)).collect()
}

/// A bar on a terminal's standard error, nothing elsewhere.
fn progress_bar(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left");
    match style {
        Ok(style) => ProgressBar::new(runs).with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}
