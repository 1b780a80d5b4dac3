//! The command `lowtide` of the wheel.

use std::ffi::OsString;
use std::path::PathBuf;

use lowtide_lab::setting::Sections;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::known::Known;

/// Does what arguments ask for, of which the first is the program's name; its exit code. `start` starts the
/// program again, `code` is this module's file.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, start: PathBuf, code: PathBuf) -> u8 {
    py.detach(|| {
        let app = lowtide::App::default().started_as(start, code);
        app.run_with(&arguments)
    })
}

/// Checks what a section says before it is used.
#[pyfunction]
pub(crate) fn check_section(name: &str, said: &Bound<'_, PyDict>) -> PyResult<()> {
    let table = Known::default().table(said)?;
    let section = match name {
        "flows" => toml::Value::Array(vec![toml::Value::Table(table)]),
        _ => toml::Value::Table(table),
    };
    let sections = toml::Table::from_iter([(name.to_string(), section)]);
    let checked = Sections::of_values(&sections);
    checked.map(drop).map_err(|p| error::problem(&p, None))
}
