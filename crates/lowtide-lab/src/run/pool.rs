//! Runs on all cores.

use rayon::prelude::*;

use super::watch::Stopped;
use super::{FailedRun, Keep, Run, Stop, Watch, reason, run_until};
use crate::metrics::Measured;
use crate::scenario_file::Cell;
use crate::setting::Setting;
use crate::store::Store;

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Name of the run where it fails.
    pub name: &'a str,
    /// What is simulated.
    pub setting: &'a Setting,
    /// The seed.
    pub seed: u64,
    /// What is kept of the run.
    pub keep: Keep,
    /// The cell that it is of, by which a store knows it; without one it is not kept there.
    pub cell: Option<&'a Cell>,
}

impl Task<'_> {
    fn stored(&self, store: Option<&Store>) -> Option<Measured> {
        let named = store?.take(self.cell?, self.seed)?;
        Some(Measured::from_named(named))
    }

    fn run(&self, store: Option<&Store>, stop: &Stop) -> Result<Run, String> {
        let done = run_until(self.setting, self.seed, self.keep, stop)?;
        if let (Some(store), Some(cell)) = (store, self.cell) {
            store.put(cell, self.seed, &done.measured.named());
        }
        Ok(done)
    }
}

/// Threads that make runs. Runs are independent and deterministic, so that the number of threads
/// changes nothing but the time it takes.
#[derive(Debug)]
pub struct Pool(rayon::ThreadPool);

/// The threads cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start the worker threads: {0}")]
pub struct NoThreads(String);

impl Pool {
    /// Number of threads; 0: one for each core.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn new(threads: usize) -> Result<Self, NoThreads> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map(Self)
            .map_err(|e| NoThreads(e.to_string()))
    }

    /// Makes all runs that are not in the store, and keeps them there; their results in the order of
    /// the tasks.
    pub fn run(
        &self,
        tasks: &[Task<'_>],
        store: Option<&Store>,
        watch: &dyn Watch,
    ) -> Vec<Result<Run, FailedRun>> {
        let stop = watch.stop();
        let result = |task: &Task<'_>| {
            if let Some(measured) = task.stored(store) {
                return Ok(Run {
                    seed: task.seed,
                    measured,
                    details: None,
                });
            }
            let failed = |reason| FailedRun {
                name: task.name.to_string(),
                seed: task.seed,
                reason,
            };
            if stop.is_uttered() {
                return Err(failed(reason(&Stopped)));
            }
            let done = task.run(store, &stop).map_err(failed);
            watch.on_run();
            done
        };
        self.0.install(|| tasks.par_iter().map(result).collect())
    }

    /// Does something to each of these.
    pub(crate) fn each<T: Send>(&self, items: Vec<T>, f: impl Fn(T) + Sync + Send) {
        self.0.install(|| items.into_par_iter().for_each(f));
    }
}
