//! What is raised: the classes of `lowtide._errors`, with the messages of the command line.

use lowtide_lab::setting::{Brief, Problem};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

fn class<'py>(
    py: Python<'py>,
    name: &str,
    cell: &PyOnceLock<Py<PyType>>,
) -> PyResult<Bound<'py, PyType>> {
    let class = cell.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        let found = py.import("lowtide._errors")?.getattr(name)?;
        Ok(found.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py).clone())
}

fn raised(py: Python<'_>, name: &str, cell: &PyOnceLock<Py<PyType>>, message: String) -> PyErr {
    match class(py, name, cell) {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}

/// Bad input: the caller can mend it.
pub(crate) fn input(py: Python<'_>, message: impl ToString) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    raised(py, "InputError", &CLASS, message.to_string())
}

/// Something else went wrong.
pub(crate) fn run(py: Python<'_>, message: impl ToString) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    raised(py, "RunError", &CLASS, message.to_string())
}

/// Runs failed; `result` has those that did not. `cause`: what a controller of Python's raised.
pub(crate) fn failed(
    py: Python<'_>,
    message: String,
    result: Bound<'_, PyAny>,
    cause: Option<PyErr>,
) -> PyErr {
    let error = run(py, message);
    error.set_cause(py, cause);
    // Without it there is still the message.
    let _ = error.value(py).setattr("result", result);
    error
}

/// What came of runs: the result, or where some failed the error that has it. `failures`: which, and why.
pub(crate) fn unless_failed<T>(
    py: Python<'_>,
    result: impl Into<PyClassInitializer<T>>,
    failures: &[String],
    cause: Option<PyErr>,
) -> PyResult<Py<T>>
where
    T: PyClass,
{
    let result = Py::new(py, result)?;
    if failures.is_empty() {
        return Ok(result);
    }
    let problem = format!("runs failed and are missing: {}", failures.join("; "));
    let result = result.into_bound(py).into_any();
    Err(failed(py, problem, result, cause))
}

/// What is wrong at a key, by the name that the caller used for it.
pub(crate) fn problem(py: Python<'_>, problem: &Problem, brief: Option<&Brief>) -> PyErr {
    let name = |key: &str| brief.map_or_else(|| key.to_string(), |brief| brief.name(key));
    let sentence = problem.sentence(name);
    match problem.at.as_str() {
        "" => input(py, sentence),
        at => input(py, format!("{}: {sentence}", name(at))),
    }
}
