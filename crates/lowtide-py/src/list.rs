//! `lowtide.controllers` and `lowtide.queues`.

use lowtide_lab::catalogue::{self, Listed};
use lowtide_lab::contender::Contenders;
use pyo3::prelude::*;

use crate::error;

fn told(py: Python<'_>, all: &[Listed]) -> PyResult<Py<PyAny>> {
    let text = serde_json::to_string(all).map_err(error::run)?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.unbind())
}

#[pyfunction]
pub(crate) fn controllers(py: Python<'_>) -> PyResult<Py<PyAny>> {
    told(py, &catalogue::controllers(&Contenders::default()))
}

#[pyfunction]
pub(crate) fn queues(py: Python<'_>) -> PyResult<Py<PyAny>> {
    told(py, &catalogue::queues())
}
