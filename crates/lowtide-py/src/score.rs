//! `lowtide.score`.

use std::path::PathBuf;

use lowtide_lab::contender::Contender;
use lowtide_lab::experiment::{self, Options};
use lowtide_lab::json::JsonCard;
use lowtide_lab::score::{self as lab, Plan, Score, Scorecard, Suite, Verdict};
use lowtide_lab::setting::Host;
use lowtide_report::score::{MAX_OVER_TIME, document, junit, write_report};
use pyo3::prelude::*;

use crate::error::{self, unwritten};
use crate::known::Known;
use crate::setting::specs_if_any;
use crate::table::{Columns, Table, Tabled, escaped, html, one_or_all, tabled};
use crate::work;

/// Scorecards: suites of cases with limits, held against controllers.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Scores")]
pub(crate) struct PyScores {
    cards: Vec<Scorecard>,
    /// What was asked, for pages.
    about: String,
}

/// One name or several.
fn names(value: Option<Bound<'_, PyAny>>, what: &str) -> PyResult<Vec<String>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(Vec::new());
    };
    let one = value.extract::<PathBuf>().map(|path| vec![path]);
    let all = one.or_else(|_| value.extract::<Vec<PathBuf>>());
    let all = all.map_err(|_| error::argument(what, "must be a name, or a list of names"))?;
    Ok(all.iter().map(|path| path.display().to_string()).collect())
}

#[pyfunction]
#[pyo3(signature = (controllers=None, /, *, suites=None, cases=None, traces=None, seeds=None, host=None, jobs=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn score(
    py: Python<'_>,
    controllers: Option<Bound<'_, PyAny>>,
    suites: Option<Bound<'_, PyAny>>,
    cases: Option<Bound<'_, PyAny>>,
    traces: Option<PathBuf>,
    seeds: Option<u64>,
    host: Option<&str>,
    #[pyo3(from_py_with = work::jobs)] jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyScores>> {
    let mut known = Known::default();
    let controllers = specs_if_any(controllers.as_ref(), &mut known)?;
    let controllers = controllers.unwrap_or_else(|| vec!["ebb".to_string()]);
    let candidates = known.parse(&controllers)?;
    let mut suites = names(suites, "suites")?;
    let cases = names(cases, "cases")?;
    if suites.is_empty() {
        suites.push("rfc9743".to_string());
    }
    let about = format!("lowtide.score({controllers:?}, suites={suites:?})");
    let host = host_of(host, &candidates)?;
    let mut found = Vec::new();
    for name in &suites {
        let mut suite = Suite::find(name).map_err(|e| error::argument("suites", e))?;
        suite
            .keep(&cases)
            .map_err(|e| error::argument("cases", e))?;
        for case in &mut suite.cases {
            if let Some(seeds) = seeds {
                case.set_seeds(seeds);
            }
            if let Some(host) = host {
                case.set_host(host);
            }
        }
        found.push(suite);
    }
    let (all, traces) = (&known.contenders, traces.as_deref());
    let plans = py.detach(|| {
        let plan = |suite| Plan::new(suite, candidates.clone(), all, traces);
        found.iter().map(plan).collect::<Result<Vec<_>, _>>()
    });
    let plans = plans.map_err(error::input)?;
    let cells: Vec<_> = plans.iter().flat_map(|plan| plan.cells.clone()).collect();
    let options = Options {
        jobs,
        over_time: &[],
        ..Options::default()
    };
    let runs = experiment::count_runs(&cells, None);
    let cards = work::done(py, progress.as_ref(), runs, |watch| {
        let results = experiment::run(&cells, options, watch).map_err(|e| e.to_string())?;
        let mut rest = results.into_iter();
        let mut cards = Vec::new();
        for (suite, plan) in found.iter().zip(&plans) {
            let own: Vec<_> = rest.by_ref().take(plan.cells.len()).collect();
            cards.push(lab::judge(suite, plan, &own).map_err(|e| e.to_string())?);
        }
        let stop = watch.stop();
        let failing = cards.iter_mut().flat_map(|card| &mut card.results);
        let failing = failing.flat_map(|score| &mut score.cases);
        let failing = failing.filter(|case| case.verdict == Verdict::Fail);
        lab::explain_all(failing.collect(), jobs, MAX_OVER_TIME, &stop)
            .map_err(|e| e.to_string())?;
        Ok::<_, String>(cards)
    })?;
    known.check(py)?;
    let cards = cards.map_err(error::input)?;
    let table = verdicts(&cards)?;
    Py::new(py, tabled(table).add_subclass(PyScores { cards, about }))
}

/// The host that is asked for, or that the candidates need.
pub(crate) fn host_of(asked: Option<&str>, candidates: &[Contender]) -> PyResult<Option<Host>> {
    let asked: Option<Host> = asked.map(str::parse).transpose().map_err(wrong_host)?;
    lab::host_of(candidates, asked).map_err(wrong_host)
}

fn wrong_host(problem: impl std::fmt::Display) -> PyErr {
    error::argument("host", problem)
}

/// A row for each case of each controller.
fn verdicts(cards: &[Scorecard]) -> PyResult<Table> {
    let mut rows = Vec::new();
    for (card, score) in scores(cards) {
        rows.extend(score.cases.iter().map(|case| (card, score, case)));
    }
    Columns::of(&rows)
        .text("suite", |(card, ..)| &card.suite)
        .text("controller", |(_, score, _)| &score.controller)
        .text("case", |(.., case)| &case.id)
        .text("title", |(.., case)| &case.title)
        .text("verdict", |(.., case)| case.verdict.name())
        .text("metric", |(.., case)| &case.metric)
        .real("value", |(.., case)| case.value.unwrap_or(f64::NAN))
        .real("limit", |(.., case)| case.limit.unwrap_or(f64::NAN))
        .text("reason", |(.., case)| &case.reason)
        .table()
}

/// Each controller of each card.
fn scores(cards: &[Scorecard]) -> Vec<(&Scorecard, &Score)> {
    let cards = cards.iter();
    let scores = cards.flat_map(|card| card.results.iter().map(move |score| (card, score)));
    scores.collect()
}

#[pymethods]
impl PyScores {
    /// How many cases came out how, by suite and controller: passed, failed, undecided, not run, not applicable.
    #[getter]
    fn counts(&self) -> PyResult<Table> {
        let rows = scores(&self.cards);
        Columns::of(&rows)
            .text("suite", |(card, _)| &card.suite)
            .text("controller", |(_, score)| &score.controller)
            .whole("passed", |(_, score)| score.passed as i64)
            .whole("failed", |(_, score)| score.failed as i64)
            .whole("undecided", |(_, score)| score.undecided as i64)
            .whole("not_run", |(_, score)| score.not_run as i64)
            .whole("not_applicable", |(_, score)| score.not_applicable as i64)
            .table()
    }

    /// What happened in each case that fails, and runs that did not come to their end.
    #[getter]
    fn explanations(&self) -> Vec<(String, String, String)> {
        let mut explanations = Vec::new();
        for (_, score) in scores(&self.cards) {
            for case in score
                .cases
                .iter()
                .filter(|case| case.verdict == Verdict::Fail)
            {
                let lines = case.explanation.iter().chain(&case.failed_runs);
                let lines: Vec<&str> = lines.map(String::as_str).collect();
                explanations.push((score.controller.clone(), case.id.clone(), lines.join("\n")));
            }
        }
        explanations
    }

    /// What `lowtide score --json` prints.
    fn json(&self) -> PyResult<String> {
        let cards = self.cards.iter().map(|card| JsonCard::new(card, None));
        one_or_all(&cards.collect::<Vec<_>>()).map_err(error::run)
    }

    /// The scorecards as JUnit XML, for CI.
    fn junit(&self) -> String {
        junit(&self.cards)
    }

    /// A page of the scorecards in Markdown.
    fn document(&self) -> String {
        document(&self.cards, &self.about)
    }

    /// Writes the scorecards with what happened in cases that fail, `index.html`, into a folder; its path.
    fn report(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let path = folder.join("index.html");
        let written = py.detach(|| write_report(&self.cards, "Scorecards", &self.about, &folder));
        written.map_err(|e| unwritten(&path, e))?;
        Ok(path)
    }

    fn __repr__(&self) -> String {
        let scores = scores(&self.cards).into_iter();
        let lines = scores.map(|(_, s)| format!("  {}: {}", s.controller, s.counts()));
        format!("<lowtide.Scores\n{}>", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The matrix of verdicts.
    fn _repr_html_(&self) -> String {
        self.cards.iter().map(matrix).collect()
    }
}

/// The verdicts of a suite: a row for each case, a column for each controller.
fn matrix(card: &Scorecard) -> String {
    let heads = card
        .results
        .iter()
        .map(|s| format!("<th>{}</th>", escaped(&s.controller)));
    let heads = format!("<th></th>{}", heads.collect::<String>());
    let cases = card.results.first().map_or(&[][..], |score| &score.cases);
    let rows = cases.iter().enumerate().map(|(n, case)| {
        let cells = card.results.iter().map(|score| {
            let case = &score.cases[n];
            let (name, why) = (case.verdict.name(), escaped(&case.reason));
            format!("<td title=\"{why}\">{}</td>", escaped(name))
        });
        let title = escaped(&format!("{} {}", case.id, case.title));
        format!("<th>{title}</th>{}", cells.collect::<String>())
    });
    format!("<h4>{}</h4>{}", escaped(&card.suite), html(heads, rows))
}
