//! What a call may name: the lab's contenders, and the controllers and traces that Python gave.

use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::run::FailedRun;
use lowtide_lab::setting::Links;
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::controller::{Failures, made, name};
use crate::error;

/// The names of a call.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) contenders: Contenders,
    pub(crate) links: Links,
    given: Vec<(String, Py<PyAny>)>,
    failures: Failures,
}

impl Known {
    /// The spec by which a controller goes: a text is one; a class of Python's or a `Bbr` is known by its name
    /// from now on.
    pub(crate) fn spec(&mut self, controller: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(spec) = controller.cast::<PyString>() {
            return Ok(spec.to_string());
        }
        let name = name(controller)?;
        let is_it = |(known, object): &(String, Py<PyAny>)| *known == name && object.is(controller);
        if !self.given.iter().any(is_it) {
            let made = made(controller, name.clone(), &self.failures)?;
            let contenders = std::mem::take(&mut self.contenders).with_made(made);
            self.contenders = contenders.map_err(error::input)?;
            self.given.push((name.clone(), controller.clone().unbind()));
        }
        Ok(name)
    }

    /// The controllers of these specs, an argument.
    pub(crate) fn parse(&self, specs: &[String]) -> PyResult<Vec<Contender>> {
        let mut all = Vec::new();
        for spec in specs {
            let parsed = self.contenders.parse_all(spec);
            all.extend(parsed.map_err(|e| error::argument("controllers", e))?);
        }
        Ok(all)
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

    /// What came of runs: the result, or where some of them failed the error that has it.
    pub(crate) fn unless_failed<T: PyClass>(
        &self,
        py: Python<'_>,
        result: impl Into<PyClassInitializer<T>>,
        failed: &[FailedRun],
    ) -> PyResult<Py<T>> {
        let result = Py::new(py, result)?;
        if failed.is_empty() {
            return Ok(result);
        }
        let failures: Vec<String> = failed.iter().map(sentence).collect();
        let problem = format!("runs failed and are missing: {}", failures.join("; "));
        let mut reasons = failed.iter().map(|run| &run.reason);
        let cause = reasons.find_map(|reason| self.failures.cause(py, reason));
        Err(error::failed(py, problem, result, cause))
    }

    /// Why a run failed first, and what a controller of Python's raised there.
    pub(crate) fn failure(&self, py: Python<'_>) -> Option<(String, PyErr)> {
        self.failures.first(py)
    }

    /// A run failed.
    pub(crate) fn run_error(&self, py: Python<'_>, reason: &str) -> PyErr {
        let error = error::run(reason);
        error.set_cause(py, self.failures.cause(py, reason));
        error
    }
}

/// A run that failed, in a sentence.
pub(crate) fn sentence(run: &FailedRun) -> String {
    format!("{}, seed {}: {}", run.name, run.seed, run.reason)
}

/// Runs that failed: who or in which cell, with which seed, why.
pub(crate) fn missing<'a>(
    failed: impl Iterator<Item = &'a FailedRun>,
) -> Vec<(String, u64, String)> {
    let run = |run: &FailedRun| (run.name.clone(), run.seed, run.reason.clone());
    failed.map(run).collect()
}
