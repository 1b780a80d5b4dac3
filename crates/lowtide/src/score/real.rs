//! Suites over real packets: programs behind emulated links, in real time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use lowtide_lab::experiment::CellResult;
use lowtide_lab::key::Key;
use lowtide_lab::metrics::Measured;
use lowtide_lab::program::obstacle;
use lowtide_lab::run::{FailedRun, Run, Stop};
use lowtide_lab::scenario_file::Cell;
use lowtide_lab::score::Plan;
use lowtide_lab::setting::{Group, Setting};
use lowtide_lab::store::Store;
use lowtide_sim::source::SourceConfig;

use super::recipe::Program;
use super::session::{self, Done, Order, Trouble};
use crate::failure::Failure;
use crate::link;
use crate::output;
use crate::progress;

/// How often a run is made until the link was faithful.
const ATTEMPTS: u32 = 3;

/// Links need two threads on time.
const CORES_PER_RUN: usize = 2;

/// Programs by the names of those whom they are in cells.
pub(super) struct Cast(BTreeMap<String, Program>);

impl Cast {
    /// These, and the kernel's for the controllers that it has. Finds out whether there can be namespaces,
    /// for which this process may have to become root in a user namespace: no thread may run yet.
    pub(super) fn new(programs: &[Program]) -> Result<Self, Failure> {
        link::session::first_namespace()?;
        let named = programs.iter().map(|p| (p.name.clone(), p.clone()));
        let mut all: BTreeMap<String, Program> = named.collect();
        for name in ["cubic", "newreno", "bbr"] {
            if let Some(program) = Program::standing_for(name) {
                all.entry(name.to_string()).or_insert(program);
            }
        }
        Ok(Self(all))
    }

    /// Leaves out of a plan what cannot be run, and gives its cells keys that know the programs.
    pub(super) fn fit(&self, plan: &mut Plan) {
        plan.leave_out(|cell| {
            let setting = &cell.setting;
            let found = obstacle(setting, |name| self.0.contains_key(name));
            let sized = |group: &Group| matches!(group.source, SourceConfig::Sized(_));
            found.or_else(|| {
                let mut groups = setting.groups.iter().filter(|group| sized(group));
                let deaf = groups.find(|group| {
                    let program = self.0.get(group.contender.name());
                    program.is_some_and(|program| !program.knows_volume())
                })?;
                let name = deaf.contender.name();
                Some(format!("the commands of {name} have no {{bytes}}"))
            })
        });
        for cell in &mut plan.cells {
            let mut text = format!("link {}", cell.key);
            for program in self.of(&cell.setting) {
                text += &format!("\n{}\n{}", program.server, program.client);
            }
            cell.key = Key::of(&[text.as_bytes()]);
        }
    }

    /// The program of each group.
    fn of(&self, setting: &Setting) -> Vec<Program> {
        let names = setting.groups.iter().map(|group| group.contender.name());
        names.filter_map(|name| self.0.get(name).cloned()).collect()
    }
}

/// A cell's run.
struct Task {
    cell: usize,
    seed: u64,
    programs: Vec<Program>,
}

/// What came of a run.
enum Outcome {
    Measured(Run),
    Unfaithful(Run, FailedRun),
    Failed(FailedRun),
    NotRun(FailedRun),
}

/// Runs all cells with all their seeds, `jobs` at a time (0: as the cores allow); `stop` ends all programs, and
/// what is left is not run.
pub(super) fn execute(
    cells: &[Cell],
    cast: &Cast,
    jobs: usize,
    store: Option<&Store>,
    stop: &Stop,
) -> Vec<CellResult> {
    let mut results: Vec<CellResult> = cells.iter().cloned().map(CellResult::new).collect();
    let mut tasks = Vec::new();
    for (n, cell) in cells.iter().enumerate() {
        for seed in cell.setting.seeds.iter() {
            match store.and_then(|store| store.take(cell, seed)) {
                Some(named) => results[n].runs.push(Run {
                    seed,
                    measured: Measured::from_named(named),
                    details: None,
                }),
                None => tasks.push(Task {
                    cell: n,
                    seed,
                    programs: cast.of(&cell.setting),
                }),
            }
        }
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = match jobs {
        0 => (cores / CORES_PER_RUN).max(1),
        jobs => jobs,
    };
    announce(cells, &tasks, workers);
    let bar = progress::bar(tasks.len() as u64);
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = attempt(&cells[task.cell], task, stop);
            if let (Some(store), Outcome::Measured(run)) = (store, &outcome) {
                let cell = &cells[task.cell];
                store.put(cell, task.seed, &run.measured.named());
            }
            let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((task.cell, outcome));
            bar.inc();
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    bar.finish_and_clear();
    for (cell, outcome) in outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        let result = &mut results[cell];
        match outcome {
            Outcome::Measured(run) => result.runs.push(run),
            Outcome::Unfaithful(run, why) => {
                result.runs.push(run);
                result.unfaithful.push(why);
            }
            Outcome::Failed(why) => result.failed.push(why),
            Outcome::NotRun(why) => result.not_run.push(why),
        }
    }
    for result in &mut results {
        result.runs.sort_by_key(|run| run.seed);
        result.not_run.sort_by_key(|run| run.seed);
    }
    results
}

fn announce(cells: &[Cell], tasks: &[Task], workers: usize) {
    let seconds = |task: &Task| cells[task.cell].setting.duration.as_secs_f64();
    let all: f64 = tasks.iter().map(seconds).sum();
    output::say(format_args!(
        "{} runs in real time, {workers} at a time: about {:.0} s",
        tasks.len(),
        all / workers as f64
    ));
}

/// Makes a run, again where the link was not faithful.
fn attempt(cell: &Cell, task: &Task, stop: &Stop) -> Outcome {
    let failed = |reason: String| FailedRun {
        name: cell.name(),
        seed: task.seed,
        reason,
    };
    let order = Order {
        setting: &cell.setting,
        seed: task.seed,
        programs: &task.programs,
        stop,
    };
    let started = Instant::now();
    let mut attempts = 0;
    loop {
        if stop.is_uttered() {
            return Outcome::NotRun(failed("interrupted".to_string()));
        }
        attempts += 1;
        match session::run(order) {
            Err(Trouble::NotRun(why)) => return Outcome::NotRun(failed(why.to_string())),
            Err(Trouble::BrokeOff(why)) => return Outcome::Failed(failed(why.to_string())),
            Ok(None) => {}
            Ok(Some(Done { run, unfaithful })) => match unfaithful {
                None => return Outcome::Measured(run),
                Some(_) if attempts < ATTEMPTS => {}
                Some(why) => {
                    let seconds = started.elapsed().as_secs();
                    let why = format!("{why} ({attempts} attempts in {seconds} s)");
                    return Outcome::Unfaithful(run, failed(why));
                }
            },
        }
    }
}
