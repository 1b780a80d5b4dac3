//! `lowtide.run`: the cells of a scenario, as a file or as values.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_lab::experiment::{self as lab, CellResult, Options, PathCells, by_path};
use lowtide_lab::json::cells as cells_as_json;
use lowtide_lab::metrics::column_name;
use lowtide_lab::run::Run;
use lowtide_lab::scenario_file::{Cell, ScenarioFile};
use lowtide_report::figures::{self, Style};
use lowtide_report::report::{MAX_OVER_TIME, Report, Sweep};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::drawn::{Draw, Drawn, drawn};
use crate::error;
use crate::known::{Known, missing};
use crate::order::Order;
use crate::setting::warn_of_missing_timestamps;
use crate::table::{Columns, Table};
use crate::work;

/// A scenario and what came of its cells.
struct Cells {
    file: ScenarioFile,
    results: Vec<CellResult>,
}

/// The cells of a scenario, each run with all its seeds.
#[pyclass(frozen, extends = Drawn, module = "lowtide", name = "Cells")]
pub(crate) struct PyCells(Arc<Cells>);

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
    let (more, folder) = ((seeds, host), PathBuf::new());
    let order = Order::new(
        "scenario",
        &scenario,
        folder,
        vary.as_ref(),
        more,
        &mut known,
    )?;
    let file = py
        .detach(|| order.file(&known.links))
        .map_err(error::input)?;
    let cells = py
        .detach(|| file.cells(&known.contenders))
        .map_err(error::input)?;
    let settings: Vec<_> = cells.iter().map(|cell| cell.setting.clone()).collect();
    warn_of_missing_timestamps(py, &settings)?;
    let most = if over_time { MAX_OVER_TIME } else { 0 };
    let over_time: Vec<usize> = (0..cells.len().min(most)).collect();
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
    let results = done.map_err(error::run)?;
    let failed: Vec<_> = results.iter().flat_map(|r| r.failed.clone()).collect();
    let of = Arc::new(Cells { file, results });
    let base = drawn(of.table()?, of.clone());
    known.unless_failed(py, base.add_subclass(PyCells(of)), &failed)
}

impl Cells {
    /// The names of all that was measured.
    fn names(&self) -> BTreeSet<String> {
        self.results.iter().flat_map(CellResult::names).collect()
    }

    fn first(&self) -> Option<&Cell> {
        self.results.first().map(|result| &result.cell)
    }

    /// A row for each run of each cell.
    fn table(&self) -> PyResult<Table> {
        let mut rows: Vec<(&CellResult, &Run)> = Vec::new();
        for result in &self.results {
            rows.extend(result.runs.iter().map(|run| (result, run)));
        }
        let mut columns = Columns::of(&rows);
        label(&mut columns, self.first(), |row| &row.0.cell);
        columns
            .text("controller", |row| controllers(row.0))
            .whole("seed", |(_, run)| run.seed as i64);
        for name in self.names() {
            let value = |(_, run): &(&CellResult, &Run)| run.measured.get(&name);
            columns.real(&column_name(&name), |row| value(row).unwrap_or(f64::NAN));
        }
        columns.table()
    }

    /// Means over the seeds, a row for each cell.
    fn means(&self) -> PyResult<Table> {
        let mut columns = Columns::of(&self.results);
        label(&mut columns, self.first(), |result| &result.cell);
        columns
            .text("controller", controllers)
            .whole("seeds", |result| result.runs.len() as i64);
        for name in self.names() {
            let column = column_name(&name);
            columns.real(&column, |result| {
                result.value(&name).map_or(f64::NAN, |v| v.0)
            });
            let half = |result: &CellResult| result.value(&name).and_then(|v| v.1);
            if self.results.iter().any(|result| half(result).is_some()) {
                let column = format!("{column}_ci95");
                columns.real(&column, |result| half(result).unwrap_or(f64::NAN));
            }
        }
        columns.table()
    }
}

fn controllers(result: &CellResult) -> String {
    result.cell.setting.controllers().join(" + ")
}

/// What tells cells apart; `first`: one of them.
pub(crate) fn label<'a, R>(
    columns: &mut Columns<'a, R>,
    first: Option<&Cell>,
    of: impl Fn(&'a R) -> &'a Cell,
) {
    let keys = first.map(|cell| &cell.labels);
    for (n, (key, _)) in keys.into_iter().flatten().enumerate() {
        columns.text(key, |row| &of(row).labels[n].1);
    }
    columns.text("link", |row| &of(row).setting.link_name);
}

impl Draw for Cells {
    fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&cells_as_json("run", &self.file, &self.results, None))
    }

    fn page(&self) -> io::Result<String> {
        Report::of_cells(&self.file, &self.results, &by_path(&self.results)).html()
    }

    fn figures(&self, folder: &Path, style: &Style) -> io::Result<()> {
        let paths: Vec<PathCells> = by_path(&self.results);
        for (n, path) in paths.iter().enumerate() {
            let folder = figures::folder_of(folder, n, paths.len());
            figures::write(&path.setting, &path.comparison, &folder, style)?;
        }
        figures::write_grid(&Sweep::new(&self.file, &self.results), folder, style).map(drop)
    }
}

#[pymethods]
impl PyCells {
    /// Means over the seeds, a row for each cell, with half the 95 % intervals as `…_ci95`.
    #[getter]
    fn means(&self) -> PyResult<Table> {
        self.0.means()
    }

    /// Runs that are missing: in which cell, with which seed, why.
    #[getter]
    fn failed(&self) -> Vec<(String, u64, String)> {
        missing(self.0.results.iter().flat_map(|r| &r.failed))
    }

    fn __repr__(&self) -> String {
        let (name, cells) = (self.0.file.name(), self.0.results.len());
        format!("<lowtide.Cells of {name}: {cells}>")
    }
}
