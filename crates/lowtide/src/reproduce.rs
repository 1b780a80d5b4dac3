//! `lowtide reproduce`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowtide_cc::registry::unknown;
use lowtide_lab::claim::Holds;
use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, CellResult, Options};
use lowtide_lab::files;
use lowtide_lab::reproduce::{self, Experiment, Row};
use lowtide_lab::scenario_file::{Cell, ScenarioFile};
use lowtide_report::report::{PaperResult, Report, Sweep};
use lowtide_report::reproduce::{document, title, write_document};

use crate::experiment::complain;
use crate::failure::Failure;
use crate::flags::{JsonFlag, RunFlags};
use crate::table::{self, Look};
use crate::{output, progress};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// An experiment, a paper (rbbr, xiong, acd, bbrs, ebcc) or all
    #[arg(default_value = "all")]
    which: String,

    /// Test the claims on recorded links too, which lie in this folder
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,

    /// Take the experiments from the files in this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    experiments: Option<PathBuf>,

    #[command(flatten)]
    flags: RunFlags,

    /// List the experiments and run none
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    json: JsonFlag,

    /// Print the page that --document writes
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    markdown: bool,

    /// Write the page to this file and its figures into a folder beside it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    document: Option<PathBuf>,

    /// Write a report of claims, figures and cells, index.html, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let files = match &args.experiments {
        None => reproduce::built_in().map_err(Failure::run)?,
        Some(folder) => load(folder)?,
    };
    let papers = ["all", "rbbr", "xiong", "acd", "bbrs", "ebcc"].map(str::to_string);
    let known = [
        papers.to_vec(),
        files.iter().map(ScenarioFile::name).collect(),
    ]
    .concat();
    let mut files = reproduce::select(&args.which, files);
    if files.is_empty() {
        return Err(Failure::Input(unknown("experiment ", &args.which, &known)));
    }
    if args.list {
        let entries = files.iter().map(|file| (file.name(), about(file)));
        return output::print(table::list(14, entries).as_bytes());
    }
    for file in &mut files {
        args.flags.apply(file);
    }
    let started = Instant::now();
    let experiments = execute(args, contenders, files)?;
    let rows: Vec<Vec<Row>> = experiments
        .iter()
        .map(reproduce::rows)
        .collect::<Result<_, _>>()
        .map_err(Failure::input)?;
    output::say(format_args!("{:.1} s", started.elapsed().as_secs_f64()));
    let command = command(args);
    args.json.put(&rows.iter().flatten().collect::<Vec<_>>())?;
    if args.json.is_printed() {
        // There is room for nothing else.
    } else if args.markdown {
        let page = document(&experiments, &rows, &command, "reproduction");
        output::print(page.as_bytes())?;
    } else {
        output::print(text(&experiments, &rows).as_bytes())?;
    }
    if let Some(path) = &args.document {
        write_document(&experiments, &rows, &command, path).map_err(output::unwritable(path))?;
    }
    if let Some(folder) = &args.report {
        let papers = experiments.iter().zip(&rows);
        let report = Report {
            title: title(&experiments).to_string(),
            about: format!("Made by {}.", made_by(args)),
            papers: papers
                .map(|(e, rows)| PaperResult::new(e, rows))
                .collect::<Result<_, _>>()
                .map_err(Failure::run)?,
            sweeps: experiments
                .iter()
                .map(|e| Sweep::new(&e.file, &e.results))
                .collect(),
            ..Report::default()
        };
        output::write_report(report, folder)?;
    }
    experiments
        .iter()
        .try_for_each(|e| complain(&e.results).and_then(|()| complain(&e.on_traces)))
}

/// What made a page: without what does not change it.
fn command(args: &Args) -> String {
    let document = args
        .document
        .as_ref()
        .map_or_else(String::new, |p| format!(" --document {}", p.display()));
    made_by(args) + &document
}

/// What made the results.
fn made_by(args: &Args) -> String {
    let experiments = args
        .experiments
        .as_ref()
        .map_or_else(String::new, |p| format!(" --experiments {}", p.display()));
    let traces = if args.traces.is_some() {
        " --traces DIR"
    } else {
        ""
    };
    let flags = args.flags.shown();
    let which = &args.which;
    format!("lowtide reproduce {which}{experiments}{traces}{flags}")
}

fn load(folder: &Path) -> Result<Vec<ScenarioFile>, Failure> {
    let unreadable = |e: std::io::Error| Failure::input(format!("{}: {e}", folder.display()));
    files::of_folder(folder, "toml")
        .map_err(unreadable)?
        .iter()
        .map(|path| ScenarioFile::load(path).map_err(Failure::input))
        .collect()
}

/// Runs all cells of all files as one piece of work, so that no core waits for another file.
fn execute(
    args: &Args,
    contenders: &Contenders,
    files: Vec<ScenarioFile>,
) -> Result<Vec<Experiment>, Failure> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut parts = Vec::new();
    let mut over_time = Vec::new();
    for file in &files {
        let own = file.cells(contenders).map_err(Failure::input)?;
        reproduce::check(file, &own).map_err(Failure::input)?;
        if args.document.is_some() || args.report.is_some() {
            let places = reproduce::cells_over_time(file, &own).map_err(Failure::input)?;
            over_time.extend(places.into_iter().map(|place| cells.len() + place));
        }
        let mut recorded = Vec::new();
        if let Some(folder) = &args.traces {
            let (found, missing) = reproduce::traces(file, folder);
            for name in missing {
                output::say(format_args!(
                    "{}: {} is not there and left out",
                    file.name(),
                    folder.join(name).display()
                ));
            }
            if !found.is_empty() {
                recorded = file
                    .on_traces(&found)
                    .cells(contenders)
                    .map_err(Failure::input)?;
            }
        }
        parts.push((own.len(), recorded.len()));
        cells.extend(own);
        cells.extend(recorded);
    }
    let pages = [args.document.as_deref(), args.json.file()];
    output::check(pages, [args.report.as_deref()])?;
    let bar = progress::bar(experiment::count_runs(&cells, None));
    let options = Options {
        jobs: args.flags.jobs.threads(),
        over_time: &over_time,
        ..Options::default()
    };
    let results = experiment::run(&cells, options, &|| bar.inc()).map_err(Failure::run)?;
    bar.finish_and_clear();
    let mut rest = results.into_iter();
    let mut take = |n: usize| -> Vec<CellResult> { rest.by_ref().take(n).collect() };
    Ok(files
        .into_iter()
        .zip(parts)
        .map(|(file, (own, recorded))| Experiment {
            file,
            results: take(own),
            on_traces: take(recorded),
        })
        .collect())
}

/// What a file is about, and which part of a paper that is.
fn about(file: &ScenarioFile) -> String {
    let content = &file.content;
    match &content.paper {
        Some(paper) => format!("{}: {}", paper.place, content.about),
        None => content.about.clone(),
    }
}

fn text(experiments: &[Experiment], rows: &[Vec<Row>]) -> String {
    let mut text = String::new();
    for (experiment, rows) in experiments.iter().zip(rows) {
        let content = &experiment.file.content;
        // Writing to a string cannot fail.
        let (name, about) = (experiment.file.name(), about(&experiment.file));
        let _ = writeln!(text, "{name}: {about}\n");
        // An experiment of somebody's own repeats no paper.
        let is_of_paper = content.paper.is_some();
        let mut head = vec!["setting", "metric", "paper", "ours", "holds", "claim"];
        head.retain(|name| is_of_paper || *name != "paper");
        let cells = rows.iter().map(|row| {
            let mut cells = vec![row.setting.clone(), row.metric.clone()];
            cells.extend(is_of_paper.then(|| row.printed()));
            let holds = row.holds.name().to_string();
            cells.extend([row.shown(), holds, row.claim.clone()]);
            cells
        });
        let numbers = 2..head.len() - 2;
        text.push_str(&table::aligned(head, cells, numbers, Look::Plain(None)));
        let finding = content.paper.as_ref().map_or("", |p| p.finding.trim());
        if !finding.is_empty() {
            let _ = writeln!(text, "\n  found: {finding}");
        }
        let mut notes: Vec<&str> = rows
            .iter()
            .filter(|r| r.holds != Holds::Yes && !r.note.is_empty())
            .map(|r| r.note.trim())
            .collect();
        notes.dedup();
        for note in notes {
            let _ = writeln!(text, "\n  note: {note}");
        }
        text.push('\n');
    }
    text
}
