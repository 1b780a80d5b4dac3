//! `lowtide.sweep`: the grid of a scenario, whose runs somebody else makes.
//!
//! A plan is the driver's: it knows which runs the store lacks, deals them out, and keeps what comes back. A worker makes runs of
//! a parcel, which has all that it needs: the scenario and the contents of the files that it names.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, Options};
use lowtide_lab::files;
use lowtide_lab::key::Key;
use lowtide_lab::metrics::column_name;
use lowtide_lab::run::{self, FailedRun, Keep};
use lowtide_lab::scenario_file::{Cell, FileError, ScenarioFile};
use lowtide_lab::setting::{Host, Links, Resolver};
use lowtide_lab::simulator;
use lowtide_lab::store::{self, Store};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::error;
use crate::known::Known;
use crate::table::{Columns, Tabled};
use crate::values::Said;
use crate::work;

/// A run: the place of its cell, and its seed.
type Place = (usize, u64);

/// A scenario and what was said on top of it, as it travels.
#[derive(Serialize, Deserialize)]
struct Order {
    simulator: String,
    path: PathBuf,
    /// A file's text, or what was said instead of one as TOML.
    text: String,
    is_values: bool,
    vary: String,
    seeds: Option<u64>,
    host: Option<String>,
}

impl Order {
    /// `links`: those that are given as values.
    fn file(&self, links: &Links) -> Result<ScenarioFile, FileError> {
        let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap_or_default();
        let mut file = match self.is_values {
            false => ScenarioFile::parse(&self.path, self.text.clone())?,
            true => ScenarioFile::of_values(table(&self.text), &self.path, links)?,
        };
        for (key, values) in table(&self.vary) {
            let values = match values {
                toml::Value::Array(values) => values,
                one => vec![one],
            };
            file.vary(&key, values);
        }
        if let Some(seeds) = self.seeds {
            file.set_seeds(seeds);
        }
        if let Some(host) = self.host.as_deref().and_then(|host| named(host).ok()) {
            file.set_host(host);
        }
        Ok(file)
    }
}

/// The host of this name.
fn named(host: &str) -> Result<Host, String> {
    let host = toml::Value::String(host.to_string()).try_into();
    host.map_err(|e: toml::de::Error| e.message().to_string())
}

/// What a worker needs: the plan, and the contents of files by their names.
type Parcel<'py> = (Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// The driver's side of a sweep.
#[pyclass(frozen, module = "lowtide._lowtide")]
pub(crate) struct SweepPlan {
    order: Order,
    /// Some of its links are values.
    has_links: bool,
    cells: Vec<Cell>,
    files: HashMap<PathBuf, Vec<u8>>,
    folder: PathBuf,
    store: Store,
    total: usize,
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
        opened.map_err(|e| error::run(py, format!("{}: {e}", folder.display())))
    }
}

/// Results are found again by what made them, which nobody knows of a class.
fn only_built_in(py: Python<'_>, known: &Known) -> PyResult<()> {
    let Some(name) = known.any_of_python() else {
        return Ok(());
    };
    let problem = format!(
        "controller: {name} is Python's, and a sweep keeps results of built-in ones alone; lowtide.run runs it, \
         on threads and without a store"
    );
    Err(error::input(py, problem))
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
        host: Option<String>,
    ) -> PyResult<Self> {
        let mut varied = Said::default();
        let vary = varied.table(vary)?;
        only_built_in(py, &varied.known)?;
        let mut links = Links::default();
        let (path, text, is_values) = match grid.cast::<PyDict>() {
            Ok(said) => {
                let mut values = Said::default();
                let table = values.table(said)?;
                only_built_in(py, &values.known)?;
                links = values.links;
                (std::env::current_dir()?, table.to_string(), true)
            }
            Err(_) => {
                let path: PathBuf = grid.extract().map_err(|_| {
                    error::input(py, "grid: must be the path of a scenario file, or a dict")
                })?;
                let text = files::read_or_stdin(&path, files::SCENARIO)
                    .and_then(|bytes| files::text(&path, bytes));
                let text = text.map_err(|e| error::input(py, e))?;
                let name = files::name(&path).unwrap_or(Path::new("standard input"));
                (name.to_path_buf(), text, false)
            }
        };
        if let Some(Err(problem)) = host.as_deref().map(named) {
            return Err(error::input(py, format!("host: {problem}")));
        }
        let order = Order {
            simulator: simulator::key().to_string(),
            path,
            text,
            is_values,
            vary: vary.to_string(),
            seeds,
            host,
        };
        let made: Result<(Vec<Cell>, Resolver), FileError> = py.detach(|| {
            let file = order.file(&links)?;
            let mut resolver = file.resolver(&Contenders::default());
            let cells = file.cells_by(&mut resolver)?;
            Ok((cells, resolver))
        });
        let (cells, resolver) = made.map_err(|e| error::input(py, e))?;
        let files = contents(&resolver).map_err(|e| error::input(py, e))?;
        let folder = store;
        let store = Self::open(&folder, &cells, py)?;
        // The dearest first, so that none of them is the last.
        let runs = experiment::runs(&cells, None);
        let is_missing = |(n, seed): &Place| store.take(&cells[*n], *seed).is_none();
        let mut left: Vec<Place> = runs.iter().copied().filter(is_missing).collect();
        left.sort_by_key(|(n, seed)| (std::cmp::Reverse(cells[*n].setting.cost()), *n, *seed));
        Ok(Self {
            order,
            has_links: !links.is_empty(),
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

    /// All runs of the grid.
    #[getter]
    fn total(&self) -> usize {
        self.total
    }

    /// Those that the store lacked.
    #[getter]
    fn missing(&self) -> usize {
        self.missing
    }

    /// Those that nobody has been dealt.
    #[getter]
    fn left(&self) -> usize {
        self.state().left.len()
    }

    /// Those that are in the store by now.
    #[getter]
    fn kept(&self) -> usize {
        self.total - self.missing + self.state().kept
    }

    #[getter]
    fn store(&self) -> PathBuf {
        self.folder.clone()
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
            return Err(error::input(py, problem));
        }
        let order = serde_json::to_vec(&self.order).map_err(|e| error::run(py, e))?;
        let mut paths: Vec<&PathBuf> = self.files.keys().collect();
        paths.sort();
        let mut contents = vec![order.as_slice()];
        let files = PyDict::new(py);
        for path in paths {
            let bytes = &self.files[path];
            contents.push(bytes);
            files.set_item(path, PyBytes::new(py, bytes))?;
        }
        Ok((
            Key::of(&contents).to_string(),
            (PyBytes::new(py, &order), files),
        ))
    }

    /// Keeps what a worker made of these runs.
    fn keep(&self, py: Python<'_>, runs: Vec<Place>, made: Vec<(bool, String)>) -> PyResult<()> {
        if runs.len() != made.len() {
            return Err(error::run(
                py,
                "a worker gave back other runs than it was given",
            ));
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
        let results = done.map_err(|e| error::run(py, e))?;
        let failed = results.into_iter().flat_map(|result| result.failed);
        self.state().failed.extend(failed);
        Ok(())
    }

    /// The results of the whole grid, as the store has them.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<Sweep>> {
        let problem = self.store.problem();
        let store = Self::open(&self.folder, &self.cells, py)?;
        let runs = experiment::runs(&self.cells, None);
        let table = Tabled::new(py, columns(&self.cells, &runs, &store))?;
        let failed = std::mem::take(&mut self.state().failed);
        let failed: Vec<String> = failed.iter().map(crate::compare::failed).collect();
        let sweep = Sweep {
            store: self.folder.clone(),
            failed: failed.clone(),
            made: self.missing - failed.len(),
        };
        let sweep = Py::new(py, (sweep, table))?;
        let failures = match failed.as_slice() {
            [] => None,
            [first, rest @ ..] => Some(match rest.len() {
                0 => first.clone(),
                more => format!("{first}; and {more} more"),
            }),
        };
        let problems: Vec<String> = problem.into_iter().chain(failures).collect();
        match problems.as_slice() {
            [] => Ok(sweep),
            some => Err(error::failed(
                py,
                some.join("; "),
                sweep.into_bound(py).into_any(),
                None,
            )),
        }
    }
}

/// The contents of the files that a resolver has read.
fn contents(resolver: &Resolver) -> Result<HashMap<PathBuf, Vec<u8>>, String> {
    let mut contents = HashMap::new();
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
fn columns(cells: &[Cell], runs: &[Place], store: &Store) -> Columns {
    let kept: Vec<(&Cell, u64, &lowtide_lab::metrics::Named)> = runs
        .iter()
        .filter_map(|(n, seed)| {
            let cell = &cells[*n];
            Some((cell, *seed, store.get(cell.key, *seed)?))
        })
        .collect();
    let mut columns = Columns::default();
    let of_a_cell = |get: &dyn Fn(&Cell) -> String| -> Vec<String> {
        kept.iter().map(|(cell, _, _)| get(cell)).collect()
    };
    columns.text("scenario", of_a_cell(&|cell| cell.scenario.to_string()));
    let labels = cells.first().map(|cell| cell.labels.as_slice());
    for (at, (key, _)) in labels.unwrap_or_default().iter().enumerate() {
        columns.text(key, of_a_cell(&|cell| cell.labels[at].1.clone()));
    }
    columns.text("link", of_a_cell(&|cell| cell.setting.link_name.clone()));
    columns.text("controller", of_a_cell(&Cell::controllers));
    columns.whole("seed", kept.iter().map(|(_, seed, _)| seed.cast_signed()));
    let names: BTreeSet<&String> = kept
        .iter()
        .flat_map(|(_, _, values)| values.keys())
        .collect();
    for name in store::in_order(names.into_iter().cloned().collect()) {
        let values = kept.iter().map(|(_, _, values)| values.get(&name).copied());
        columns.real(
            &column_name(&name),
            values.map(|value| value.unwrap_or(f64::NAN)),
        );
    }
    columns
}

/// What came of a sweep: a table with a row for each run.
#[pyclass(frozen, extends = Tabled, module = "lowtide")]
pub(crate) struct Sweep {
    store: PathBuf,
    failed: Vec<String>,
    made: usize,
}

#[pymethods]
impl Sweep {
    /// The folder with the results.
    #[getter]
    fn store(&self) -> PathBuf {
        self.store.clone()
    }

    /// The runs that failed, each in a sentence.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.failed.clone()
    }

    /// How many runs were made; the others were in the store.
    #[getter]
    fn made(&self) -> usize {
        self.made
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (runs, sweep) = (slf.as_super().len()?, slf.get());
        let (made, store) = (sweep.made, sweep.store.display());
        Ok(format!(
            "<lowtide.Sweep of {runs} runs, {made} made now: {store}>"
        ))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> String {
        slf.as_super().get().html()
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
    fn new(py: Python<'_>, order: &[u8], files: HashMap<PathBuf, Vec<u8>>) -> PyResult<Self> {
        let order: Order = serde_json::from_slice(order).map_err(|e| error::input(py, e))?;
        if order.simulator != simulator::key().to_string() {
            return Err(error::input(
                py,
                format!(
                    "a worker has another version of lowtide than the driver ({} here): install the same in both",
                    env!("CARGO_PKG_VERSION")
                ),
            ));
        }
        let file = order
            .file(&Links::default())
            .map_err(|e| error::input(py, e))?;
        let resolver = file.resolver(&Contenders::default()).with_files(files);
        Ok(Self {
            file,
            resolver: Mutex::new(resolver),
        })
    }

    /// Makes runs; of each whether it came to its end, and the store's line, or why not.
    fn run(&self, py: Python<'_>, runs: Vec<Place>) -> Vec<(bool, String)> {
        py.detach(|| runs.into_iter().map(|run| self.made(run)).collect())
    }
}

impl SweepWorker {
    fn made(&self, (n, seed): Place) -> (bool, String) {
        match self.line(n, seed) {
            Ok(line) => (true, line),
            Err(reason) => (false, reason),
        }
    }

    fn line(&self, n: usize, seed: u64) -> Result<String, String> {
        let grid = self.file.grid().map_err(|e| e.to_string())?;
        let mut resolver = self.resolver.lock().unwrap_or_else(PoisonError::into_inner);
        let (cell, _) = grid.resolve(n, &mut resolver).map_err(|e| e.to_string())?;
        drop(resolver);
        let run = run::run(&cell.setting, seed, Keep::Metrics)?;
        store::line(simulator::key(), &cell, seed, &run.measured.named()).map_err(|e| e.to_string())
    }
}
