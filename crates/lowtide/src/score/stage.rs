//! Where candidates are run: in the simulator, or as programs over real packets.

#[cfg(target_os = "linux")]
use lowtide_bench::Cast;
use lowtide_bench::{Program, Recipe};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::experiment::{self, CellResult, Options};
use lowtide_lab::run::Stop;
use lowtide_lab::scenario_file::Cell;
use lowtide_lab::score::Plan;
use lowtide_lab::store::Store;

use super::Args;
#[cfg(target_os = "linux")]
use crate::executable;
use crate::failure::Failure;
use crate::output;
use crate::progress::Runs;
use crate::table;

/// The controller that is judged when nobody names one.
const USUAL: &str = "ebb";

/// Where candidates are run.
pub(super) enum Stage {
    /// In the simulator.
    Virtual,
    /// Over real packets.
    #[cfg(target_os = "linux")]
    Real(Vec<Program>, Cast),
}

impl Stage {
    #[cfg(target_os = "linux")]
    pub(super) fn of(args: &Args) -> Result<Self, Failure> {
        if !args.link {
            return Ok(Self::Virtual);
        }
        let programs = programs(args)?;
        let cast = Cast::new(&programs, [executable::start(), executable::path()])?;
        Ok(Self::Real(programs, cast))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(args: &Args) -> Result<Self, Failure> {
        if args.link {
            programs(args)?;
            return Err(Failure::run(
                "lowtide score --link needs Linux, as lowtide link does",
            ));
        }
        Ok(Self::Virtual)
    }

    /// Whom cases may name.
    pub(super) fn contenders(&self, known: &Contenders) -> Result<Contenders, Failure> {
        match self {
            Self::Virtual => Ok(known.clone()),
            #[cfg(target_os = "linux")]
            Self::Real(programs, _) => {
                let mut all = known.clone();
                for program in programs {
                    let name = &program.name;
                    if all.parse(name).is_ok() {
                        return Err(Failure::input(format!(
                            "a program cannot be called '{name}', as somebody else is: change its name"
                        )));
                    }
                    all = all.with_program(name);
                }
                Ok(all)
            }
        }
    }

    /// The controllers that are judged.
    pub(super) fn candidates(
        &self,
        args: &Args,
        contenders: &Contenders,
    ) -> Result<Vec<Contender>, Failure> {
        let named: Vec<&str> = match self {
            Self::Virtual if args.controllers.is_empty() => vec![USUAL],
            Self::Virtual => args.controllers.iter().map(String::as_str).collect(),
            #[cfg(target_os = "linux")]
            Self::Real(programs, _) => {
                let all = programs.iter().map(|p| contenders.parse(&p.name));
                return all.collect::<Result<_, _>>().map_err(Failure::input);
            }
        };
        let all = named.into_iter().map(|specs| contenders.parse_all(specs));
        let all: Vec<Vec<Contender>> = all.collect::<Result<_, _>>().map_err(Failure::input)?;
        Ok(all.concat())
    }

    /// Leaves out what cannot be run here.
    #[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
    pub(super) fn fit(&self, plan: &mut Plan) {
        match self {
            Self::Virtual => {}
            #[cfg(target_os = "linux")]
            Self::Real(_, cast) => cast.fit(plan),
        }
    }

    /// Runs cells, of which `missing` runs are not in the store; `stop` ends that.
    pub(super) fn execute(
        &self,
        cells: &[Cell],
        jobs: usize,
        store: Option<&Store>,
        missing: u64,
        stop: &Stop,
    ) -> Result<Vec<CellResult>, Failure> {
        match self {
            Self::Virtual => Runs::with_bar(missing, stop, |watch| {
                let options = Options {
                    jobs,
                    store,
                    ..Options::default()
                };
                experiment::run(cells, options, watch).map_err(Failure::run)
            }),
            #[cfg(target_os = "linux")]
            Self::Real(_, cast) => {
                let announce = |runs: usize, at_a_time: usize, seconds: f64| {
                    output::say(format_args!(
                        "{runs} runs in real time, {at_a_time} at a time: about {seconds:.0} s"
                    ));
                };
                Runs::with_bar(missing, stop, |watch| {
                    Ok(lowtide_bench::execute(
                        cells, cast, jobs, store, watch, announce,
                    ))
                })
            }
        }
    }
}

/// The programs that are judged.
fn programs(args: &Args) -> Result<Vec<Program>, Failure> {
    if args.flags.host.is_some() {
        return Err(Failure::input(
            "--host: programs bring their own; leave it out",
        ));
    }
    let mut programs = Vec::new();
    for name in args.controllers.iter().flat_map(|names| names.split(',')) {
        let program = Program::find(name)?;
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    if let (Some(server), Some(client)) = (&args.server, &args.client) {
        let own = Program::new("program".to_string(), server.clone(), client.clone());
        programs.push(own?);
    }
    if programs.is_empty() {
        return Err(Failure::input(
            "--link: whom? --recipe NAME ('lowtide score --link --list' has them), or --server and \
             --client",
        ));
    }
    Ok(programs)
}

pub(super) fn list_recipes() -> Result<(), Failure> {
    let recipes = Recipe::built_in()?;
    let entries = recipes.iter().map(|r| (r.shown(), r.about()));
    output::print(table::list(14, entries).as_bytes())
}
