//! `lowtide attack`.

mod show;

use std::path::PathBuf;
use std::time::Duration;

use lowtide_attack::found::Finding;
use lowtide_attack::goal::Goal;
use lowtide_attack::hunt::{self, Outcome, Question};
use lowtide_attack::search::Method;
use lowtide_attack::survey;
use lowtide_attack::trial::{Subject, TrialError};
use lowtide_attack::world::{WORLDS, World};
use lowtide_cc::registry;
use lowtide_cc::units::quantity;
use lowtide_lab::contender::{CAUSAL, Contender, Contenders};
use lowtide_lab::score;
use lowtide_lab::setting::Host;

use crate::failure::Failure;
use crate::interrupt;
use crate::jobs::Jobs;
use crate::json_flag::JsonFlag;
use crate::output;
use crate::program;
use crate::progress;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Controllers, as in ebb or bbr3,cubic:hystart=false, or one each time
    #[arg(long = "cc", value_name = "NAME", required = true)]
    controllers: Vec<String>,

    /// What is bad: throughput, delay, both, stall, starvation, latecomer, harm, share:cubic, share:bbr, share:bbr3,
    /// loss, memory; or all
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

    /// The controller or bound that throughput, delay, both, stall, loss and memory are held against
    #[arg(long, value_name = "NAME", default_value = CAUSAL)]
    reference: String,

    /// What carries the flows: model, quic, noq or quinn [default: that of the controller]
    #[arg(long, value_name = "HOST")]
    host: Option<Host>,

    /// Networks for each controller and goal, or how long to search for all, as in 2000 or 10m
    #[arg(long, value_name = "N|TIME", default_value = "1000", value_parser = budget)]
    budget: Budget,

    /// How networks are chosen: elites, cma or random
    #[arg(long, value_name = "METHOD", default_value = "elites", value_parser = method)]
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

    #[command(flatten)]
    json: JsonFlag,
}

/// How much is tried.
#[derive(Clone, Copy, Debug)]
enum Budget {
    Networks(u64),
    Time(Duration),
}

fn budget(text: &str) -> Result<Budget, String> {
    if let Ok(networks) = text.parse() {
        return Ok(Budget::Networks(networks));
    }
    let minutes = text.strip_suffix('m').and_then(|m| m.parse::<u64>().ok());
    if let Some(minutes) = minutes {
        return Ok(Budget::Time(Duration::from_secs(60 * minutes)));
    }
    let time = quantity::duration(text);
    let time = time.map_err(|_| "a number of networks, as in 2000, or a time, as in 10m or 90s")?;
    Ok(Budget::Time(Duration::from_nanos(time.as_nanos())))
}

fn method(text: &str) -> Result<Method, String> {
    let known: Vec<&str> = Method::ALL.iter().map(|m| m.name()).collect();
    Method::find(text).ok_or_else(|| registry::unknown("method ", text, &known))
}

/// The controllers that are asked for.
fn contenders_of(args: &Args, contenders: &Contenders) -> Result<Vec<Contender>, Failure> {
    let mut found = Vec::new();
    for specs in &args.controllers {
        found.extend(contenders.parse_all(specs).map_err(Failure::input)?);
    }
    Ok(found)
}

/// Each controller by each goal.
fn subjects(
    args: &Args,
    controllers: &[Contender],
    contenders: &Contenders,
) -> Result<Vec<Subject>, Failure> {
    let host = score::host_of(controllers, args.host).map_err(Failure::input)?;
    let goals = match args.goals.as_slice() {
        [all] if all == "all" => Goal::all(),
        named => {
            let found = named.iter().map(|name| {
                let known: Vec<String> = Goal::all().into_iter().map(Goal::name).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let unknown = || Failure::input(registry::unknown("goal ", name, &known));
                Goal::find(name).ok_or_else(unknown)
            });
            found.collect::<Result<_, _>>()?
        }
    };
    contenders.parse(&args.reference).map_err(Failure::input)?;
    let mut subjects = Vec::new();
    for candidate in controllers {
        if candidate.name() == args.reference {
            let name = candidate.name();
            let problem = format!("{name} cannot be held against itself: use another --reference");
            return Err(Failure::input(problem));
        }
        subjects.extend(goals.iter().map(|goal| Subject {
            candidate: candidate.clone(),
            host,
            goal: *goal,
            reference: args.reference.clone(),
            contenders: contenders.clone(),
        }));
    }
    Ok(subjects)
}

/// All findings with their subjects.
fn findings<'a>(
    question: &'a Question,
    outcomes: &'a [Outcome],
) -> Vec<(&'a Subject, &'a Finding)> {
    let pairs = question.subjects.iter().zip(outcomes);
    let findings = pairs.flat_map(|(subject, outcome)| {
        let findings = outcome.findings.iter();
        findings.map(move |finding| (subject, finding))
    });
    findings.collect()
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let controllers = contenders_of(args, contenders)?;
    let subjects = subjects(args, &controllers, contenders)?;
    let world = World::find(&args.world).ok_or_else(|| {
        let known: Vec<&str> = WORLDS.iter().map(|world| world.name).collect();
        Failure::input(registry::unknown("world ", &args.world, &known))
    })?;
    let kept = match &args.output {
        None => None,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::run(format!("{}: {e}", folder.display())))?;
            let key = program::simulator(contenders)?;
            Some((folder.clone(), format!("simulator {key}")))
        }
    };
    let (networks, time) = match args.budget {
        Budget::Networks(networks) => (networks, None),
        Budget::Time(time) => (u64::MAX, Some(time)),
    };
    let count = subjects.len().max(1);
    let question = Question {
        subjects,
        world,
        budget: networks,
        // Each has an even part of it.
        time: time.map(|time| time / u32::try_from(count).unwrap_or(u32::MAX)),
        method: args.method,
        seed: args.seed,
        most: args.most,
        jobs: args.jobs.threads(),
        kept,
    };
    let bar = progress::bar(networks.saturating_mul(count as u64));
    let watch = |n: usize, progress: lowtide_attack::search::Progress| {
        let subject = &question.subjects[n];
        let before = networks.saturating_mul(n as u64);
        let told = format!(
            "{}, {}: worst {:.2}, {} kinds",
            subject.candidate.name(),
            subject.goal.name(),
            progress.worst,
            progress.findings
        );
        bar.set(before.saturating_add(progress.tried), told);
    };
    let (outcomes, signal) = interrupt::stopping(interrupt::END_OR_HANGUP, |stop| {
        let outcomes = hunt::hunt(&question, stop, &watch).map_err(Failure::run)?;
        let found = findings(&question, &outcomes);
        let transfer = match survey::transfer(&found, &controllers, stop) {
            Ok(transfer) => Some(transfer),
            Err(TrialError::Ended) => None,
            Err(e) => return Err(Failure::run(e)),
        };
        Ok((outcomes, transfer))
    })?;
    bar.finish_and_clear();
    let (outcomes, transfer) = outcomes?;
    show::show(&args.json, &question, &outcomes, transfer.as_ref())?;
    if let Some(folder) = &args.keep {
        let findings = findings(&question, &outcomes);
        for (n, (subject, finding)) in findings.iter().enumerate() {
            let path = folder.join(format!("{}.toml", finding.id(n + 1)));
            output::write(&path, finding.text(subject, n + 1).as_bytes())?;
        }
        output::say(format_args!(
            "{} cases: lowtide score --suite {}",
            findings.len(),
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
