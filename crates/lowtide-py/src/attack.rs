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
use lowtide_lab::{score as lab, simulator};
use pyo3::prelude::*;
use pyo3::types::{PyDelta, PyString};

use crate::compare::unwritten;
use crate::error;
use crate::known::Known;
use crate::setting::specs;
use crate::table::{Columns, Table, Tabled, made};
use crate::work;

/// Networks on which controllers are bad, found by search and made small.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Findings")]
pub(crate) struct PyFindings {
    survey: Survey,
}

/// A name, an argument.
fn name(value: Option<Bound<'_, PyAny>>, what: &str, usual: &str) -> PyResult<String> {
    let Some(value) = value else {
        return Ok(usual.to_string());
    };
    value.extract().map_err(|_| {
        let problem = format!("{what}: must be a name, as in \"{usual}\"");
        error::input(value.py(), problem)
    })
}

/// Names, an argument: a text with commas as on the command line, or several texts.
fn goals(value: &Bound<'_, PyAny>) -> PyResult<Vec<Goal>> {
    let wrong = |problem: String| error::input(value.py(), format!("goal: {problem}"));
    let names = match value.cast::<PyString>() {
        Ok(text) => text
            .to_str()
            .map(|text| text.split(',').map(str::to_string).collect()),
        Err(_) => value.extract::<Vec<String>>(),
    };
    let names: Vec<String> = names.map_err(|_| {
        wrong("must be a name, as in \"stall\" or \"all\", or a list of names".to_string())
    })?;
    if names.is_empty() {
        return Err(wrong("name at least one, as in \"stall\"".to_string()));
    }
    Goal::find_all(&names).map_err(wrong)
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
        error::input(value.py(), problem)
    })
}

fn seed(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract().map_err(|_| {
        let problem = "seed: must be a whole number from 0 on";
        error::input(value.py(), problem)
    })
}

fn most(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract().map_err(|_| {
        let problem = "most: must be a whole number of findings, for each controller and goal";
        error::input(value.py(), problem)
    })
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
    let wrong = |name: &str, e: &dyn std::fmt::Display| error::input(py, format!("{name}: {e}"));
    let mut known = Known::default();
    let mut candidates = Vec::new();
    for spec in specs(&controllers, &mut known)? {
        let parsed = known.contenders().parse_all(&spec);
        candidates.extend(parsed.map_err(|e| wrong("controllers", &e))?);
    }
    if candidates.is_empty() {
        return Err(wrong("controllers", &"name at least one, as in \"ebb\""));
    }
    let reference = name(reference, "reference", CAUSAL)?;
    let world = World::find(&name(world, "world", "cellular")?).map_err(|e| wrong("world", &e))?;
    let method = name(method, "method", Method::default().name())?;
    let method = Method::find(&method).map_err(|e| wrong("method", &e))?;
    let host = host.map(str::parse).transpose();
    let host = host.map_err(|e: String| wrong("host", &e))?;
    let host = lab::host_of(&candidates, host).map_err(|e| wrong("host", &e))?;
    let subjects = Subject::all(&candidates, &goal, host, &reference, known.contenders());
    // What made trials of a class nobody knows later.
    if let (Some(name), Some(_)) = (known.any_of_python(), &output) {
        let problem = format!(
            "{name} is Python's, and only trials of built-in controllers are kept: leave it out"
        );
        return Err(wrong("output", &problem));
    }
    let question = Question {
        subjects: subjects.map_err(|e| wrong("reference", &e))?,
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
    let survey = done.map_err(|e| error::run(py, e))?;
    let table = Tabled::new(py, rows(&survey))?;
    let found = Py::new(py, (PyFindings { survey }, table))?;
    match known.failure(py) {
        None => Ok(found),
        // A run that breaks off is the worst that can be, which nobody would look for in a table.
        Some((reason, cause)) => {
            let problem = format!("runs failed, which counts as a value of 1: {reason}");
            let found = found.into_bound(py).into_any();
            Err(error::failed(py, problem, found, Some(cause)))
        }
    }
}

/// Who was held against what, and how bad it was.
fn heads(cases: &[Case<'_>]) -> Columns {
    let mut columns = Columns::default();
    columns.text("case", cases.iter().map(Case::id));
    let controllers = cases.iter().map(|case| &case.finding.controller);
    columns.text("controller", controllers);
    columns.text("goal", cases.iter().map(|case| &case.finding.goal));
    columns
}

/// A row for each finding.
fn rows(survey: &Survey) -> Columns {
    let cases = survey.cases();
    let mut columns = heads(&cases);
    let references = cases.iter().map(|case| match case.subject.goal {
        goal if goal.has_reference() => case.subject.reference.as_str(),
        _ => "",
    });
    columns.text("reference", references);
    columns.real("value", cases.iter().map(|case| case.finding.score));
    let limits = cases.iter().map(|case| case.subject.goal.limit());
    columns.real("limit", limits);
    let troubles = cases
        .iter()
        .map(|case| case.finding.network.named_troubles());
    columns.text("trouble", troubles);
    columns.text("flags", cases.iter().map(|case| case.network().flags()));
    columns.text("scenario", cases.iter().map(Case::text));
    let tried = survey.searches().flat_map(|search| {
        let tried = search.outcome.tried as i64;
        search.cases.into_iter().map(move |_| tried)
    });
    columns.whole("tried", tried);
    columns
}

/// A row for each finding, and a column for each controller.
fn transfer(survey: &Survey) -> Columns {
    let cases = survey.cases();
    let mut columns = heads(&cases);
    for (n, controller) in survey.question.controllers().into_iter().enumerate() {
        let values = cases.iter().map(|case| {
            let (_, value) = survey.scores_on(case).nth(n).unwrap_or_default();
            value.unwrap_or(f64::NAN)
        });
        columns.real(&format!("value_{}", controller.name()), values);
    }
    columns
}

#[pymethods]
impl PyFindings {
    /// How bad each controller is on each finding: a row for each finding, a column `value_…` for each controller.
    #[getter]
    fn transfer(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        made(py, transfer(&self.survey))
    }

    /// What came of each controller and goal, also where nothing was found.
    #[getter]
    fn searches(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let all: Vec<_> = self.survey.searches().collect();
        let mut columns = Columns::default();
        let controllers = all.iter().map(|search| search.subject.candidate.name());
        columns.text("controller", controllers);
        columns.text("goal", all.iter().map(|s| s.subject.goal.name()));
        columns.whole("tried", all.iter().map(|s| s.outcome.tried as i64));
        columns.real("worst", all.iter().map(|s| s.outcome.worst));
        columns.real("limit", all.iter().map(|s| s.subject.goal.limit()));
        columns.whole("findings", all.iter().map(|s| s.cases.len() as i64));
        made(py, columns)
    }

    /// What `lowtide attack --json` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&JsonSurvey::new(&self.survey));
        text.map_err(|e| error::run(py, e))
    }

    /// Writes each finding as a case into a folder, for `lowtide.score(suites=folder)`; the folder.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let written = py.detach(|| self.survey.save(&folder));
        written.map_err(|e| unwritten(py, &folder, e))?;
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
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let cases = self.survey.cases();
        let mut columns = heads(&cases);
        columns.real("value", cases.iter().map(|case| case.finding.score));
        columns.text("flags", cases.iter().map(|case| case.network().flags()));
        let tables = [columns, transfer(&self.survey)].map(|columns| made(py, columns));
        tables
            .into_iter()
            .map(|table| Ok(table?.get().html()))
            .collect()
    }
}
