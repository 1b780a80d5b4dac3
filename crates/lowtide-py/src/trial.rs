//! Temporary entry for tests.
use lowtide_lab::contender::Contenders;
use lowtide_lab::run::{self, Stop};
use lowtide_lab::setting::{Resolver, Sections};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;

use crate::controller::{Failures, contenders};
use crate::steps::{FIELDS, Steps};

#[pyfunction]
pub(crate) fn trial<'py>(
    py: Python<'py>,
    text: &str,
    controller: &Bound<'py, PyAny>,
    seed: u64,
    record: bool,
) -> PyResult<(u64, Option<Bound<'py, PyAny>>)> {
    let failures = Failures::default();
    let (known, spec) = contenders(
        Contenders::default(),
        &failures,
        controller,
        &mut Vec::new(),
    )?;
    let wrong = |e: String| PyValueError::new_err(e);
    let contender = known.parse(&spec).map_err(|e| wrong(e.to_string()))?;
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| wrong(e.to_string()))?;
    let sections = Sections::of_values(table).map_err(|e| wrong(e.sentence(str::to_string)))?;
    let setting = Resolver::new(&known, Path::new("."))
        .setting(&sections)
        .map_err(|e| wrong(e.sentence(str::to_string)))?
        .run_by(&contender);
    let probe = record.then(Steps::default);
    let done = py.detach(|| run::watched(&setting, seed, probe, &Stop::default()));
    match done {
        Ok((outcome, steps)) => {
            let steps = steps.map(|steps| steps.0.array(py, FIELDS)).transpose()?;
            Ok((outcome.bottleneck_packets, steps))
        }
        Err(reason) => {
            if let Some(error) = failures.interrupt(py) {
                return Err(error);
            }
            let error = PyRuntimeError::new_err(reason.clone());
            error.set_cause(py, failures.cause(py, &reason));
            Err(error)
        }
    }
}

fn setting(text: &str) -> PyResult<lowtide_lab::setting::Setting> {
    let wrong = |e: String| PyValueError::new_err(e);
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| wrong(e.to_string()))?;
    let sections = Sections::of_values(table).map_err(|e| wrong(e.sentence(str::to_string)))?;
    Resolver::new(&Contenders::default(), Path::new("."))
        .setting(&sections)
        .map_err(|e| wrong(e.sentence(str::to_string)))
}

#[pyfunction]
#[pyo3(signature = (texts, count, is_rate, relative, rates, windows, interval, history, threads))]
pub(crate) fn episodes(
    texts: Vec<String>,
    count: usize,
    is_rate: bool,
    relative: bool,
    rates: (f64, f64),
    windows: (f64, f64),
    interval: f64,
    history: usize,
    threads: usize,
) -> PyResult<crate::gym::Episodes> {
    let settings = texts
        .iter()
        .map(|t| setting(t))
        .collect::<PyResult<Vec<_>>>()?;
    crate::gym::Episodes::of(
        settings,
        count,
        crate::gym::Given {
            is_rate,
            relative,
            rates,
            windows,
            interval,
            history,
            threads,
        },
    )
}
