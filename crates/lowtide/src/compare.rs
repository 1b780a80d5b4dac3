//! `lowtide compare`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowtide_cc::registry;
use lowtide_lab::compare::{self, Comparison, Contender, Host, Plan};
use lowtide_lab::report::Report;
use lowtide_lab::scenario::Scenario;
use lowtide_lab::{figures, qlog};

use crate::failure::Failure;
use crate::output::{self, JsonComparison};
use crate::progress;
use crate::qlog_version::QlogVersionArg;
use crate::scenario_args::ScenarioArgs;
use crate::sparkline;

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

    /// Write the report's plots as SVG and PNG into this folder (with several traces: 1, 2, … in it)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    figures: Option<PathBuf>,

    /// Write a qlog of each controller's flow into this folder, first seed; one QUIC flow only
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    qlog: Option<PathBuf>,

    #[command(flatten)]
    qlog_version: QlogVersionArg,

    /// Draw rate and RTT over time below the table
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        help_heading = "Output"
    )]
    sparklines: sparkline::When,

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
    if args.qlog.is_some() {
        for scenario in &scenarios {
            qlog::check(scenario).map_err(|e| Failure::input(format!("--qlog: {e}")))?;
        }
    }
    let draws = !(args.json || args.csv || args.markdown) && args.sparklines.applies();
    let plan = Plan {
        host: args.host.into(),
        seeds: args.seeds,
        first_seed: args.seed,
        jobs: args.jobs.unwrap_or(0) as usize,
        timelines: args.report.is_some() || args.figures.is_some() || draws,
    };
    let runs = compare::count_runs(&contenders, &plan) * scenarios.len() as u64;
    let bar = progress::bar(runs);
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
        output::write_report(Report::of_comparisons(&done, args.seed), dir)?;
    }
    if let Some(dir) = &args.figures {
        write_figures(dir, &done, args.seed)?;
    }
    if let Some(dir) = &args.qlog {
        write_qlogs(dir, &done, &contenders, args)?;
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
        if !args.markdown && args.sparklines.applies() {
            text.push_str(&sparkline::draw(comparison));
        }
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

/// The folder of the n-th of several links; of a single one the folder itself.
fn folder_of(dir: &Path, n: usize, links: usize) -> PathBuf {
    match links {
        1 => dir.to_path_buf(),
        _ => dir.join((n + 1).to_string()),
    }
}

/// Writes a qlog for each contender and says where, on standard error.
fn write_qlogs(
    dir: &Path,
    done: &[(Scenario, Comparison)],
    contenders: &[Contender],
    args: &Args,
) -> Result<(), Failure> {
    let (host, seed, version) = (args.host.into(), args.seed, args.qlog_version.get());
    for (n, (scenario, _)) in done.iter().enumerate() {
        let folder = folder_of(dir, n, done.len());
        let failure = |path: &Path, e: &dyn std::fmt::Display| {
            Failure::run(format!("cannot write {}: {e}", path.display()))
        };
        fs::create_dir_all(&folder).map_err(|e| failure(&folder, &e))?;
        for contender in contenders {
            // A spec has characters that not every file system takes.
            let letters = contender.name().chars();
            let name: String = letters
                .map(|c| {
                    if c.is_ascii_alphanumeric() || "-_.=".contains(c) {
                        c
                    } else {
                        '_'
                    }
                })
                .collect();
            let path = folder.join(format!("{name}.sqlog"));
            let file = fs::File::create(&path).map_err(|e| failure(&path, &e))?;
            qlog::write(
                scenario,
                contender,
                host,
                seed,
                version,
                BufWriter::new(file),
            )
            .map_err(|e| failure(&path, &e))?;
        }
        let _ = writeln!(std::io::stderr(), "qlog: {}", folder.display());
    }
    Ok(())
}

/// Writes the figures and says where, on standard error.
fn write_figures(dir: &Path, done: &[(Scenario, Comparison)], seed: u64) -> Result<(), Failure> {
    for (n, (scenario, comparison)) in done.iter().enumerate() {
        let folder = folder_of(dir, n, done.len());
        figures::write(scenario, comparison, seed, &folder)
            .map_err(|e| Failure::run(format!("cannot write {}: {e}", folder.display())))?;
        let _ = writeln!(std::io::stderr(), "figures: {}", folder.display());
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
