//! Whom a call may name: the lab's contenders, and the controllers that Python gave.

use lowtide_lab::contender::Contenders;
use pyo3::prelude::*;

use crate::controller::{Failures, with};
use crate::error;

/// The contenders of a call.
#[derive(Default)]
pub(crate) struct Known {
    contenders: Contenders,
    given: Vec<(String, Py<PyAny>)>,
    failures: Failures,
}

impl Known {
    pub(crate) fn contenders(&self) -> &Contenders {
        &self.contenders
    }

    /// The spec by which a controller goes: a text is one; a class of Python's or a `Bbr` is known by its name
    /// from now on.
    pub(crate) fn spec(&mut self, controller: &Bound<'_, PyAny>) -> PyResult<String> {
        let contenders = std::mem::take(&mut self.contenders);
        let (contenders, spec) = with(contenders, &self.failures, controller, &mut self.given)?;
        self.contenders = contenders;
        Ok(spec)
    }

    /// The name of a controller that is Python's, if there is one.
    pub(crate) fn any_of_python(&self) -> Option<&str> {
        self.given.first().map(|(name, _)| name.as_str())
    }

    /// Whether a controller raised what ends more than its run, such as `KeyboardInterrupt`.
    ///
    /// # Errors
    /// That.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.failures.interrupt(py).map_or(Ok(()), Err)
    }

    /// What a controller raised that ended one of the runs which failed for these reasons.
    pub(crate) fn cause<'a>(
        &self,
        py: Python<'_>,
        mut reasons: impl Iterator<Item = &'a str>,
    ) -> Option<PyErr> {
        reasons.find_map(|reason| self.failures.cause(py, reason))
    }

    /// Why a run failed first, and what a controller of Python's raised there.
    pub(crate) fn failure(&self, py: Python<'_>) -> Option<(String, PyErr)> {
        self.failures.first(py)
    }

    /// A run failed.
    pub(crate) fn run_error(&self, py: Python<'_>, reason: &str) -> PyErr {
        let error = error::run(py, reason);
        error.set_cause(py, self.failures.cause(py, reason));
        error
    }
}
