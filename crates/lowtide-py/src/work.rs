//! Work without the interpreter's lock, which Ctrl-C ends and whose progress Python is told.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use lowtide_lab::run::{Stop, Watch};
use pyo3::prelude::*;

use crate::error;

/// How often signals are looked at, and progress is told.
const INTERVAL: Duration = Duration::from_millis(50);

/// How many threads there are to be, an argument; 0: one for each processor.
pub(crate) fn jobs(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract().map_err(|_| {
        let problem = "must be a whole number of threads, 0 for one for each processor";
        error::argument("jobs", problem)
    })
}

/// Counts runs, and may end them.
struct Watcher {
    done: AtomicU64,
    stop: Stop,
}

impl Watch for Watcher {
    fn on_run(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

/// The object that is told of progress: `told(done, total)`, and `close()` at the end where there is one.
struct Told<'a, 'py> {
    told: Option<Bound<'py, PyAny>>,
    last: u64,
    total: u64,
    watcher: &'a Watcher,
}

impl Told<'_, '_> {
    fn tell(&mut self) -> PyResult<()> {
        self.tell_of(self.watcher.done.load(Ordering::Relaxed))
    }

    fn tell_of(&mut self, done: u64) -> PyResult<()> {
        if let Some(told) = self.told.as_ref().filter(|_| done != self.last) {
            told.call1((done, self.total))?;
            self.last = done;
        }
        Ok(())
    }
}

/// Does work of so many runs. `progress`: what the caller gave for it.
///
/// # Errors
/// What ended it: a signal, or what progress raised.
pub(crate) fn done<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    total: u64,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    done_of(py, progress, ("runs", total), work)
}

/// Does work that counts something else than runs, by its name and number.
///
/// # Errors
/// As [`done`].
pub(crate) fn done_of<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    (unit, total): (&str, u64),
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let watcher = Watcher {
        done: AtomicU64::new(0),
        stop: Stop::new(),
    };
    let told = py
        .import("lowtide._progress")?
        .call_method1("told", (progress, unit))?;
    let closing = told.hasattr("close")?.then(|| told.clone());
    let mut told = Told {
        told: (!told.is_none()).then_some(told),
        last: 0,
        total,
        watcher: &watcher,
    };
    let (caller, is_done) = (thread::current(), AtomicBool::new(false));
    let watched = thread::scope(|scope| {
        let (watcher, is_done) = (&watcher, &is_done);
        let worker = scope.spawn(move || {
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(watcher)));
            is_done.store(true, Ordering::Release);
            caller.unpark();
            result
        });
        let mut problem = None;
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(INTERVAL));
            if let Err(error) = py.check_signals().and_then(|()| told.tell()) {
                watcher.stop.utter();
                problem = Some(error);
                break;
            }
        }
        // It ends soon: it has ended, or was told to.
        let result = py.detach(move || worker.join());
        match problem {
            Some(error) => Err(error),
            None => Ok(result),
        }
    });
    // What turned out not to be needed is done as well.
    let told = watched.and_then(|result| told.tell_of(total).map(|()| result));
    if let Some(closing) = closing {
        closing.call_method0("close")?;
    }
    match told? {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(panic)) | Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("without a message");
            Err(error::run(format!("panicked: {text}")))
        }
    }
}
