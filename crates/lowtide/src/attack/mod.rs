//! `lowtide attack`.

mod show;

use std::path::PathBuf;

use lowtide_attack::budget::Budget;
use lowtide_attack::goal::Goal;
use lowtide_attack::hunt::Question;
use lowtide_attack::search::{Method, Progress};
use lowtide_attack::survey::Survey;
use lowtide_attack::trial::Subject;
use lowtide_attack::world::World;
use lowtide_lab::contender::{CAUSAL, Contenders};
use lowtide_lab::score;
use lowtide_lab::setting::Host;

use crate::executable;
use crate::failure::Failure;
use crate::flags::{Jobs, JsonFlag};
use crate::interrupt;
use crate::output;
use crate::progress;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Controllers, as in ebb or bbr3,cubic:hystart=false, or one each time
    #[arg(long = "cc", value_name = "NAME", required = true)]
    controllers: Vec<String>,

    /// What is bad: throughput, delay, both, stall, starvation, latecomer, rtt, crowd, harm, share:cubic, share:bbr,
    /// share:bbr3, loss, memory, invariants; or all
    #[arg(
        long = "goal",
        value_name = "GOAL",
        value_delimiter = ',',
        default_value = "throughput,delay,stall,starvation,harm"
    )]
    goals: Vec<String>,

    /// What networks may be like: cellular, wifi, wired, satellite or anything
    #[arg(long, value_name = "WORLD", default_value = "cellular")]
    world: String,

    /// The controller or bound that throughput, delay, both, stall, crowd, loss and memory are held against
    #[arg(long, value_name = "NAME", default_value = CAUSAL)]
    reference: String,

    /// What carries the flows: model, quic, noq or quinn [default: that of the controller]
    #[arg(long, value_name = "HOST")]
    host: Option<Host>,

    /// Networks for each controller and goal, or how long to search for all, as in 2000 or 10m
    #[arg(long, value_name = "N|TIME", default_value = "1000")]
    budget: Budget,

    /// How networks are chosen: both, elites, cma or random
    #[arg(long, value_name = "METHOD", default_value = "both", value_parser = Method::find)]
    method: Method,

    /// What chance begins with; the same seed and number of networks give the same findings
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Findings of each controller and goal at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    most: usize,

    #[command(flatten, next_help_heading = "Run")]
    jobs: Jobs,

    /// Folder that keeps what was tried; the same command goes on where it was interrupted
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write each finding as a case into this folder, for 'lowtide score --suite DIR'
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    keep: Option<PathBuf>,

    /// Write a page of what was found, index.html, into this folder: each finding on each controller, over time
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    report: Option<PathBuf>,

    #[command(flatten)]
    json: JsonFlag,
}

/// Each controller by each goal.
fn subjects(args: &Args, contenders: &Contenders) -> Result<Vec<Subject>, Failure> {
    let controllers = args.controllers.iter().map(|s| contenders.parse_all(s));
    let controllers: Result<Vec<_>, _> = controllers.collect();
    let controllers = controllers.map_err(Failure::input)?.concat();
    let host = score::host_of(&controllers, args.host).map_err(Failure::input)?;
    let goals = Goal::find_all(&args.goals).map_err(Failure::input)?;
    let subjects = Subject::all(&controllers, &goals, host, &args.reference, contenders);
    subjects.map_err(|e| Failure::input(format!("--reference: {e}")))
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    output::check([args.json.file()], [args.report.as_deref()])?;
    let kept = match &args.output {
        None => None,
        Some(folder) => Some((folder.clone(), executable::simulator(contenders)?)),
    };
    let question = Question {
        subjects: subjects(args, contenders)?,
        world: World::find(&args.world).map_err(Failure::input)?,
        budget: args.budget,
        method: args.method,
        seed: args.seed,
        most: args.most,
        jobs: args.jobs.threads(),
        kept,
    };
    let bar = progress::bar_of(args.budget.unit(), question.size());
    let watch = |subject: &Subject, progress: Progress| {
        let told = format!(
            "{}, {}: worst {:.2}, {} kinds",
            subject.candidate.name(),
            subject.goal.name(),
            progress.worst,
            progress.findings
        );
        bar.set(progress.spent, told);
    };
    let (survey, signal) = interrupt::stopping(interrupt::END_OR_HANGUP, |stop| {
        Survey::make(question, stop, &watch).map_err(Failure::run)
    })?;
    bar.finish_and_clear();
    let mut survey = survey?;
    show::show(&args.json, &survey)?;
    if let Some(folder) = &args.report {
        show::report(&mut survey, args.jobs.threads(), folder)?;
    }
    if let Some(folder) = &args.keep {
        let count = survey.save(folder).map_err(output::unwritable(folder))?;
        output::say(format_args!(
            "{count} cases: lowtide score --suite {}",
            folder.display()
        ));
    }
    match signal {
        None => Ok(()),
        Some(signal) => Err(Failure::Interrupted {
            signal,
            problem: "interrupted: what had been found is above".to_string(),
        }),
    }
}
