//! What becomes of an exception in a controller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::units::Time;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::number::{kind_of, seconds};

/// Exceptions that are kept with their frames; of further ones their text remains.
const MOST: usize = 100;

/// The exceptions that ended runs, so that the error which says so can name its cause.
#[derive(Clone, Default)]
pub(crate) struct Failures(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// By the reason of the failed run.
    causes: Vec<(String, PyErr)>,
    /// One that ends more than its run: `KeyboardInterrupt`, `SystemExit`.
    interrupt: Option<PyErr>,
}

impl Failures {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The exception behind a failed run's reason.
    pub(crate) fn cause(&self, py: Python<'_>, reason: &str) -> Option<PyErr> {
        let kept = self.kept();
        let (_, cause) = kept.causes.iter().find(|(text, _)| text == reason)?;
        Some(cause.clone_ref(py))
    }

    /// The first failed run's reason, and its exception.
    pub(crate) fn first(&self, py: Python<'_>) -> Option<(String, PyErr)> {
        let kept = self.kept();
        let (reason, cause) = kept.causes.first()?;
        Some((reason.clone(), cause.clone_ref(py)))
    }

    /// What is to end all runs.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> Option<PyErr> {
        self.kept()
            .interrupt
            .as_ref()
            .map(|error| error.clone_ref(py))
    }
}

/// A controller, whose exceptions end its run.
#[derive(Clone)]
pub(super) struct Blamed {
    pub(super) name: Arc<str>,
    pub(super) failures: Failures,
}

impl Blamed {
    /// Does something with the interpreter, which ends this thread's run where it fails.
    pub(super) fn guarded<R>(
        &self,
        event: &str,
        now: Time,
        f: impl FnOnce(Python<'_>) -> PyResult<R>,
    ) -> R {
        Python::attach(|py| {
            if self.failures.kept().interrupt.is_some() {
                lowtide_lab::run::abandon("ended before its time".to_string());
            }
            f(py).unwrap_or_else(|error| self.end_run(py, event, now, error))
        })
    }

    fn end_run(&self, py: Python<'_>, event: &str, now: Time, error: PyErr) -> ! {
        let reason = self.sentence(py, event, now, &error);
        {
            let mut kept = self.failures.kept();
            if !error.is_instance_of::<PyException>(py) {
                kept.interrupt.get_or_insert(error);
            } else if kept.causes.len() < MOST {
                kept.causes.push((reason.clone(), error));
            }
        }
        lowtide_lab::run::abandon(reason)
    }

    fn sentence(&self, py: Python<'_>, event: &str, now: Time, error: &PyErr) -> String {
        let (name, now) = (&self.name, seconds(now));
        let value = error.value(py);
        let kind = kind_of(value);
        let text = value
            .str()
            .map_or_else(|_| String::new(), |s| s.to_string());
        let head = format!("{name}.{event} at {now:.6} s: {kind}: {text}");
        match traceback(py, error) {
            Ok(lines) => format!("{head}\n{}", lines.trim_end()),
            Err(_) => head,
        }
    }
}

fn traceback(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let of = (error.get_type(py), error.value(py), error.traceback(py));
    let lines = py
        .import("traceback")?
        .call_method1("format_exception", of)?;
    Ok(lines.extract::<Vec<String>>()?.concat())
}
