//! `lowtide.score`.

use std::path::PathBuf;

use lowtide_lab::experiment::{self, Options};
use lowtide_lab::json::JsonCard;
use lowtide_lab::score::{self as lab, Plan, Scorecard, Suite, Verdict};
use lowtide_report::score::{MAX_OVER_TIME, document, junit, write_report};
use pyo3::prelude::*;

use crate::compare::unwritten;
use crate::error;
use crate::known::Known;
use crate::setting::specs_if_any;
use crate::table::{Columns, Table, Tabled, escaped, made};
use crate::work;

/// Scorecards: suites of cases with limits, held against controllers.
#[pyclass(frozen, extends = Tabled, module = "lowtide", name = "Scores")]
pub(crate) struct PyScores {
    cards: Vec<Scorecard>,
    /// What was asked, for pages.
    about: String,
}

/// One name or several.
fn names(py: Python<'_>, value: Option<Bound<'_, PyAny>>, what: &str) -> PyResult<Vec<String>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(Vec::new());
    };
    let one = value.extract::<PathBuf>().map(|path| vec![path]);
    let all = one.or_else(|_| value.extract::<Vec<PathBuf>>());
    let all =
        all.map_err(|_| error::input(py, format!("{what}: must be a name, or a list of names")))?;
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
    let wrong = |e: &dyn std::fmt::Display| error::input(py, e);
    let mut known = Known::default();
    let controllers = specs_if_any(controllers.as_ref(), &mut known)?;
    let controllers = controllers.unwrap_or_else(|| vec!["ebb".to_string()]);
    let mut candidates = Vec::new();
    for spec in &controllers {
        let parsed = known.contenders().parse_all(spec);
        candidates.extend(parsed.map_err(|e| wrong(&format!("controllers: {e}")))?);
    }
    let mut suites = names(py, suites, "suites")?;
    let cases = names(py, cases, "cases")?;
    if suites.is_empty() {
        suites.push("rfc9743".to_string());
    }
    let about = format!("lowtide.score({controllers:?}, suites={suites:?})");
    let host = host.map(str::parse).transpose();
    let host = host.map_err(|e| wrong(&format!("host: {e}")))?;
    let host = lab::host_of(&candidates, host).map_err(|e| wrong(&format!("host: {e}")))?;
    let mut found = Vec::new();
    for name in &suites {
        let mut suite = Suite::find(name).map_err(|e| wrong(&format!("suites: {e}")))?;
        suite
            .keep(&cases)
            .map_err(|e| wrong(&format!("cases: {e}")))?;
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
    let plans = py.detach(|| {
        let plans = found.iter().map(|suite| {
            Plan::new(
                suite,
                candidates.clone(),
                known.contenders(),
                traces.as_deref(),
            )
        });
        plans.collect::<Result<Vec<_>, _>>()
    });
    let plans = plans.map_err(|e| wrong(&e))?;
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
    let cards = cards.map_err(|e| wrong(&e))?;
    let table = Tabled::new(py, verdicts(&cards))?;
    Py::new(py, (PyScores { cards, about }, table))
}

/// A row for each case of each controller.
fn verdicts(cards: &[Scorecard]) -> Columns {
    let all: Vec<_> = cards
        .iter()
        .flat_map(|card| card.results.iter().map(move |score| (card, score)))
        .flat_map(|(card, score)| score.cases.iter().map(move |case| (card, score, case)))
        .collect();
    let mut columns = Columns::default();
    columns.text("suite", all.iter().map(|(card, ..)| &card.suite));
    columns.text(
        "controller",
        all.iter().map(|(_, score, _)| &score.controller),
    );
    columns.text("case", all.iter().map(|(.., case)| &case.id));
    columns.text("title", all.iter().map(|(.., case)| &case.title));
    columns.text("verdict", all.iter().map(|(.., case)| case.verdict.name()));
    columns.text("metric", all.iter().map(|(.., case)| &case.metric));
    columns.real(
        "value",
        all.iter().map(|(.., case)| case.value.unwrap_or(f64::NAN)),
    );
    columns.real(
        "limit",
        all.iter().map(|(.., case)| case.limit.unwrap_or(f64::NAN)),
    );
    columns.text("reason", all.iter().map(|(.., case)| &case.reason));
    columns
}

#[pymethods]
impl PyScores {
    /// How many cases came out how, by suite and controller: passed, failed, undecided, not run, not applicable.
    #[getter]
    fn counts(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let cards = self.cards.iter();
        let all: Vec<_> = cards
            .flat_map(|c| c.results.iter().map(move |s| (c, s)))
            .collect();
        let mut columns = Columns::default();
        columns.text("suite", all.iter().map(|(card, _)| &card.suite));
        columns.text("controller", all.iter().map(|(_, score)| &score.controller));
        columns.whole("passed", all.iter().map(|(_, score)| score.passed as i64));
        columns.whole("failed", all.iter().map(|(_, score)| score.failed as i64));
        let undecided = all.iter().map(|(_, score)| score.undecided as i64);
        columns.whole("undecided", undecided);
        columns.whole("not_run", all.iter().map(|(_, score)| score.not_run as i64));
        let rest = all.iter().map(|(_, score)| score.not_applicable as i64);
        columns.whole("not_applicable", rest);
        made(py, columns)
    }

    /// What happened in each case that fails, and runs that did not come to their end.
    #[getter]
    fn explanations(&self) -> Vec<(String, String, String)> {
        let scores = self.cards.iter().flat_map(|card| &card.results);
        let cases = scores.flat_map(|s| s.cases.iter().map(move |case| (s, case)));
        let failing = cases.filter(|(_, case)| case.verdict == Verdict::Fail);
        let text = failing.map(|(score, case)| {
            let lines = case.explanation.iter().chain(&case.failed_runs);
            let lines: Vec<&str> = lines.map(String::as_str).collect();
            (score.controller.clone(), case.id.clone(), lines.join("\n"))
        });
        text.collect()
    }

    /// What `lowtide score --json` prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let cards: Vec<_> = self
            .cards
            .iter()
            .map(|card| JsonCard::new(card, None))
            .collect();
        let text = match cards.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            several => serde_json::to_string_pretty(several),
        };
        text.map_err(|e| error::run(py, e))
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
        let written = py.detach(|| write_report(&self.cards, &self.about, &folder));
        written.map_err(|e| unwritten(py, &path, e))?;
        Ok(path)
    }

    fn __repr__(&self) -> String {
        let scores = self.cards.iter().flat_map(|card| &card.results);
        let lines = scores.map(|s| format!("  {}: {}", s.controller, s.counts()));
        format!("<lowtide.Scores\n{}>", lines.collect::<Vec<_>>().join("\n"))
    }

    /// The matrix of verdicts.
    fn _repr_html_(&self) -> String {
        let mut html = String::new();
        for card in &self.cards {
            let heads = card
                .results
                .iter()
                .map(|s| format!("<th>{}</th>", escaped(&s.controller)));
            let heads: String = heads.collect();
            let count = card.results.first().map_or(0, |score| score.cases.len());
            let row = |n: usize| -> String {
                let cells = card.results.iter().map(|score| {
                    let case = &score.cases[n];
                    let (name, why) = (case.verdict.name(), escaped(&case.reason));
                    format!("<td title=\"{why}\">{}</td>", escaped(name))
                });
                let case = &card.results[0].cases[n];
                let title = escaped(&format!("{} {}", case.id, case.title));
                format!("<tr><th>{title}</th>{}</tr>", cells.collect::<String>())
            };
            let rows: String = (0..count).map(row).collect();
            html.push_str(&format!(
                "<h4>{}</h4><table><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table>",
                escaped(&card.suite)
            ));
        }
        html
    }
}
