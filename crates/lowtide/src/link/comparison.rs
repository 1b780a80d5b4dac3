//! What ran behind the link, beside what controllers would have done on it.

use lowtide_cc::units::Duration;
use lowtide_lab::compare::{self, Comparison, Options};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::program::{Active, Program, Watched};
use lowtide_lab::setting::{Host, Seeds, Setting};

use super::{Args, Limited};
use crate::failure::Failure;
use crate::progress::Runs;
use crate::{interrupt, output};

/// Whom a program is compared with unless others are named: our own, the low-latency family, and what
/// is in use.
const USUAL: [&str; 7] = ["ebb", "rbbr", "bbr-s", "copa", "bbr", "bbr3", "cubic"];

/// The longest run in virtual time.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The names of the ways down and up.
const WAYS: [&str; 2] = ["down", "up"];

/// One way of the link.
pub(super) struct Compared {
    /// `down` or `up`.
    pub(super) way: &'static str,
    /// The program while it sent.
    pub(super) active: Option<Active>,
    /// The link, and the program beside the controllers on it.
    pub(super) run: (Setting, Comparison),
}

/// With whom the program is to be compared; nobody unless that was asked for.
pub(super) fn asked(args: &Args, contenders: &Contenders) -> Result<Vec<Contender>, Failure> {
    let named = match args.controllers.as_slice() {
        [] if args.report.is_none() => return Ok(Vec::new()),
        [] => USUAL.map(str::to_string).to_vec(),
        some => some.to_vec(),
    };
    crate::compare::asked(&named, contenders, Host::Model)
}

/// What watches the ways down and up: those that have the link, if anybody asked.
pub(super) fn programs(
    args: &Args,
    setting: &Setting,
    asked: &[Contender],
) -> Result<[Option<Program>; 2], Failure> {
    if asked.is_empty() {
        return Ok([None, None]);
    }
    let program = |limited: bool, way: &str| {
        let mut setting = setting.clone();
        if let Some(transport) = args.transport {
            setting = setting.over(transport.config());
        }
        setting.seeds = Seeds {
            first: args.seed,
            count: 1,
        };
        if args.limited == Limited::Both {
            setting.link_name = format!("{}, {way}", setting.link_name);
        }
        let program = limited.then(|| Program::new(&setting, args.seed));
        program.transpose().map_err(Failure::input)
    };
    Ok([
        program(args.limited != Limited::Up, WAYS[0])?,
        program(args.limited != Limited::Down, WAYS[1])?,
    ])
}

/// Compares each way that was watched. A signal ends that, and nothing that was measured is lost.
pub(super) fn compare(
    watched: [Option<Watched>; 2],
    asked: &[Contender],
) -> Result<Vec<Compared>, Failure> {
    let ways = WAYS.into_iter().zip(watched);
    ways.filter_map(|(way, watched)| Some((way, watched?)))
        .map(|(way, watched)| {
            let others = match obstacle(way, &watched) {
                Some(obstacle) => Err(obstacle),
                None => in_virtual_time(&watched.setting, asked)?,
            };
            let others = others.unwrap_or_else(|obstacle| {
                output::say(format_args!("nothing to compare with: {obstacle}"));
                Comparison::default()
            });
            Ok(Compared {
                way,
                active: watched.active,
                run: watched.beside(others),
            })
        })
        .collect()
}

/// Why nothing can be compared.
fn obstacle(way: &str, watched: &Watched) -> Option<String> {
    if watched.active.is_none() {
        return Some(format!("nothing went {way} the link"));
    }
    let too_long = watched.setting.duration > LONGEST;
    too_long.then(|| "the longest run in virtual time is 24 hours".to_string())
}

/// The controllers on the link; what was in the way, where a signal came.
fn in_virtual_time(
    setting: &Setting,
    asked: &[Contender],
) -> Result<Result<Comparison, String>, Failure> {
    let options = Options {
        jobs: 0,
        timelines: true,
    };
    let runs = compare::count_runs(setting, asked);
    let (compared, signal) = interrupt::stopping(interrupt::END_OR_HANGUP, |stop| {
        Runs::with_bar(runs, stop, |watch| {
            compare::compare(setting, asked, options, watch)
        })
    })?;
    match signal {
        None => compared.map(Ok).map_err(Failure::run),
        Some(_) => Ok(Err("interrupted".to_string())),
    }
}
