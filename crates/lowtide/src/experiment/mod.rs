//! `lowtide run` and `lowtide sweep`: the cells of a scenario file.

mod show;

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Instant;

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, CellResult, Options, Shard, by_path};
use lowtide_lab::json::cells;
use lowtide_lab::scenario_file::{Cell, ScenarioFile};
use lowtide_lab::store::Store;
use lowtide_report::figures;
use lowtide_report::report::{MAX_OVER_TIME, Report, Sweep};

use crate::failure::Failure;
use crate::flags::{FigureFlags, Printed, RunFlags};
use crate::progress::{self, Progress};
use crate::table::Look;
use crate::{executable, interrupt, output};

#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// The scenario file (TOML), or - for standard input; 'lowtide schema' describes it for editors
    file: PathBuf,

    /// Try a value for a key of the file; repeat it for several, as in
    /// --vary link.buffer=1bdp --vary link.buffer=2bdp
    #[arg(long, value_name = "KEY=VALUE")]
    vary: Vec<String>,

    #[command(flatten)]
    flags: RunFlags,

    #[command(flatten)]
    printed: Printed,

    /// Print CSV, a line for each cell
    #[arg(long, help_heading = "Output", conflicts_with_all = ["markdown", "json"])]
    csv: bool,

    /// Write a report, index.html, into this folder: the grid, and for 'run' comparison and runs over
    /// time
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,

    /// Write the report's plots as SVG and PNG into this folder (for 'run' with several links and
    /// paths: 1, 2, … in it)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    figures: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Output")]
    style: FigureFlags,
}

#[derive(clap::Args)]
pub(crate) struct SweepArgs {
    /// Folder that keeps the results; the same command goes on where it was interrupted, and 'lowtide
    /// merge' lands them in Parquet
    #[arg(long, short, value_name = "DIR", default_value = "lowtide-results")]
    output: PathBuf,

    /// Make only the K-th of N parts of the runs, as in 3/64: K is counted from 1, as the index of
    /// 'sbatch --array=1-64'. All parts may be made at once and write to one folder
    #[arg(long, value_name = "K/N", conflicts_with_all = ["csv", "markdown", "json", "report", "figures"])]
    shard: Option<Shard>,

    #[command(flatten)]
    run: RunArgs,
}

/// What is to be run, after all is checked that can be before it is.
struct Work {
    style: figures::Style,
    file: ScenarioFile,
    cells: Vec<Cell>,
}

impl Work {
    fn of(args: &RunArgs, contenders: &Contenders) -> Result<Self, Failure> {
        let style = args.style.style()?;
        let file = load(args)?;
        let cells = file.cells(contenders).map_err(Failure::input)?;
        output::warn_of_missing_timestamps(cells.iter().map(|cell| &cell.setting));
        let folders = [args.report.as_deref(), args.figures.as_deref()];
        output::check([args.printed.json.file()], folders)?;
        Ok(Self { style, file, cells })
    }
}

pub(crate) fn run(args: &RunArgs, contenders: &Contenders) -> Result<(), Failure> {
    let Work { style, file, cells } = Work::of(args, contenders)?;
    let over_time: Vec<usize> = match args.report.as_ref().or(args.figures.as_ref()) {
        Some(_) => (0..cells.len().min(MAX_OVER_TIME)).collect(),
        None => Vec::new(),
    };
    let bar = progress::bar(experiment::count_runs(&cells, None));
    let options = Options {
        over_time: &over_time,
        ..Options::default()
    };
    let done = execute(args, &cells, options, &bar)?;
    show("run", args, &file, &done)?;
    let paths = match over_time[..] {
        [] => Vec::new(),
        _ => by_path(&done.results),
    };
    if let Some(folder) = &args.report {
        let report = Report::of_cells(&file, &done.results, &paths);
        output::write_report(report, folder)?;
    }
    if let Some(folder) = &args.figures {
        let paths = paths.iter().map(|p| (&p.setting, &p.comparison));
        output::write_figures(folder, &paths.collect::<Vec<_>>(), &style)?;
        write_grid(folder, &file, &done.results, &style)?;
    }
    complain(&done.results)
}

pub(crate) fn sweep(args: &SweepArgs, contenders: &Contenders) -> Result<(), Failure> {
    let Work { style, file, cells } = Work::of(&args.run, contenders)?;
    let simulator = executable::simulator(contenders)?;
    let folder = args.output.display();
    let store = Store::open(&args.output, simulator, &cells)
        .map_err(|e| Failure::run(format!("{folder}: {e}")))?;
    let runs = experiment::runs(&cells, args.shard);
    let all = runs.len() as u64;
    let found = experiment::count_known(&cells, &runs, Some(&store));
    drop(runs);
    let part = args
        .shard
        .map_or_else(String::new, |s| format!(", shard {s}"));
    output::say(format_args!(
        "{} cells{part}, {all} runs; {found} of them are in {folder}",
        cells.len(),
    ));
    let left_out = store.left_out().warning();
    if !left_out.is_empty() {
        output::say(format_args!(
            "warning: {folder}: {left_out}; what they had is run again"
        ));
    }
    let bar = progress::bar(all - found);
    let farewell = || {
        let problem = store.problem();
        let kept = found + store.stop();
        bar.finish_and_clear();
        output::say(match problem {
            Some(problem) => format!("interrupted; {problem}"),
            None => format!(
                "interrupted: {kept} of {all} runs are in {folder}; the same command goes on from there"
            ),
        });
    };
    interrupt::with_farewell(farewell, || {
        let options = Options {
            store: Some(&store),
            shard: args.shard,
            ..Options::default()
        };
        let done = execute(&args.run, &cells, options, &bar)?;
        match args.shard {
            None => show("sweep", &args.run, &file, &done)?,
            // Its cells are not whole: a table of them would mislead.
            Some(_) => output::say(format_args!(
                "when all shards are done, 'lowtide merge {folder} --output DIR' lands their results"
            )),
        }
        if let Some(folder) = &args.run.report {
            let report = Report {
                title: file.name(),
                sweeps: vec![Sweep::new(&file, &done.results)],
                ..Report::default()
            };
            output::write_report(report, folder)?;
        }
        if let Some(folder) = &args.run.figures {
            write_grid(folder, &file, &done.results, &style)?;
        }
        match store.problem() {
            None => complain(&done.results),
            Some(problem) => {
                let failed = complain(&done.results).err();
                let failed = failed.map_or_else(String::new, |f| format!("; {f}"));
                Err(Failure::run(format!("{problem}{failed}")))
            }
        }
    })
}

fn load(args: &RunArgs) -> Result<ScenarioFile, Failure> {
    let mut file = ScenarioFile::load(&args.file).map_err(Failure::input)?;
    let mut varied: Vec<(&str, Vec<toml::Value>)> = Vec::new();
    for text in &args.vary {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Failure::input(format!(
                "--vary: '{}' is no KEY=VALUE, as in link.buffer=2bdp",
                text.escape_debug()
            )));
        };
        let value = value_of(value);
        match varied.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => varied.push((key, vec![value])),
        }
    }
    for (key, values) in varied {
        file.vary(key, values);
    }
    args.flags.apply(&mut file);
    Ok(file)
}

/// Numbers and flags as such, all else as text.
fn value_of(text: &str) -> toml::Value {
    let number = text.parse().map(toml::Value::Integer);
    number
        .or_else(|_| text.parse().map(toml::Value::Boolean))
        .or_else(|_| text.parse().map(toml::Value::Float))
        .unwrap_or_else(|_: std::num::ParseFloatError| toml::Value::String(text.to_string()))
}

fn execute(
    args: &RunArgs,
    cells: &[Cell],
    options: Options<'_>,
    bar: &Progress,
) -> Result<Done, Failure> {
    let options = Options {
        jobs: args.flags.jobs.threads(),
        ..options
    };
    let warned = Once::new();
    let progress = || {
        bar.inc();
        // Somebody may want to stop a sweep whose results nobody will find.
        if let Some(problem) = options.store.and_then(Store::problem) {
            warned.call_once(|| bar.suspend(|| output::say(format_args!("warning: {problem}"))));
        }
    };
    let started = Instant::now();
    let results = experiment::run(cells, options, &progress).map_err(Failure::run)?;
    bar.finish_and_clear();
    let wall_s = (!args.printed.no_timing).then(|| started.elapsed().as_secs_f64());
    let took = wall_s.map_or_else(String::new, |s| format!(" in {s:.1} s"));
    output::say(format_args!("{} runs{took}", bar.length()));
    Ok(Done { results, wall_s })
}

/// Cells that were run.
struct Done {
    results: Vec<CellResult>,
    /// How long that took, in seconds, where it is to be told.
    wall_s: Option<f64>,
}

fn show(command: &str, args: &RunArgs, file: &ScenarioFile, done: &Done) -> Result<(), Failure> {
    let results = &done.results;
    args.printed
        .json
        .put(&cells(command, file, results, done.wall_s))?;
    if args.printed.json.is_printed() {
        return Ok(());
    }
    if args.csv {
        return output::print(&show::csv(results)?);
    }
    let mut text = String::new();
    if !file.content.about.is_empty() {
        text.push_str(&format!("{}\n\n", file.content.about));
    }
    let look = Look::of_output(args.printed.markdown);
    text.push_str(&show::table(file, results, look));
    output::print(text.as_bytes())
}

/// Figures of the grid, where there is one.
fn write_grid(
    folder: &Path,
    file: &ScenarioFile,
    results: &[CellResult],
    style: &figures::Style,
) -> Result<(), Failure> {
    let written = figures::write_grid(&Sweep::new(file, results), folder, style)
        .map_err(output::unwritable(folder))?;
    if written > 0 {
        let folder = folder.display();
        output::say(format_args!("figures of the grid: {written} in {folder}"));
    }
    Ok(())
}

/// Fails where runs did.
pub(crate) fn complain(results: &[CellResult]) -> Result<(), Failure> {
    let failed = results.iter().flat_map(|r| &r.failed);
    output::complain(failed)
}
