//! What is raised: the classes of `lowtide._errors`, with the messages of the command line.

use std::fmt::Display;
use std::path::Path;

use lowtide_lab::setting::{Brief, Problem};
use pyo3::PyClass;
use pyo3::prelude::*;

pyo3::import_exception!(lowtide._errors, InputError);
pyo3::import_exception!(lowtide._errors, RunError);

/// Bad input: the caller can mend it.
pub(crate) fn input(message: impl ToString) -> PyErr {
    InputError::new_err(message.to_string())
}

/// Something else went wrong.
pub(crate) fn run(message: impl ToString) -> PyErr {
    RunError::new_err(message.to_string())
}

/// What is wrong with an argument.
pub(crate) fn argument(name: &str, problem: impl Display) -> PyErr {
    input(format!("{name}: {problem}"))
}

/// Runs failed; `result` has those that did not. `cause`: what a controller of Python's raised.
pub(crate) fn failed(
    py: Python<'_>,
    message: String,
    result: Py<impl PyClass>,
    cause: Option<PyErr>,
) -> PyErr {
    let error = run(message);
    error.set_cause(py, cause);
    // Without it there is still the message.
    let _ = error.value(py).setattr("result", result);
    error
}

/// Something could not be written.
pub(crate) fn unwritten(path: &Path, problem: impl Display) -> PyErr {
    run(format!("cannot write {}: {problem}", path.display()))
}

/// What is wrong at a key, by the name that the caller used for it.
pub(crate) fn problem(problem: &Problem, brief: Option<&Brief>) -> PyErr {
    let name = |key: &str| brief.map_or_else(|| key.to_string(), |brief| brief.name(key));
    let sentence = problem.sentence(name);
    match problem.at.as_str() {
        "" => input(sentence),
        at => argument(&name(at), sentence),
    }
}
