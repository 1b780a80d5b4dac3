//! `lowtide.sweep`: the grid of a scenario, whose runs somebody else makes.
//!
//! A plan is the driver's: it knows which runs the store lacks, deals them out, and keeps what comes back. A worker makes runs of
//! a parcel, which has all that it needs: the scenario and the contents of the files that it names.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, Options};
use lowtide_lab::files;
use lowtide_lab::key::Key;
use lowtide_lab::metrics::{Named, column_name};
use lowtide_lab::run::{self, FailedRun, Keep};
use lowtide_lab::scenario_file::{Cell, FileError, ScenarioFile};
use lowtide_lab::setting::{Links, Resolver};
use lowtide_lab::simulator;
use lowtide_lab::store::{self, Store};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error;
use crate::experiment::label;
use crate::known::{Known, sentence};
use crate::order::Order;
use crate::table::{Columns, Table, Tabled, tabled};
use crate::work;

/// A run: the place of its cell, and its seed.
type Place = (usize, u64);

/// What a worker needs: the plan, and the contents of files by their names.
type Parcel<'py> = (Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// The driver's side of a sweep.
#[pyclass(frozen, module = "lowtide._lowtide")]
pub(crate) struct SweepPlan {
    order: Order,
    /// Some of its links are values.
    has_links: bool,
    cells: Vec<Cell>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    #[pyo3(get, name = "store")]
    folder: PathBuf,
    store: Store,
    /// All runs of the grid.
    #[pyo3(get)]
    total: usize,
    /// The runs that the store lacked.
    #[pyo3(get)]
    missing: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    left: VecDeque<Place>,
    kept: usize,
    failed: Vec<FailedRun>,
}

impl SweepPlan {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, (n, seed): Place, reason: String) {
        let name = self.cells[n].name();
        self.state().failed.push(FailedRun { name, seed, reason });
    }

    fn open(folder: &Path, cells: &[Cell], py: Python<'_>) -> PyResult<Store> {
        let opened = py.detach(|| Store::open(folder, simulator::key(), cells));
        opened.map_err(|e| error::run(format!("{}: {e}", folder.display())))
    }
}

#[pymethods]
impl SweepPlan {
    #[new]
    fn new(
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        store: PathBuf,
        vary: &Bound<'_, PyDict>,
        seeds: Option<u64>,
        host: Option<&str>,
    ) -> PyResult<Self> {
        let (mut known, more) = (Known::default(), (seeds, host));
        let folder = std::env::current_dir()?;
        let order = Order::new("grid", grid, folder, Some(vary), more, &mut known)?;
        // Results are found again by what made them, which nobody knows of a class.
        if let Some(name) = known.any_of_python() {
            let problem = format!(
                "{name} is Python's, and a sweep keeps results of built-in ones alone; lowtide.run runs it, on \
                 threads and without a store"
            );
            return Err(error::argument("controller", problem));
        }
        let made: Result<(Vec<Cell>, Resolver), FileError> = py.detach(|| {
            let file = order.file(&known.links)?;
            let mut resolver = file.resolver(&Contenders::default());
            let cells = file.cells_by(&mut resolver)?;
            Ok((cells, resolver))
        });
        let (cells, resolver) = made.map_err(error::input)?;
        let files = contents(&resolver).map_err(error::input)?;
        let folder = store;
        let store = Self::open(&folder, &cells, py)?;
        // The dearest first, so that none of them is the last.
        let runs = experiment::runs(&cells, None);
        let is_missing = |(n, seed): &Place| store.take(&cells[*n], *seed).is_none();
        let mut left: Vec<Place> = runs.iter().copied().filter(is_missing).collect();
        left.sort_by_key(|(n, seed)| (std::cmp::Reverse(cells[*n].setting.cost()), *n, *seed));
        Ok(Self {
            order,
            has_links: !known.links.is_empty(),
            cells,
            files,
            folder,
            store,
            total: runs.len(),
            missing: left.len(),
            state: Mutex::new(State {
                left: left.into(),
                ..State::default()
            }),
        })
    }

    /// The runs that nobody has been dealt.
    #[getter]
    fn left(&self) -> usize {
        self.state().left.len()
    }

    /// The runs that are in the store by now.
    #[getter]
    fn kept(&self) -> usize {
        self.total - self.missing + self.state().kept
    }

    /// The next runs.
    fn deal(&self, count: usize) -> Vec<Place> {
        let mut state = self.state();
        let count = count.min(state.left.len());
        state.left.drain(..count).collect()
    }

    /// What a worker needs, and its key.
    fn parcel<'py>(&self, py: Python<'py>) -> PyResult<(String, Parcel<'py>)> {
        if self.has_links {
            let problem = "grid: a Trace stays in this process: save it, and name the file, for workers elsewhere";
            return Err(error::input(problem));
        }
        let order = toml::to_string(&self.order).map_err(error::run)?;
        let mut contents = vec![order.as_bytes()];
        let files = PyDict::new(py);
        for (path, bytes) in &self.files {
            contents.push(bytes);
            files.set_item(path, PyBytes::new(py, bytes))?;
        }
        Ok((
            Key::of(&contents).to_string(),
            (PyBytes::new(py, order.as_bytes()), files),
        ))
    }

    /// Keeps what a worker made of these runs.
    fn keep(&self, py: Python<'_>, runs: Vec<Place>, made: Vec<(bool, String)>) -> PyResult<()> {
        if runs.len() != made.len() {
            let problem = "a worker gave back other runs than it was given";
            return Err(error::run(problem));
        }
        py.detach(|| {
            for ((n, seed), (is_made, text)) in runs.into_iter().zip(made) {
                if !is_made {
                    self.fail((n, seed), text);
                } else if self.store.put_line(&self.cells[n], seed, &text) {
                    self.state().kept += 1;
                }
            }
        });
        Ok(())
    }

    /// Gives a run up.
    fn lose(&self, run: Place, reason: String) {
        self.fail(run, reason);
    }

    /// Makes all runs on threads of this process.
    fn run_here(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = work::jobs)] jobs: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let options = Options {
            jobs,
            store: Some(&self.store),
            ..Options::default()
        };
        let run = |watch: &dyn run::Watch| experiment::run(&self.cells, options, watch);
        let done = work::done(py, progress.as_ref(), self.missing as u64, run)?;
        let results = done.map_err(error::run)?;
        let failed = results.into_iter().flat_map(|result| result.failed);
        self.state().failed.extend(failed);
        Ok(())
    }

    /// The results of the whole grid, as the store has them.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<Sweep>> {
        let problem = self.store.problem();
        let store = Self::open(&self.folder, &self.cells, py)?;
        let runs = experiment::runs(&self.cells, None);
        let table = table(&self.cells, &runs, &store)?;
        let failed = std::mem::take(&mut self.state().failed);
        let failed: Vec<String> = failed.iter().map(sentence).collect();
        let sweep = Sweep {
            store: self.folder.clone(),
            failed: failed.clone(),
            made: self.missing - failed.len(),
        };
        let sweep = Py::new(py, tabled(table).add_subclass(sweep))?;
        let more = failed.len().saturating_sub(1);
        let failures = failed.into_iter().next().map(|first| match more {
            0 => first,
            more => format!("{first}; and {more} more"),
        });
        let problems: Vec<String> = problem.into_iter().chain(failures).collect();
        match problems.as_slice() {
            [] => Ok(sweep),
            some => Err(error::failed(py, some.join("; "), sweep, None)),
        }
    }
}

/// The contents of the files that a resolver has read.
fn contents(resolver: &Resolver) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let mut contents = BTreeMap::new();
    for (path, key) in resolver.files() {
        let bytes = files::read(path, files::TRACE).map_err(|e| e.to_string())?;
        if Key::of(&[&bytes]) != key {
            return Err(format!("{}: it changes while it is read", path.display()));
        }
        contents.insert(path.to_path_buf(), bytes);
    }
    Ok(contents)
}

/// The columns of `lowtide.run`, and the scenario; a row for each run that is kept.
fn table(cells: &[Cell], runs: &[Place], store: &Store) -> PyResult<Table> {
    let mut rows: Vec<(&Cell, u64, &Named)> = Vec::new();
    for (n, seed) in runs {
        let kept = store.get(cells[*n].key, *seed);
        rows.extend(kept.map(|values| (&cells[*n], *seed, values)));
    }
    let mut columns = Columns::of(&rows);
    columns.text("scenario", |(cell, ..)| cell.scenario.to_string());
    label(&mut columns, cells.first(), |(cell, ..)| cell);
    columns
        .text("controller", |(cell, ..)| cell.controllers())
        .whole("seed", |(_, seed, _)| seed.cast_signed());
    let names = rows.iter().flat_map(|(.., values)| values.keys().cloned());
    let names: BTreeSet<String> = names.collect();
    for name in store::in_order(names.into_iter().collect()) {
        let value = |(.., values): &(&Cell, u64, &Named)| values.get(&name).copied();
        columns.real(&column_name(&name), |row| value(row).unwrap_or(f64::NAN));
    }
    columns.table()
}

/// What came of a sweep: a table with a row for each run.
#[pyclass(frozen, extends = Tabled, module = "lowtide")]
pub(crate) struct Sweep {
    /// The folder with the results.
    #[pyo3(get)]
    store: PathBuf,
    /// The runs that failed, each in a sentence.
    #[pyo3(get)]
    failed: Vec<String>,
    /// How many runs were made; the others were in the store.
    #[pyo3(get)]
    made: usize,
}

#[pymethods]
impl Sweep {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (runs, sweep) = (slf.as_super().as_super().get().__len__(), slf.get());
        let (made, store) = (sweep.made, sweep.store.display());
        Ok(format!(
            "<lowtide.Sweep of {runs} runs, {made} made now: {store}>"
        ))
    }
}

/// A worker's side of a sweep.
#[pyclass(frozen, module = "lowtide._lowtide")]
pub(crate) struct SweepWorker {
    file: ScenarioFile,
    resolver: Mutex<Resolver>,
}

#[pymethods]
impl SweepWorker {
    #[new]
    fn new(order: &[u8], files: HashMap<PathBuf, Vec<u8>>) -> PyResult<Self> {
        let order: Order = toml::from_slice(order).map_err(error::input)?;
        if order.simulator != simulator::key().to_string() {
            return Err(error::input(format!(
                "a worker has another version of lowtide than the driver ({} here): install the same in both",
                env!("CARGO_PKG_VERSION")
            )));
        }
        let file = order.file(&Links::default()).map_err(error::input)?;
        let resolver = file.resolver(&Contenders::default()).with_files(files);
        Ok(Self {
            file,
            resolver: Mutex::new(resolver),
        })
    }

    /// Makes runs; of each whether it came to its end, and the store's line, or why not.
    fn run(&self, py: Python<'_>, runs: Vec<Place>) -> Vec<(bool, String)> {
        let made = |(n, seed)| match self.line(n, seed) {
            Ok(line) => (true, line),
            Err(reason) => (false, reason),
        };
        py.detach(|| runs.into_iter().map(made).collect())
    }
}

impl SweepWorker {
    fn line(&self, n: usize, seed: u64) -> Result<String, String> {
        let grid = self.file.grid().map_err(|e| e.to_string())?;
        let mut resolver = self.resolver.lock().unwrap_or_else(PoisonError::into_inner);
        let (cell, _) = grid.resolve(n, &mut resolver).map_err(|e| e.to_string())?;
        drop(resolver);
        let run = run::run(&cell.setting, seed, Keep::Metrics)?;
        store::line(simulator::key(), &cell, seed, &run.measured.named()).map_err(|e| e.to_string())
    }
}
