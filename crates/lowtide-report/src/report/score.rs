//! Scorecards as the report shows them: a matrix of controllers and cases, and each case's limits.

use lowtide_lab::score::{CaseResult, LimitResult, Scorecard, Verdict};
use serde::Serialize;

/// Where a run that fails is shown.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FailureLinks {
    /// Over time: its place among the report's runs.
    pub link: Option<usize>,
    /// Path of the run's qlog from the report.
    pub qlog: Option<String>,
}

/// A suite's scorecard.
#[derive(Clone, Debug, Serialize)]
pub struct ScoreResult {
    suite: String,
    about: String,
    controllers: Vec<ControllerData>,
    cases: Vec<CaseData>,
}

#[derive(Clone, Debug, Serialize)]
struct ControllerData {
    name: String,
    passed: usize,
    /// How many cases are for it.
    applicable: usize,
}

#[derive(Clone, Debug, Serialize)]
struct CaseData {
    id: String,
    title: String,
    source: String,
    /// The scenario file.
    text: String,
    /// One for each controller.
    results: Vec<ResultData>,
}

#[derive(Clone, Debug, Serialize)]
struct ResultData {
    verdict: Verdict,
    /// What was measured, and the limit; empty where there is nothing that decides.
    shown: String,
    /// Why a case is not run or not applicable.
    reason: String,
    limits: Vec<LimitData>,
    explanation: Vec<String>,
    #[serde(flatten)]
    run: FailureLinks,
}

#[derive(Clone, Debug, Serialize)]
struct LimitData {
    verdict: Verdict,
    metric: String,
    shown: String,
    cell: String,
    reason: String,
    source: String,
}

impl ScoreResult {
    /// A scorecard; `shown` says where what a controller did in a case is shown, both by their places.
    #[must_use]
    pub fn new(card: &Scorecard, shown: impl Fn(usize, usize) -> FailureLinks) -> Self {
        let controllers = card.results.iter().map(|score| ControllerData {
            name: score.controller.clone(),
            passed: score.passed,
            applicable: score.applicable(),
        });
        let count = card.results.first().map_or(0, |score| score.cases.len());
        let cases = (0..count).map(|n| {
            let first = &card.results[0].cases[n];
            let results = card.results.iter().enumerate();
            CaseData {
                id: first.id.clone(),
                title: first.title.clone(),
                source: first.source.clone(),
                text: first.text.clone(),
                results: results
                    .map(|(s, score)| result(&score.cases[n], shown(s, n)))
                    .collect(),
            }
        });
        Self {
            suite: card.suite.clone(),
            about: card.about.clone(),
            controllers: controllers.collect(),
            cases: cases.collect(),
        }
    }
}

fn result(case: &CaseResult, run: FailureLinks) -> ResultData {
    let mut explanation = case.explanation.clone();
    explanation.extend(case.failed_runs.iter().cloned());
    ResultData {
        verdict: case.verdict,
        shown: match case.verdict {
            Verdict::NotApplicable => String::new(),
            _ => case.deciding().map_or_else(String::new, LimitResult::shown),
        },
        reason: case.reason.clone(),
        limits: case.limits.iter().map(limit).collect(),
        explanation,
        run,
    }
}

fn limit(limit: &LimitResult) -> LimitData {
    LimitData {
        verdict: limit.verdict,
        metric: limit.metric.clone(),
        shown: limit.shown(),
        cell: limit.cell.clone(),
        reason: limit.reason.clone(),
        source: limit.source.clone(),
    }
}
