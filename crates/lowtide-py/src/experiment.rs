//! `lowtide.run`: the cells of a scenario, as a file or as values.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lowtide_lab::experiment::{self as lab, CellResult, Options, Place, places};
use lowtide_lab::json::cells as cells_as_json;
use lowtide_lab::metrics::column_name;
use lowtide_lab::run::Run;
use lowtide_lab::scenario_file::ScenarioFile;
use lowtide_report::figures;
use lowtide_report::report::{MAX_OVER_TIME, Report, Sweep};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::compare::{failed as sentence, framed, unwritten};
use crate::error;
use crate::known::Known;
use crate::setting::warn_of_missing_timestamps;
use crate::style::style;
use crate::table::{Columns, Table, Tabled, made};
use crate::values::Said;
use crate::work;

/// The cells of a scenario, each run with all its seeds.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Cells")]
pub(crate) struct PyCells {
    file: ScenarioFile,
    results: Vec<CellResult>,
}

/// Reads a scenario: a file, or the same as a dict.
pub(crate) fn scenario(
    value: &Bound<'_, PyAny>,
    vary: Option<&Bound<'_, PyDict>>,
    seeds: Option<u64>,
    host: Option<&str>,
    known: &mut Known,
) -> PyResult<ScenarioFile> {
    let py = value.py();
    let mut said = Said {
        known: std::mem::take(known),
        ..Said::default()
    };
    let mut file = match value.cast::<PyDict>() {
        Ok(dict) => {
            let table = said.table(dict)?;
            ScenarioFile::of_values(table, Path::new(""), &said.links)
        }
        Err(_) => {
            let path: PathBuf = value.extract().map_err(|_| {
                error::input(
                    py,
                    "scenario: must be the path of a file, or a dict of what one holds",
                )
            })?;
            py.detach(|| ScenarioFile::load(&path))
        }
    }
    .map_err(|e| error::input(py, e))?;
    let vary = match vary {
        Some(vary) => said.table(vary)?,
        None => toml::Table::new(),
    };
    *known = said.known;
    for (key, values) in vary {
        let values = match values {
            toml::Value::Array(values) => values,
            one => vec![one],
        };
        file.vary(&key, values);
    }
    if let Some(seeds) = seeds {
        file.set_seeds(seeds);
    }
    if let Some(host) = host {
        let host = host
            .parse()
            .map_err(|e| error::input(py, format!("host: {e}")))?;
        file.set_host(host);
    }
    Ok(file)
}

#[pyfunction]
#[pyo3(signature = (scenario, /, *, vary=None, seeds=None, host=None, controllers=None, jobs=0, progress=None, over_time=true))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    scenario: Bound<'_, PyAny>,
    vary: Option<Bound<'_, PyDict>>,
    seeds: Option<u64>,
    host: Option<&str>,
    controllers: Option<Vec<Bound<'_, PyAny>>>,
    #[pyo3(from_py_with = work::jobs)] jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    over_time: bool,
) -> PyResult<Py<PyCells>> {
    let mut known = Known::default();
    for controller in controllers.into_iter().flatten() {
        known.spec(&controller)?;
    }
    let file = self::scenario(&scenario, vary.as_ref(), seeds, host, &mut known)?;
    let cells = py
        .detach(|| file.cells(known.contenders()))
        .map_err(|e| error::input(py, e))?;
    let settings: Vec<_> = cells.iter().map(|cell| cell.setting.clone()).collect();
    warn_of_missing_timestamps(py, &settings)?;
    let shown = if over_time {
        cells.len().min(MAX_OVER_TIME)
    } else {
        0
    };
    let over_time: Vec<usize> = (0..shown).collect();
    let options = Options {
        jobs,
        over_time: &over_time,
        ..Options::default()
    };
    let total = lab::count_runs(&cells, None);
    let done = work::done(py, progress.as_ref(), total, |watch| {
        lab::run(&cells, options, watch)
    })?;
    known.check(py)?;
    let results = done.map_err(|e| error::run(py, e))?;
    let reasons = results
        .iter()
        .flat_map(|r| &r.failed)
        .map(|f| f.reason.as_str());
    let cause = known.cause(py, reasons);
    let failed: Vec<String> = results
        .iter()
        .flat_map(|r| &r.failed)
        .map(sentence)
        .collect();
    let table = Tabled::new(py, rows(&results))?;
    let cells = PyCells { file, results };
    error::unless_failed(py, (cells, table), &failed, cause)
}

/// A row for each run of each cell.
fn rows(results: &[CellResult]) -> Columns {
    let all: Vec<(&CellResult, &Run)> = results
        .iter()
        .flat_map(|result| result.runs.iter().map(move |run| (result, run)))
        .collect();
    let mut columns = labels(all.iter().map(|(result, _)| *result));
    columns.whole("seed", all.iter().map(|(_, run)| run.seed as i64));
    let names: BTreeSet<String> = results.iter().flat_map(CellResult::names).collect();
    for name in names {
        let values = all
            .iter()
            .map(|(_, run)| run.measured.get(&name).unwrap_or(f64::NAN));
        columns.real(&column_name(&name), values);
    }
    columns
}

/// What tells cells apart.
fn labels<'a>(results: impl Iterator<Item = &'a CellResult> + Clone) -> Columns {
    let mut columns = Columns::default();
    let keys = results
        .clone()
        .next()
        .map_or(&[][..], |result| &result.cell.labels);
    for (n, (key, _)) in keys.iter().enumerate() {
        columns.text(key, results.clone().map(|result| &result.cell.labels[n].1));
    }
    columns.text("link", results.clone().map(|r| &r.cell.setting.link_name));
    columns.text(
        "controller",
        results.map(|r| r.cell.setting.controllers().join(" + ")),
    );
    columns
}

#[pymethods]
impl PyCells {
    /// Means over the seeds, a row for each cell, with half the 95 % intervals as `…_ci95`.
    #[getter]
    fn means(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let mut columns = labels(self.results.iter());
        columns.whole("seeds", self.results.iter().map(|r| r.runs.len() as i64));
        let names: BTreeSet<String> = self.results.iter().flat_map(CellResult::names).collect();
        for name in names {
            let values: Vec<_> = self.results.iter().map(|r| r.value(&name)).collect();
            let mean = |value: &Option<(f64, Option<f64>)>| value.map_or(f64::NAN, |v| v.0);
            let half = |value: &Option<(f64, Option<f64>)>| value.and_then(|v| v.1);
            columns.real(&column_name(&name), values.iter().map(mean));
            if values.iter().any(|value| half(value).is_some()) {
                let halves = values.iter().map(|value| half(value).unwrap_or(f64::NAN));
                columns.real(&format!("{}_ci95", column_name(&name)), halves);
            }
        }
        made(py, columns)
    }

    /// Runs that are missing: in which cell, with which seed, why.
    #[getter]
    fn failed(&self) -> Vec<(String, u64, String)> {
        let all = self.results.iter().flat_map(|r| &r.failed);
        all.map(|f| (f.name.clone(), f.seed, f.reason.clone()))
            .collect()
    }

    /// What `lowtide run --json --no-timing` prints.
    fn json(&self) -> String {
        format!(
            "{:#}",
            cells_as_json("run", &self.file, &self.results, None)
        )
    }

    /// Writes the report, `index.html`, into a folder; its path.
    fn report(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let path = folder.join("index.html");
        let written = py.detach(|| {
            let places = places(&self.results);
            Report::of_cells(&self.file, &self.results, &places).write(&path)
        });
        written.map_err(|e| unwritten(py, &path, e))?;
        Ok(path)
    }

    /// Writes the report's plots as SVG and PNG into a folder.
    #[pyo3(signature = (folder, *, size=None, formats=None, font=None))]
    fn figures(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        size: Option<&str>,
        formats: Option<Vec<String>>,
        font: Option<u32>,
    ) -> PyResult<()> {
        let style = style(py, size, formats, font)?;
        let written = py.detach(|| {
            let places: Vec<Place> = places(&self.results);
            for (n, place) in places.iter().enumerate() {
                let folder = figures::folder_of(&folder, n, places.len());
                figures::write(&place.setting, &place.comparison, &folder, &style)?;
            }
            figures::write_grid(&Sweep::new(&self.file, &self.results), &folder, &style)
        });
        written.map(drop).map_err(|e| unwritten(py, &folder, e))
    }

    fn __repr__(&self) -> String {
        let (name, cells) = (self.file.name(), self.results.len());
        format!("<lowtide.Cells of {name}: {cells}>")
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, cells) = (slf.py(), slf.get());
        let page = py.detach(|| {
            let places = places(&cells.results);
            Report::of_cells(&cells.file, &cells.results, &places).html()
        });
        let page = page.map_err(|e| error::run(py, e))?;
        Ok(slf.as_super().get().html() + &framed(&page))
    }
}
