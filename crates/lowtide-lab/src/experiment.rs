//! Runs the cells of a scenario file: on all cores, one failing cell stopping no other, results
//! kept so that what was interrupted goes on where it stopped.

pub mod key;
mod store;
mod values;

use std::panic::{self, AssertUnwindSafe};

use lowtide_sim::Simulation;
use rayon::prelude::*;

pub use self::store::{FILE, Store};
pub use self::values::{Counts, Values};
use crate::compare::{Error, FailedRun, reason};
use crate::metrics::{Delays, Measured, Meter};
use crate::scenario_file::Cell;
use crate::statistics::{ci95, mean};
use crate::timeline::Timeline;

/// How cells are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Threads; 0: one for each core.
    pub jobs: usize,
    /// Results of earlier runs, and where new ones go.
    pub store: Option<&'a Store>,
    /// The cells, by their place, whose first seed is kept over time.
    pub over_time: &'a [usize],
}

/// What a report needs beyond the values.
#[derive(Clone, Debug)]
pub struct Details {
    /// All metrics.
    pub measured: Measured,
    /// Over time.
    pub timeline: Option<Timeline>,
    /// RTTs.
    pub rtt: Delays,
    /// One-way delays beyond propagation, likewise.
    pub queueing: Delays,
    /// Packets that crossed the bottleneck.
    pub packets: u64,
}

/// One run of a cell.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// What was measured.
    pub values: Values,
    /// `None` where the values come from an earlier run.
    pub details: Option<Details>,
}

/// A cell's results.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// What was run.
    pub cell: Cell,
    /// The runs that came to their end, by seed.
    pub runs: Vec<Run>,
    /// Those that did not.
    pub failed: Vec<FailedRun>,
}

impl CellResult {
    /// A value's mean over the seeds and half the width of its 95 % interval; `None` where no run
    /// has it, or no interval with a single one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<(f64, Option<f64>)> {
        let of_runs: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|run| run.values.get(name).copied())
            .collect();
        if of_runs.is_empty() {
            return None;
        }
        Some((
            mean(&of_runs),
            Some(ci95(&of_runs)).filter(|c| c.is_finite()),
        ))
    }
}

/// How many runs cells take that are not in the store.
#[must_use]
pub fn count_runs(cells: &[Cell], store: Option<&Store>) -> u64 {
    let missing = |cell: &Cell| {
        cell.prepared
            .seeds()
            .filter(|seed| store.is_none_or(|s| s.get(cell.key, *seed).is_none()))
            .count() as u64
    };
    cells.iter().map(missing).sum()
}

/// Runs all cells with all their seeds; `progress` is called after each new run.
///
/// # Errors
/// When threads cannot be started.
pub fn run(
    cells: &[Cell],
    options: Options<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<CellResult>, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|e| Error::Threads(e.to_string()))?;
    let tasks: Vec<(usize, u64)> = cells
        .iter()
        .enumerate()
        .flat_map(|(n, cell)| cell.prepared.seeds().map(move |seed| (n, seed)))
        .collect();
    let done: Vec<Result<Run, FailedRun>> = pool.install(|| {
        tasks
            .par_iter()
            .map(|&(n, seed)| {
                let cell = &cells[n];
                if let Some(values) = options.store.and_then(|s| s.get(cell.key, seed)) {
                    return Ok(Run {
                        seed,
                        values: values.clone(),
                        details: None,
                    });
                }
                let timeline = seed == cell.prepared.first_seed && options.over_time.contains(&n);
                let done = run_one(cell, seed, timeline).and_then(|run| {
                    if let Some(store) = options.store {
                        store
                            .put(cell.key, &cell.name(), seed, &run.values)
                            .map_err(|e| {
                                let path = store.path().display();
                                failed(cell, seed, format!("cannot write {path}: {e}"))
                            })?;
                    }
                    Ok(run)
                });
                progress();
                done
            })
            .collect()
    });
    let mut results: Vec<CellResult> = cells
        .iter()
        .map(|cell| CellResult {
            cell: cell.clone(),
            runs: Vec::new(),
            failed: Vec::new(),
        })
        .collect();
    for ((n, _), done) in tasks.into_iter().zip(done) {
        match done {
            Ok(run) => results[n].runs.push(run),
            Err(failed) => results[n].failed.push(failed),
        }
    }
    Ok(results)
}

fn failed(cell: &Cell, seed: u64, reason: String) -> FailedRun {
    FailedRun {
        name: cell.name(),
        seed,
        reason,
    }
}

fn run_one(cell: &Cell, seed: u64, timeline: bool) -> Result<Run, FailedRun> {
    let prepared = &cell.prepared;
    let fails = |reason: String| failed(cell, seed, reason);
    let simulate = AssertUnwindSafe(|| {
        let config = prepared.config(seed).map_err(|e| fails(e.to_string()))?;
        let from = prepared.measure_from;
        let meter = Meter::new(&config).measuring_from(from);
        let counts = Counts::new(prepared.groups(), from, config.duration);
        let over_time = timeline.then(|| Timeline::new(&config));
        let mut probe = (meter, (counts, over_time));
        let simulation = Simulation::new(config).map_err(|e| fails(e.to_string()))?;
        let outcome = simulation.run(&mut probe);
        let (mut meter, (counts, timeline)) = probe;
        let measured = meter.finish();
        // Only a report shows distributions, and only of what it has over time.
        let (rtt, queueing) = match timeline {
            Some(_) => (meter.rtt(), meter.queueing()),
            None => Default::default(),
        };
        Ok(Run {
            seed,
            values: counts.values(&measured),
            details: Some(Details {
                rtt,
                queueing,
                measured,
                timeline,
                packets: outcome.bottleneck_packets,
            }),
        })
    });
    panic::catch_unwind(simulate).unwrap_or_else(|panic| Err(fails(reason(&*panic))))
}
