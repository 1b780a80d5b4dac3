//! The runs of suites over real packets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use lowtide_lab::experiment::CellResult;
use lowtide_lab::key::Key;
use lowtide_lab::metrics::Measured;
use lowtide_lab::program::obstacle;
use lowtide_lab::run::{FailedRun, Run, Stop, Watch};
use lowtide_lab::scenario_file::Cell;
use lowtide_lab::score::Plan;
use lowtide_lab::setting::{Group, Setting};
use lowtide_lab::store::Store;
use lowtide_link::{Error, Namespace};
use lowtide_sim::source::SourceConfig;

use crate::recipe::Program;
use crate::session::{self, Order, Trouble};

/// How often a run is made until the link was faithful.
const ATTEMPTS: u32 = 3;

/// Links need two threads on time.
const CORES_PER_RUN: usize = 2;

/// Programs by the names of those whom they are in cells.
#[derive(Debug)]
pub struct Cast {
    programs: BTreeMap<String, Program>,
    /// Starts this program again, from this process and from another.
    this: [PathBuf; 2],
}

impl Cast {
    /// These, and the kernel's for the controllers that it has. Finds out whether there can be namespaces,
    /// for which this process may have to become root in a user namespace: no thread may run yet.
    ///
    /// `this` starts this program again, from this process and from another: it calls
    /// [`bulk_tcp_if_asked`](crate::bulk_tcp_if_asked) and [`lowtide_link::guard_if_asked`].
    ///
    /// # Errors
    /// When the kernel refuses namespaces.
    pub fn new(programs: &[Program], this: [PathBuf; 2]) -> Result<Self, Error> {
        Namespace::first()?;
        let named = programs.iter().map(|p| (p.name.clone(), p.clone()));
        let mut all: BTreeMap<String, Program> = named.collect();
        for name in ["cubic", "newreno", "bbr"] {
            if let Some(program) = Program::standing_for(name) {
                all.entry(name.to_string()).or_insert(program);
            }
        }
        Ok(Self {
            programs: all,
            this,
        })
    }

    /// Leaves out of a plan what cannot be run, and gives its cells keys that know the programs.
    pub fn fit(&self, plan: &mut Plan) {
        plan.leave_out(|cell| {
            let setting = &cell.setting;
            let found = obstacle(setting, |name| self.programs.contains_key(name));
            let sized = |group: &Group| matches!(group.source, SourceConfig::Sized(_));
            found.or_else(|| {
                let mut groups = setting.groups.iter().filter(|group| sized(group));
                let deaf = groups.find(|group| {
                    let program = self.programs.get(group.contender.name());
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
        names
            .filter_map(|name| self.programs.get(name).cloned())
            .collect()
    }
}

/// A cell's run.
struct Task {
    cell: usize,
    seed: u64,
    programs: Vec<Program>,
}

/// Runs cells with all their seeds, as far as a store has not their results, `jobs` at a time (0: as the cores allow).
/// `announce` is told how many runs are to be made, how many at a time, and about how many seconds that takes. Where
/// `watch` stops them all programs are ended, and what is left is not run.
#[must_use]
pub fn execute(
    cells: &[Cell],
    cast: &Cast,
    jobs: usize,
    store: Option<&Store>,
    watch: &dyn Watch,
    announce: impl FnOnce(usize, usize, f64),
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
    let seconds = |task: &Task| cells[task.cell].setting.duration.as_secs_f64();
    let all: f64 = tasks.iter().map(seconds).sum();
    announce(tasks.len(), workers, all / workers as f64);
    let stop = watch.stop();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(&mut results);
    let work = || {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let cell = &cells[task.cell];
            let outcome = attempt(cell, task, cast, &stop);
            if let (Some(store), Ok((run, None))) = (store, &outcome) {
                store.put(cell, task.seed, &run.measured.named());
            }
            let failed = |reason: String| FailedRun {
                name: cell.name(),
                seed: task.seed,
                reason,
            };
            let mut all = done.lock().unwrap_or_else(PoisonError::into_inner);
            let result = &mut all[task.cell];
            match outcome {
                Ok((run, unfaithful)) => {
                    result.runs.push(run);
                    result.unfaithful.extend(unfaithful.map(failed));
                }
                Err(Trouble::BrokeOff(why)) => result.failed.push(failed(why.to_string())),
                Err(Trouble::NotRun(why)) => result.not_run.push(failed(why.to_string())),
            }
            drop(all);
            watch.on_run();
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    for result in &mut results {
        result.runs.sort_by_key(|run| run.seed);
        result.not_run.sort_by_key(|run| run.seed);
    }
    results
}

/// Makes a run, again where the link was not faithful; why the last one was not.
fn attempt(
    cell: &Cell,
    task: &Task,
    cast: &Cast,
    stop: &Stop,
) -> Result<(Run, Option<String>), Trouble> {
    let order = Order {
        setting: &cell.setting,
        seed: task.seed,
        programs: &task.programs,
        this: &cast.this,
        stop,
    };
    let started = Instant::now();
    let mut attempts = 0;
    while !stop.is_uttered() {
        attempts += 1;
        match session::run(order)? {
            None => {}
            Some((_, Some(_))) if attempts < ATTEMPTS => {}
            Some((run, unfaithful)) => {
                let seconds = started.elapsed().as_secs();
                let why = |why| format!("{why} ({attempts} attempts in {seconds} s)");
                return Ok((run, unfaithful.map(why)));
            }
        }
    }
    Err(Error::failed("interrupted").into())
}
