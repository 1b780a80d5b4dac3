//! What becomes of an exception in a controller.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::units::Time;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::number::seconds;

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

    pub(super) fn is_interrupted(&self) -> bool {
        self.kept().interrupt.is_some()
    }

    /// Ends the run of this thread.
    pub(super) fn end_run(&self, py: Python<'_>, at: &Place<'_>, error: PyErr) -> ! {
        let reason = at.sentence(py, &error);
        {
            let mut kept = self.kept();
            if !error.is_instance_of::<PyException>(py) {
                kept.interrupt.get_or_insert(error);
            } else if kept.causes.len() < MOST {
                kept.causes.push((reason.clone(), error));
            }
        }
        lowtide_lab::run::abandon(reason)
    }
}

/// Where a controller failed.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) event: &'static str,
    pub(super) now: Time,
}

impl Place<'_> {
    fn sentence(&self, py: Python<'_>, error: &PyErr) -> String {
        let (name, event, now) = (self.name, self.event, seconds(self.now));
        let value = error.value(py);
        let kind = value
            .get_type()
            .name()
            .map_or_else(|_| String::new(), |n| n.to_string());
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
    let lines = py.import("traceback")?.call_method1(
        "format_exception",
        PyTuple::new(
            py,
            [
                error.get_type(py).into_any(),
                error.value(py).clone().into_any(),
                error
                    .traceback(py)
                    .map_or_else(|| py.None().into_bound(py), Bound::into_any),
            ],
        )?,
    )?;
    let lines: Vec<String> = lines.extract()?;
    Ok(lines.concat())
}
