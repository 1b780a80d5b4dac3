//! Runs the cells of a scenario file: one failing cell stops no other, and results are kept, so that
//! what was interrupted goes on where it stopped.

mod by_path;
mod shard;
mod values;

use std::collections::BTreeSet;

pub use self::by_path::{PathCells, by_path};
pub use self::shard::{NoShard, Shard};
pub(crate) use self::values::Values;
use crate::run::{FailedRun, Keep, NoThreads, Pool, Run, Task, Watch};
use crate::scenario_file::Cell;
use crate::setting::Seeds;
use crate::statistics::{ci95, mean};
use crate::store::Store;

/// How cells are run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Threads; 0: one for each core.
    pub jobs: usize,
    /// Results of earlier runs, and where new ones go.
    pub store: Option<&'a Store>,
    /// Which of the runs are made; `None`: all.
    pub shard: Option<Shard>,
    /// The cells, by their place, whose first seed is kept over time.
    pub over_time: &'a [usize],
}

/// A cell's results.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// What was run.
    pub cell: Cell,
    /// The runs that came to their end, by seed.
    pub runs: Vec<Run>,
    /// The runs that failed.
    pub failed: Vec<FailedRun>,
    /// The runs that were not made: the work was ended before, or what was to run did not start.
    pub not_run: Vec<FailedRun>,
    /// The runs over real packets in which the machine was too late: of the link that was asked for they say
    /// nothing.
    pub unfaithful: Vec<FailedRun>,
}

impl CellResult {
    /// The result of a cell that has not been run.
    #[must_use]
    pub fn new(cell: Cell) -> Self {
        Self {
            cell,
            runs: Vec::new(),
            failed: Vec::new(),
            not_run: Vec::new(),
            unfaithful: Vec::new(),
        }
    }

    /// The names of all values that its runs have.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        let runs = self.runs.iter();
        runs.flat_map(|run| run.measured.named().into_keys())
            .collect()
    }

    /// A value's mean over the seeds and half the width of its 95 % interval; `None` where no run
    /// has it, or no interval with a single one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<(f64, Option<f64>)> {
        let of_runs: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|run| run.measured.get(name))
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

/// The runs of cells, or of a shard of them: the cell's place, and the seed.
#[must_use]
pub fn runs(cells: &[Cell], shard: Option<Shard>) -> Vec<(usize, u64)> {
    match shard {
        Some(shard) => shard.runs(cells),
        None => {
            let seeds = cells.iter().map(|cell| cell.setting.seeds);
            let of_a_cell = |(n, seeds): (usize, Seeds)| seeds.iter().map(move |seed| (n, seed));
            seeds.enumerate().flat_map(of_a_cell).collect()
        }
    }
}

/// How many runs cells take that are not in the store.
#[must_use]
pub fn count_runs(cells: &[Cell], store: Option<&Store>) -> u64 {
    let runs = runs(cells, None);
    runs.len() as u64 - count_known(cells, &runs, store)
}

/// How many of these runs are in the store.
#[must_use]
pub fn count_known(cells: &[Cell], runs: &[(usize, u64)], store: Option<&Store>) -> u64 {
    let is_known = |(n, seed): &&(usize, u64)| {
        store.is_some_and(|store| store.get(cells[*n].key, *seed).is_some())
    };
    runs.iter().filter(is_known).count() as u64
}

/// Runs all cells with all their seeds, or the shard of them; what `watch` ends is not run.
///
/// # Errors
/// When threads cannot be started.
pub fn run(
    cells: &[Cell],
    options: Options<'_>,
    watch: &dyn Watch,
) -> Result<Vec<CellResult>, NoThreads> {
    let pool = Pool::new(options.jobs)?;
    let names: Vec<String> = cells.iter().map(Cell::name).collect();
    let task = |n: usize, seed: u64| {
        let setting = &cells[n].setting;
        let over_time = seed == setting.seeds.first && options.over_time.contains(&n);
        Task {
            name: &names[n],
            setting,
            seed,
            keep: if over_time {
                Keep::Timeline
            } else {
                Keep::Metrics
            },
            cell: Some(&cells[n]),
        }
    };
    let (places, tasks): (Vec<usize>, Vec<Task<'_>>) = runs(cells, options.shard)
        .into_iter()
        .map(|(n, seed)| (n, task(n, seed)))
        .unzip();
    let mut results: Vec<CellResult> = cells.iter().cloned().map(CellResult::new).collect();
    let done = pool.run(&tasks, options.store, watch);
    let is_stopped = watch.stop().is_uttered();
    for (n, done) in places.into_iter().zip(done) {
        match done {
            Ok(run) => results[n].runs.push(run),
            Err(stopped) if is_stopped => results[n].not_run.push(stopped),
            Err(failed) => results[n].failed.push(failed),
        }
    }
    Ok(results)
}
