//! `lowtide compare`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowtide_lab::compare::{self, Comparison, Options};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::json::JsonComparison;
use lowtide_lab::setting::{Host, Setting};
use lowtide_report::figures;
use lowtide_report::qlog;
use lowtide_report::report::Report;

use crate::failure::Failure;
use crate::flags::{FigureFlags, Jobs, Printed, QlogFlag};
use crate::knobs::{self, Knobs};
use crate::output;
use crate::progress;
use crate::sparkline;
use crate::table::{self, Look};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Controllers to compare, as in bbr,cubic:abe=true, or one each time
    /// [default: all of 'lowtide list']
    #[arg(long = "cc", value_name = "NAME")]
    controllers: Vec<String>,

    #[command(flatten)]
    setting: Knobs<knobs::All>,

    #[command(flatten, next_help_heading = "Run")]
    jobs: Jobs,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the report's plots as SVG and PNG into this folder (with several traces: 1, 2, … in it)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    figures: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Output")]
    style: FigureFlags,

    /// Write a qlog of each controller's flow into this folder, first seed; one QUIC flow only
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    qlog: Option<PathBuf>,

    #[command(flatten)]
    qlog_version: QlogFlag,

    /// Draw rate and RTT over time below the table
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        help_heading = "Output"
    )]
    sparklines: sparkline::When,

    #[command(flatten)]
    printed: Printed,

    /// Print CSV, a line for each controller
    #[arg(long, help_heading = "Output", conflicts_with_all = ["markdown", "json"])]
    csv: bool,
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let style = args.style.style()?;
    let settings = args.setting.named_settings(contenders)?;
    let host = settings.first().map(|s| s.host).unwrap_or_default();
    let asked = asked(&args.controllers, contenders, host)?;
    if args.qlog.is_some() {
        for setting in &settings {
            qlog::check(setting).map_err(|e| Failure::input(format!("--qlog: {e}")))?;
        }
    }
    let all = settings.iter();
    let all = all.flat_map(|s| asked.iter().map(|c| s.run_by(c)));
    output::warn_of_missing_timestamps(all);
    let folders = [&args.report, &args.figures, &args.qlog];
    output::check([args.printed.json.file()], folders.map(|f| f.as_deref()))?;
    let (done, walls) = compare_all(args, settings, &asked)?;
    // What was computed is shown even when the report cannot be written.
    show(args, &done, &walls)?;
    if let Some(dir) = &args.report {
        output::write_report(Report::of_comparisons(&done), dir)?;
    }
    if let Some(dir) = &args.figures {
        let links: Vec<_> = done.iter().map(|(s, c)| (s, c)).collect();
        output::write_figures(dir, &links, &style)?;
    }
    if let Some(dir) = &args.qlog {
        write_qlogs(dir, &done, &asked, args)?;
    }
    let failed = done.iter().flat_map(|(setting, comparison)| {
        let of_link = |f| (setting.link_name.as_str(), f);
        comparison.failed.iter().map(of_link)
    });
    output::complain(failed.map(|(link, f)| format!("{link}: {f}")))
}

/// What stands below the tables.
const NOTE: &str = "* best of the controllers. 'limit' knows the link's future; 'best window' is the \
                    constant window with the highest throughput/p95 RTT. 'self p95': delay beyond \
                    what the link imposes, ms.";

/// A comparison in each setting, and how long each took, in seconds, where that is to be told.
type Compared = (Vec<(Setting, Comparison)>, Vec<Option<f64>>);

/// Compares in each setting.
fn compare_all(
    args: &Args,
    settings: Vec<Setting>,
    asked: &[Contender],
) -> Result<Compared, Failure> {
    let printed = &args.printed;
    let is_table = !(printed.json.is_printed() || args.csv || printed.markdown);
    let draws = is_table && args.sparklines.applies();
    let options = Options {
        jobs: args.jobs.threads(),
        timelines: args.report.is_some() || args.figures.is_some() || draws,
    };
    let runs = settings.iter().map(|s| compare::count_runs(s, asked));
    let bar = progress::bar(runs.sum());
    let mut done = Vec::with_capacity(settings.len());
    let mut walls = Vec::with_capacity(settings.len());
    for setting in settings {
        let started = Instant::now();
        let comparison = compare::compare(&setting, asked, options, &|| bar.inc())
            .map_err(|e| Failure::input(format!("{}: {e}", setting.link_name)))?;
        walls.push((!printed.no_timing).then(|| started.elapsed().as_secs_f64()));
        done.push((setting, comparison));
    }
    bar.finish_and_clear();
    Ok((done, walls))
}

/// Prints the comparisons.
fn show(args: &Args, done: &[(Setting, Comparison)], walls: &[Option<f64>]) -> Result<(), Failure> {
    let all = || done.iter().zip(walls);
    let objects = all().map(|((setting, c), wall)| JsonComparison::new(setting, c, *wall));
    args.printed.json.put_all(&objects.collect::<Vec<_>>())?;
    if args.printed.json.is_printed() {
        return Ok(());
    }
    if args.csv {
        return output::print(&output::csv(done)?);
    }
    let look = Look::of_output(args.printed.markdown);
    let mut text = String::new();
    for ((setting, comparison), wall) in all() {
        // Writing to a string cannot fail.
        let _ = describe(&mut text, setting, look);
        text.push_str(&output::table(setting, comparison, look));
        if let Look::Plain(width) = look {
            if args.sparklines.applies() {
                output::print(text.as_bytes())?;
                text.clear();
                output::print_coloured(&sparkline::draw(comparison, width))?;
            }
            if let Some(wall) = wall {
                let packets = comparison.simulated_packets;
                let _ = writeln!(text, "\n{packets} packets simulated in {wall:.2} s");
            }
        }
        text.push('\n');
    }
    text.push_str(&table::note(NOTE, look));
    output::print(text.as_bytes())
}

/// Writes a qlog for each contender and says where, on standard error.
fn write_qlogs(
    dir: &Path,
    done: &[(Setting, Comparison)],
    contenders: &[Contender],
    args: &Args,
) -> Result<(), Failure> {
    let version = args.qlog_version.version();
    for (n, (setting, _)) in done.iter().enumerate() {
        let folder = figures::folder_of(dir, n, done.len());
        for contender in contenders {
            let path = qlog::path(&folder, contender.name());
            output::write_qlog(&setting.run_by(contender), version, &path)?;
        }
        output::say(format_args!("qlog: {}", folder.display()));
    }
    Ok(())
}

fn describe(text: &mut String, setting: &Setting, look: Look) -> std::fmt::Result {
    let head = look.heading();
    let flows = output::counted(setting.flow_count(), "flow");
    let seeds = match setting.seeds.count {
        1 => String::new(),
        n => format!(", {n} seeds (mean ± 95 % interval)"),
    };
    writeln!(
        text,
        "{head}{}\n\nRTT {}, {} s, {flows}{seeds}\n",
        setting.link_name,
        setting.rtt_shown(),
        setting.duration.as_secs_f64(),
    )
}

/// The controllers asked for; without any, the usual ones of the host.
pub(crate) fn asked(
    names: &[String],
    contenders: &Contenders,
    host: Host,
) -> Result<Vec<Contender>, Failure> {
    if names.is_empty() {
        return Ok(host.usual(contenders));
    }
    let asked = names.iter().map(|specs| contenders.parse_all(specs));
    let asked: Result<Vec<_>, _> = asked.collect();
    let asked = asked.map_err(|e| Failure::input(format!("--cc: {e}")))?;
    Ok(asked.concat())
}
