//! `lowtide.attack`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lowtide_attack::budget::Budget;
use lowtide_attack::goal::Goal;
use lowtide_attack::hunt::Question;
use lowtide_attack::json::JsonSurvey;
use lowtide_attack::search::{Method, Progress};
use lowtide_attack::survey::{Case, Survey};
use lowtide_attack::trial::Subject;
use lowtide_attack::world::World;
use lowtide_lab::contender::CAUSAL;
use lowtide_lab::simulator;
use pyo3::prelude::*;
use pyo3::types::{PyDelta, PyString};

use crate::error::{self, unwritten};
use crate::known::Known;
use crate::score::host_of;
use crate::setting::specs;
use crate::table::{Columns, Table, Tabled, tabled};
use crate::work;

/// Networks on which controllers are bad, found by search and made small.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Findings")]
pub(crate) struct PyFindings {
    survey: Survey,
}

/// A value of an argument; `fits`: what would be right.
fn argument<'py, T: FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
    name: &str,
    fits: &str,
) -> PyResult<T> {
    value.extract().map_err(|_| error::argument(name, fits))
}

/// A name, an argument.
fn name(value: Option<Bound<'_, PyAny>>, what: &str, usual: &str) -> PyResult<String> {
    let fits = format!("must be a name, as in \"{usual}\"");
    value.map_or_else(
        || Ok(usual.to_string()),
        |value| argument(&value, what, &fits),
    )
}

/// Names, an argument: a text with commas as on the command line, or several texts.
fn goals(value: &Bound<'_, PyAny>) -> PyResult<Vec<Goal>> {
    let names = match value.cast::<PyString>() {
        Ok(text) => text
            .to_str()
            .map(|text| text.split(',').map(str::to_string).collect()),
        Err(_) => value.extract::<Vec<String>>(),
    };
    let fits = "must be a name, as in \"stall\" or \"all\", or a list of names";
    let names: Vec<String> = names.map_err(|_| error::argument("goal", fits))?;
    if names.is_empty() {
        return Err(error::argument(
            "goal",
            "name at least one, as in \"stall\"",
        ));
    }
    Goal::find_all(&names).map_err(|e| error::argument("goal", e))
}

fn budget(value: &Bound<'_, PyAny>) -> PyResult<Budget> {
    let budget = if value.is_instance_of::<PyDelta>() {
        let time = value.extract::<Duration>().ok();
        time.filter(|time| !time.is_zero()).map(Budget::Time)
    } else if let Ok(text) = value.extract::<String>() {
        text.parse().ok()
    } else {
        let networks = value.extract::<u64>().ok();
        networks
            .filter(|networks| *networks > 0)
            .map(Budget::Networks)
    };
    budget.ok_or_else(|| {
        let problem = "budget: must be a number of networks, as in 2000, or a time, as in \"10m\"";
        error::input(problem)
    })
}

fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    argument(value, "seed", "must be a whole number from 0 on")
}

fn most(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let fits = "must be a whole number of findings, for each controller and goal";
    argument(value, "most", fits)
}

#[pyfunction]
#[pyo3(signature = (
    controllers, /, *, goal, world=None, reference=None, host=None, budget, method=None, seed, most, output=None, jobs=0,
    progress=None
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn attack(
    py: Python<'_>,
    controllers: Bound<'_, PyAny>,
    #[pyo3(from_py_with = goals)] goal: Vec<Goal>,
    world: Option<Bound<'_, PyAny>>,
    reference: Option<Bound<'_, PyAny>>,
    host: Option<&str>,
    #[pyo3(from_py_with = budget)] budget: Budget,
    method: Option<Bound<'_, PyAny>>,
    #[pyo3(from_py_with = seed)] seed: u64,
    #[pyo3(from_py_with = most)] most: usize,
    output: Option<PathBuf>,
    #[pyo3(from_py_with = work::jobs)] jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyFindings>> {
    let mut known = Known::default();
    let specs = specs(&controllers, &mut known)?;
    let candidates = known.parse(&specs)?;
    if candidates.is_empty() {
        return Err(error::argument(
            "controllers",
            "name at least one, as in \"ebb\"",
        ));
    }
    let reference = name(reference, "reference", CAUSAL)?;
    let world =
        World::find(&name(world, "world", "cellular")?).map_err(|e| error::argument("world", e))?;
    let method = name(method, "method", Method::default().name())?;
    let method = Method::find(&method).map_err(|e| error::argument("method", e))?;
    let host = host_of(host, &candidates)?;
    let subjects = Subject::all(&candidates, &goal, host, &reference, &known.contenders);
    // What made trials of a class nobody knows later.
    if let (Some(name), Some(_)) = (known.any_of_python(), &output) {
        let problem = format!(
            "{name} is Python's, and only trials of built-in controllers are kept: leave it out"
        );
        return Err(error::argument("output", problem));
    }
    let question = Question {
        subjects: subjects.map_err(|e| error::argument("reference", e))?,
        world,
        budget,
        method,
        seed,
        most,
        jobs,
        kept: output.map(|folder| (folder, simulator::key())),
    };
    let (unit, size) = (budget.unit(), question.size());
    let done = work::done_of(py, progress.as_ref(), (unit, size), |watch| {
        let before = AtomicU64::new(0);
        let tell = |_: &Subject, progress: Progress| {
            let before = before.swap(progress.spent, Ordering::Relaxed);
            (before..progress.spent).for_each(|_| watch.on_run());
        };
        Survey::make(question, &watch.stop(), &tell)
    })?;
    known.check(py)?;
    let survey = done.map_err(error::run)?;
    let table = rows(&survey)?;
    let found = Py::new(py, tabled(table).add_subclass(PyFindings { survey }))?;
    match known.failure(py) {
        None => Ok(found),
        // A run that breaks off is the worst that can be, which nobody would look for in a table.
        Some((reason, cause)) => {
            let problem = format!("runs failed, which counts as a value of 1: {reason}");
            Err(error::failed(py, problem, found, Some(cause)))
        }
    }
}

/// Which case it is, and who was bad in it.
fn heads<'a, R>(columns: &mut Columns<'a, R>, of: impl Fn(&'a R) -> &'a Case<'a>) {
    columns
        .text("case", |row| of(row).id())
        .text("controller", |row| &of(row).finding.controller)
        .text("goal", |row| &of(row).finding.goal);
}

/// A row for each finding.
fn rows(survey: &Survey) -> PyResult<Table> {
    let tried = survey.searches().flat_map(|search| {
        let tried = search.outcome.tried as i64;
        search.cases.into_iter().map(move |_| tried)
    });
    let rows: Vec<(Case<'_>, i64)> = survey.cases().into_iter().zip(tried).collect();
    let mut columns = Columns::of(&rows);
    heads(&mut columns, |(case, _)| case);
    columns
        .text("reference", |(case, _)| match case.subject.goal {
            goal if goal.has_reference() => case.subject.reference.as_str(),
            _ => "",
        })
        .real("value", |(case, _)| case.finding.score)
        .real("limit", |(case, _)| case.subject.goal.limit())
        .text("trouble", |(case, _)| case.finding.network.named_troubles())
        .text("flags", |(case, _)| case.network().flags())
        .text("scenario", |(case, _)| case.text())
        .whole("tried", |(_, tried)| *tried);
    columns.table()
}

/// A row for each finding, and a column for each controller.
fn transfer(survey: &Survey) -> PyResult<Table> {
    let cases = survey.cases();
    let mut columns = Columns::of(&cases);
    heads(&mut columns, |case| case);
    for (n, controller) in survey.question.controllers().into_iter().enumerate() {
        columns.real(&format!("value_{}", controller.name()), |case| {
            let (_, value) = survey.scores_on(case).nth(n).unwrap_or_default();
            value.unwrap_or(f64::NAN)
        });
    }
    columns.table()
}

#[pymethods]
impl PyFindings {
    /// How bad each controller is on each finding: a row for each finding, a column `value_…` for each controller.
    #[getter]
    fn transfer(&self) -> PyResult<Table> {
        transfer(&self.survey)
    }

    /// What came of each controller and goal, also where nothing was found.
    #[getter]
    fn searches(&self) -> PyResult<Table> {
        let rows: Vec<_> = self.survey.searches().collect();
        Columns::of(&rows)
            .text("controller", |search| search.subject.candidate.name())
            .text("goal", |search| search.subject.goal.name())
            .whole("tried", |search| search.outcome.tried as i64)
            .real("worst", |search| search.outcome.worst)
            .real("limit", |search| search.subject.goal.limit())
            .whole("findings", |search| search.cases.len() as i64)
            .table()
    }

    /// What `lowtide attack --json` prints.
    fn json(&self) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&JsonSurvey::new(&self.survey));
        text.map_err(error::run)
    }

    /// Writes each finding as a case into a folder, for `lowtide.score(suites=folder)`; the folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let written = py.detach(|| self.survey.save(&folder));
        written.map_err(|e| unwritten(&folder, e))?;
        Ok(folder)
    }

    fn __repr__(&self) -> String {
        let lines = self.survey.searches().map(|search| {
            format!(
                "  {}, {}: worst {:.2} of {} networks (limit {:.2}), findings: {}\n",
                search.subject.candidate.name(),
                search.subject.goal.name(),
                search.outcome.worst,
                search.outcome.tried,
                search.subject.goal.limit(),
                search.cases.len()
            )
        });
        format!("<lowtide.Findings\n{}>", lines.collect::<String>())
    }

    /// The findings without their scenarios, and how bad each controller is on each.
    fn _repr_html_(&self) -> PyResult<String> {
        let cases = self.survey.cases();
        let mut columns = Columns::of(&cases);
        heads(&mut columns, |case| case);
        columns
            .real("value", |case| case.finding.score)
            .text("flags", |case| case.network().flags());
        let transfer = transfer(&self.survey)?;
        Ok(columns.table()?.html() + &transfer.html())
    }
}
