//! `lowtide score`.

mod stage;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, CellResult};
use lowtide_lab::files;
use lowtide_lab::json::JsonCard;
use lowtide_lab::run::Stop;
use lowtide_lab::score::{self, Baseline, Plan, Regression, Scorecard, Suite, Verdict};
use lowtide_lab::store::Store;
use lowtide_report::score::{MAX_OVER_TIME, document, junit, write_report};

use self::stage::Stage;
use crate::executable;
use crate::failure::Failure;
use crate::flags::{JsonFlag, RunFlags};
use crate::interrupt;
use crate::output;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Suites ('lowtide score --list' has them), folders of cases, or a case's file, as in rfc9743,aqm, or one
    /// each time [default: rfc9743; with --link: link]
    #[arg(long = "suite", value_name = "NAME", value_delimiter = ',')]
    suites: Vec<String>,

    /// Controllers, as in bbr3,ebb:idle=3%, or one each time [default: ebb]; with --link programs: recipes
    /// ('lowtide score --link --list' has them) or files of your own, as in kernel/cubic,my.toml
    #[arg(long = "cc", visible_alias = "recipe", value_name = "NAME")]
    controllers: Vec<String>,

    /// Run programs over real packets, in real time, behind emulated links (Linux)
    #[arg(long, help_heading = "Programs")]
    link: bool,

    /// A program of your own: what sends, run by sh at the far end of each link, with {port}, {bytes},
    /// {seconds}, {dir} in it
    #[arg(long, value_name = "COMMAND", requires_all = ["link", "client"], help_heading = "Programs")]
    server: Option<String>,

    /// And what fetches, run by sh at the near end, with {host} and {port} too
    #[arg(long, value_name = "COMMAND", requires_all = ["link", "server"], help_heading = "Programs")]
    client: Option<String>,

    /// Only these cases, as in R01,R03, or one each time
    #[arg(long = "case", value_name = "ID", value_delimiter = ',')]
    cases: Vec<String>,

    /// Where recorded links are: cases that need them are not applicable without it
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,

    #[command(flatten)]
    flags: RunFlags,

    /// List the suites and their cases, and run none
    #[arg(long)]
    list: bool,

    /// Folder that keeps the results of runs; the same command goes on where it was interrupted
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Fail on what is worse than in this earlier --json, beyond the intervals, and on new cases that fail; not on
    /// what failed then
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    #[command(flatten)]
    json: JsonFlag,

    /// Write JUnit XML to this file, for CI
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,

    /// Write a page of all scorecards, in Markdown, to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    document: Option<PathBuf>,

    /// Write the scorecards with what happened in cases that fail, index.html, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    if args.list && args.link {
        return stage::list_recipes();
    }
    if args.list {
        return list(&suites(args)?);
    }
    let stage = Stage::of(args)?;
    let contenders = &stage.contenders(contenders)?;
    let candidates = stage.candidates(args, contenders)?;
    let asked = args.flags.host;
    let host = score::host_of(&candidates, asked).map_err(Failure::input)?;
    let mut suites = suites(args)?;
    if let Some(host) = host {
        let cases = suites.iter_mut().flat_map(|suite| &mut suite.cases);
        cases.for_each(|case| case.set_host(host));
    }
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut plans = Vec::new();
    for suite in &suites {
        let plan = Plan::new(
            suite,
            candidates.clone(),
            contenders,
            args.traces.as_deref(),
        );
        let mut plan = plan.map_err(Failure::input)?;
        stage.fit(&mut plan);
        plans.push(plan);
    }
    let files = [args.junit.as_deref(), args.document.as_deref()];
    let files = files.into_iter().chain([args.json.file()]);
    output::check(files, [args.report.as_deref()])?;
    let (results, signal) = execute(args, &plans, &stage, contenders)?;
    let mut cards = Vec::new();
    for ((suite, plan), results) in suites.iter().zip(&plans).zip(&results) {
        cards.push(score::judge(suite, plan, results).map_err(Failure::input)?);
    }
    if signal.is_none() {
        explain(args, &mut cards)?;
    }
    let old = || baseline.iter().flatten();
    let found = cards
        .iter()
        .flat_map(|card| old().flat_map(move |old| old.regressions(card)));
    let regressions: Vec<Regression> = found.collect();
    show(args, &cards, &regressions)?;
    if let Some(Interrupted { signal, problem }) = signal {
        return Err(Failure::Interrupted { signal, problem });
    }
    outcome(args, &cards, baseline.as_deref(), regressions.len())
}

/// Whether all is well. A case that a baseline knows may fail as it did then.
fn outcome(
    args: &Args,
    cards: &[Scorecard],
    baseline: Option<&[Baseline]>,
    worse: usize,
) -> Result<(), Failure> {
    let (mut failed, mut not_run, mut known) = (0, 0, 0);
    let mut applicable: BTreeMap<&str, usize> = BTreeMap::new();
    for card in cards {
        for score in &card.results {
            *applicable.entry(&score.controller).or_default() += score.applicable();
            not_run += score.not_run;
            for case in &score.cases {
                let mut old = baseline.into_iter().flatten();
                if old.any(|old| old.knows(&card.suite, &score.controller, &case.id)) {
                    known += 1;
                } else {
                    failed += usize::from(case.verdict == Verdict::Fail);
                }
            }
        }
    }
    let (fails, fail) = match baseline {
        None => ("case fails", "cases fail"),
        Some(_) => ("new case fails", "new cases fail"),
    };
    let counted = [
        (failed, fails, fail),
        (not_run, "case was not run", "cases were not run"),
        (
            worse,
            "value is worse than before",
            "values are worse than before",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
    let mut said: Vec<String> = counted
        .map(|(count, one, several)| format!("{count} {}", if count == 1 { one } else { several }))
        .collect();
    let without = applicable.iter().filter(|(_, cases)| **cases == 0);
    said.extend(without.map(|(controller, _)| format!("no case applies to {controller}")));
    if let Some(path) = &args.baseline {
        let path = path.display();
        output::say(format_args!("{known} cases compared with {path}"));
        if known == 0 {
            said.push(format!("{path} has none of these cases and controllers"));
        }
    }
    if said.is_empty() {
        return Ok(());
    }
    Err(Failure::run(said.join("; ")))
}

/// The suites that are run when nobody names one: in the simulator, and over real packets.
const USUAL: &str = "rfc9743";
const USUAL_OVER_LINKS: &str = "link";

/// The suites that are named; all that are built in, where they are only listed and nobody names any.
fn suites(args: &Args) -> Result<Vec<Suite>, Failure> {
    let mut suites = match args.suites.as_slice() {
        [] if args.list => score::built_in().map_err(Failure::run)?,
        [] if args.link => vec![Suite::find(USUAL_OVER_LINKS).map_err(Failure::input)?],
        [] => vec![Suite::find(USUAL).map_err(Failure::input)?],
        named => {
            let found: Result<_, _> = named.iter().map(|name| Suite::find(name)).collect();
            found.map_err(Failure::input)?
        }
    };
    for suite in &mut suites {
        suite.keep(&args.cases).map_err(Failure::input)?;
        for case in &mut suite.cases {
            args.flags.apply(case);
        }
    }
    Ok(suites)
}

fn list(suites: &[Suite]) -> Result<(), Failure> {
    let mut text = String::new();
    for suite in suites {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", suite.name, suite.about);
        text += &crate::table::list(
            16,
            suite.cases.iter().map(|case| {
                let content = case.content.case.as_ref();
                let title = content.map_or("", |c| c.title.as_str());
                let source = content.map_or("", |c| c.source.as_str());
                (format!("  {}", case.id()), format!("{title} ({source})"))
            }),
        );
    }
    output::print(text.as_bytes())
}

/// The largest scorecards that are read.
const BASELINE: files::Kind = files::Kind {
    name: "scorecard",
    most: 256 << 20,
};

fn read_baseline(path: &Path) -> Result<Vec<Baseline>, Failure> {
    let bytes = files::read(path, BASELINE).map_err(Failure::input)?;
    let text = files::text(path, bytes).map_err(Failure::input)?;
    Baseline::parse(&text).map_err(|e| Failure::input(format!("{}: {e}", path.display())))
}

/// A signal that ended the work, and what became of it.
struct Interrupted {
    signal: i32,
    problem: String,
}

/// Results by suite, and what ended the work before it was done.
type Executed = (Vec<Vec<CellResult>>, Option<Interrupted>);

/// Runs what all suites need as one piece of work; a signal ends it, and what is left is not run.
fn execute(
    args: &Args,
    plans: &[Plan],
    stage: &Stage,
    contenders: &Contenders,
) -> Result<Executed, Failure> {
    let cells: Vec<_> = plans.iter().flat_map(|plan| plan.cells.clone()).collect();
    let store = match &args.output {
        None => None,
        Some(folder) => {
            // What programs do over real packets depends on more than the simulator.
            let key = match stage {
                Stage::Virtual => executable::simulator(contenders)?,
                #[cfg(target_os = "linux")]
                Stage::Real(..) => executable::key()?,
            };
            let store = Store::open(folder, key, &cells);
            Some(store.map_err(|e| Failure::run(format!("{}: {e}", folder.display())))?)
        }
    };
    let all = experiment::count_runs(&cells, None);
    let missing = experiment::count_runs(&cells, store.as_ref());
    let started = Instant::now();
    let jobs = args.flags.jobs.threads();
    let (results, signal) = interrupt::stopping(interrupt::END_OR_HANGUP, |stop| {
        stage.execute(&cells, jobs, store.as_ref(), missing, stop)
    })?;
    let results = results?;
    if let Some(problem) = store.as_ref().and_then(Store::problem) {
        output::say(format_args!("warning: {problem}"));
    }
    let interrupted = signal.map(|signal| {
        let problem = match &store {
            Some(store) => format!(
                "interrupted: {} of {all} runs are in {}; the same command goes on from there",
                all - missing + store.kept(),
                store.folder().display()
            ),
            None => {
                let done: usize = results.iter().map(|result| result.runs.len()).sum();
                format!("interrupted after {done} of {all} runs; --output DIR keeps what is done")
            }
        };
        Interrupted { signal, problem }
    });
    if interrupted.is_none() {
        let seconds = started.elapsed().as_secs_f64();
        output::say(format_args!("{missing} runs in {seconds:.1} s"));
    }
    let mut rest = results.into_iter();
    let by_suite = plans.iter();
    let by_suite = by_suite.map(|plan| rest.by_ref().take(plan.cells.len()).collect());
    Ok((by_suite.collect(), interrupted))
}

/// Says what happened in the cases that fail.
fn explain(args: &Args, cards: &mut [Scorecard]) -> Result<(), Failure> {
    let cases = cards.iter_mut().flat_map(|card| &mut card.results);
    let cases = cases.flat_map(|score| &mut score.cases);
    let failing = cases.filter(|case| case.verdict == Verdict::Fail);
    let kept = args.report.as_ref().map_or(0, |_| MAX_OVER_TIME);
    let jobs = args.flags.jobs.threads();
    score::explain_all(failing.collect(), jobs, kept, &Stop::default()).map_err(Failure::run)
}

fn show(args: &Args, cards: &[Scorecard], regressions: &[Regression]) -> Result<(), Failure> {
    let compared = args.baseline.as_ref().map(|_| regressions);
    let json = cards.iter().map(|card| JsonCard::new(card, compared));
    args.json.put_all(&json.collect::<Vec<_>>())?;
    if !args.json.is_printed() {
        let mut text = String::new();
        cards
            .iter()
            .for_each(|card| text.push_str(&table::of(card)));
        for worse in regressions {
            let value = |v: Option<f64>| v.map_or_else(|| "?".to_string(), |v| format!("{v:.4}"));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "worse: {} {} {}: {} was {}, is {}",
                worse.suite,
                worse.controller,
                worse.case,
                worse.metric,
                value(worse.before),
                value(worse.now)
            );
        }
        output::print(text.as_bytes())?;
    }
    if let Some(path) = &args.junit {
        output::write(path, junit(cards).as_bytes())?;
    }
    if let Some(path) = &args.document {
        let page = document(cards, &command(args));
        output::write(path, page.as_bytes())?;
    }
    if let Some(folder) = &args.report {
        let path = folder.join("index.html");
        write_report(cards, "Scorecards", &command(args), folder)
            .map_err(output::unwritable(&path))?;
        output::say(format_args!("report: {}", path.display()));
    }
    Ok(())
}

/// What made a page.
fn command(args: &Args) -> String {
    let all = |flag: &str, values: &[String]| -> String {
        values.iter().map(|v| format!(" --{flag} {v}")).collect()
    };
    format!(
        "lowtide score{}{}{}{}{}{}{}",
        if args.link { " --link" } else { "" },
        if args.server.is_some() {
            " --server … --client …"
        } else {
            ""
        },
        all("suite", &args.suites),
        all("cc", &args.controllers),
        all("case", &args.cases),
        if args.traces.is_some() {
            " --traces DIR"
        } else {
            ""
        },
        args.flags.shown()
    )
}
