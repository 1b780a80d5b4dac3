//! What came of it.

use serde::{Deserialize, Serialize};

use super::plan::{Plan, lacks};
use super::suite::Suite;
use super::verdict::{LimitResult, Verdict, judged, unknown};
use crate::contender::Contender;
use crate::experiment::CellResult;
use crate::program;
use crate::run::FailedRun;
use crate::scenario_file::{FileError, ScenarioFile};
use crate::setting::Host;

/// A case of a controller.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct CaseResult {
    /// The case.
    pub id: String,
    /// What the case is.
    pub title: String,
    /// Source that asks for the case.
    pub source: String,
    /// The metric of the limit that decides: one that fails, or else is undecided, or else is the nearest to failing.
    pub metric: String,
    /// What was measured.
    pub value: Option<f64>,
    /// Half the width of its 95 % interval.
    pub interval: Option<f64>,
    /// The limit.
    pub limit: Option<f64>,
    /// How the case came out.
    pub verdict: Verdict,
    /// Why the limit is this one; of a case that is not run or not applicable, why that is so.
    pub reason: String,
    /// All limits.
    pub limits: Vec<LimitResult>,
    /// What happened, where it fails.
    pub explanation: Vec<String>,
    /// Runs that did not come to their end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_runs: Vec<String>,
    /// The case's results, for reports.
    #[serde(skip)]
    pub results: Vec<CellResult>,
    /// The run that shows why it fails, over time: the cell with that seed only. Where it is kept; see
    /// [`explain_all`](super::explain_all).
    #[serde(skip)]
    pub shown_by: Option<CellResult>,
    /// Text of the case's file, for reports.
    #[serde(skip)]
    pub text: String,
    /// The place of the limit that decides.
    #[serde(skip)]
    deciding: Option<usize>,
}

/// All cases of a controller.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Score {
    /// The controller.
    pub controller: String,
    /// Cases in which every limit holds.
    pub passed: usize,
    /// Cases in which one does not.
    pub failed: usize,
    /// Cases in which the interval of a value covers its limit.
    pub undecided: usize,
    /// Cases whose runs were not all made.
    pub not_run: usize,
    /// Cases that are not applicable.
    pub not_applicable: usize,
    /// The cases.
    pub cases: Vec<CaseResult>,
}

/// A suite for some controllers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Scorecard {
    /// The suite.
    pub suite: String,
    /// What the suite is.
    #[serde(default)]
    pub about: String,
    /// Each controller.
    pub results: Vec<Score>,
}

/// Judges what was run: `results` are those of [`Plan::cells`].
///
/// # Errors
/// When a limit cannot be worked out; the error names file, line and key.
pub fn judge(suite: &Suite, plan: &Plan, results: &[CellResult]) -> Result<Scorecard, FileError> {
    let mut scores: Vec<Score> = plan
        .candidates
        .iter()
        .map(|candidate| Score {
            controller: candidate.name().to_string(),
            ..Score::default()
        })
        .collect();
    for job in &plan.jobs {
        let score = &mut scores[job.candidate];
        let content = &job.case.content;
        let about = content.case.as_ref();
        let mut case = CaseResult {
            id: job.case.id(),
            title: about.map_or_else(String::new, |c| c.title.clone()),
            source: about.map_or_else(String::new, |c| c.source.clone()),
            text: job.case.text().to_string(),
            ..CaseResult::default()
        };
        match &job.cells {
            Err(reason) => case.reason.clone_from(reason),
            Ok(cells) => {
                case.results = cells
                    .iter()
                    .map(|(cell, place)| CellResult {
                        cell: cell.clone(),
                        ..results[*place].clone()
                    })
                    .collect();
                let failed = case.results.iter().flat_map(|r| &r.failed);
                case.failed_runs = failed.map(FailedRun::to_string).collect();
                let candidate = &plan.candidates[job.candidate];
                let host = cells.first().map_or(Host::Model, |(c, _)| c.setting.host);
                for (n, limit) in content.limits.iter().enumerate() {
                    let name = candidate.name();
                    let plain = name.split(':').next().unwrap_or(name);
                    if !limit.only.is_empty() && !limit.only.iter().any(|n| n == plain) {
                        continue;
                    }
                    let needs = limit.needs.iter();
                    let lacking = match unseen(&job.case, n, candidate, host)? {
                        None => needs.into_iter().find_map(|n| lacks(*n, candidate, host)),
                        unseen => unseen,
                    };
                    let reported = limit.report.iter().any(|n| n == plain);
                    for mut one in judged(&job.case, n, &case.results)? {
                        if let Some(lacking) = &lacking {
                            one.verdict = Verdict::NotApplicable;
                            one.reason.clone_from(lacking);
                        } else if reported {
                            one.verdict = Verdict::NotApplicable;
                            one.reason = format!("shown only: {}", one.reason);
                        }
                        case.limits.push(one);
                    }
                }
                decide(&mut case);
            }
        }
        match case.verdict {
            Verdict::Pass => score.passed += 1,
            Verdict::Fail => score.failed += 1,
            Verdict::Undecided => score.undecided += 1,
            Verdict::NotRun => score.not_run += 1,
            Verdict::NotApplicable => score.not_applicable += 1,
        }
        score.cases.push(case);
    }
    Ok(Scorecard {
        suite: suite.name.clone(),
        about: suite.about.clone(),
        results: scores,
    })
}

/// Why nobody sees what the n-th limit is about, where that is so.
fn unseen(
    case: &ScenarioFile,
    n: usize,
    candidate: &Contender,
    host: Host,
) -> Result<Option<String>, FileError> {
    if let Contender::Program(_) = candidate {
        let of_sender =
            |metric: &str, is_of_senders| is_of_senders || program::UNKNOWN.contains(&metric);
        let found = unknown(case, n, of_sender)?;
        return Ok(found.map(|value| format!("{value} is known to its sender only")));
    }
    let found = unknown(case, n, |metric, _| host.unseen().contains(&metric))?;
    let stack = host.stack().unwrap_or_default();
    Ok(found.map(|value| format!("{value} is not seen over {stack} (--host model shows it)")))
}

/// How near a value is to its limit, or how far beyond: by the limit's size.
fn excess(limit: &LimitResult) -> f64 {
    let Some((value, bound)) = limit.value.zip(limit.limit) else {
        return f64::INFINITY;
    };
    limit.sense.over(value, bound) / bound.abs().max(1e-9)
}

/// The limit that decides is the case's.
fn decide(case: &mut CaseResult) {
    let deciding = case.limits.iter().enumerate().max_by(|(_, a), (_, b)| {
        let order = a.verdict.cmp(&b.verdict);
        order.then(excess(a).total_cmp(&excess(b)))
    });
    match deciding {
        None => case.reason = "no limit of it is for this controller".to_string(),
        Some((n, one)) => {
            case.deciding = Some(n);
            case.metric.clone_from(&one.metric);
            (case.value, case.interval, case.limit) = (one.value, one.interval, one.limit);
            case.verdict = one.verdict;
            case.reason.clone_from(&one.reason);
        }
    }
    if case.verdict == Verdict::NotApplicable {
        return;
    }
    // A run that did not end is no pass.
    if !case.failed_runs.is_empty() {
        case.verdict = Verdict::Fail;
        return;
    }
    let results = case.results.iter();
    let not_run = results.clone().flat_map(|r| &r.not_run);
    let unfaithful = results.flat_map(|r| &r.unfaithful);
    let not_run = not_run.map(|run| (run, run.reason.clone()));
    // Of a link that was not what it should be nothing can be held against anybody.
    let unfaithful = unfaithful.map(|run| (run, format!("not faithful: {}", run.reason)));
    let missing: Vec<_> = not_run.chain(unfaithful).collect();
    if let Some((run, reason)) = missing.first() {
        let others = match missing.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        case.reason = format!("{reason} ({}, seed {}{others})", run.name, run.seed);
        case.verdict = Verdict::NotRun;
        (case.value, case.interval, case.limit) = (None, None, None);
        case.deciding = None;
        let judged = case.limits.iter_mut();
        for limit in judged.filter(|l| l.verdict != Verdict::NotApplicable) {
            limit.verdict = Verdict::NotRun;
            limit.reason.clone_from(&case.reason);
        }
    }
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        v if v >= 0.001 => 4,
        _ => 6,
    };
    format!("{value:.digits$}")
}

impl LimitResult {
    /// What was measured, with its interval: `0.93 ±0.01`.
    #[must_use]
    pub fn measured(&self) -> String {
        let value = self.value.map_or_else(|| "never".to_string(), short);
        let interval = self
            .interval
            .map_or_else(String::new, |half| format!(" ±{}", short(half)));
        format!("{value}{interval}")
    }

    /// The limit: `0.9`.
    #[must_use]
    pub fn bound(&self) -> String {
        self.limit.map_or_else(|| "?".to_string(), short)
    }

    /// Value and limit: `0.93 ±0.01 ≥ 0.9`, or `0.93 ±0.05, limit ≥ 0.9` where that is undecided.
    #[must_use]
    pub fn shown(&self) -> String {
        let (measured, sign, bound) = (self.measured(), self.sense.sign(), self.bound());
        match self.verdict {
            Verdict::Undecided => format!("{measured}, limit {sign} {bound}"),
            _ => format!("{measured} {sign} {bound}"),
        }
    }

    /// The cell that is worst off, to be put behind what is said of it: ` (4g)`, or nothing.
    #[must_use]
    pub fn in_cell(&self) -> String {
        match self.cell.as_str() {
            "" => String::new(),
            cell => format!(" ({cell})"),
        }
    }
}

impl Score {
    /// Cases that are for this controller.
    #[must_use]
    pub const fn applicable(&self) -> usize {
        self.passed + self.failed + self.undecided + self.not_run
    }

    /// The counts in words: `3 passed, 1 failed, 2 undecided, 1 not run, 4 not applicable`; of the last three only
    /// those that there are.
    #[must_use]
    pub fn counts(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failed);
        let rest = [
            (self.undecided, "undecided"),
            (self.not_run, "not run"),
            (self.not_applicable, "not applicable"),
        ];
        for (count, what) in rest.into_iter().filter(|(count, _)| *count > 0) {
            text += &format!(", {count} {what}");
        }
        text
    }
}

impl CaseResult {
    /// The limits that do not hold.
    pub fn failing(&self) -> impl Iterator<Item = &LimitResult> {
        self.with(Verdict::Fail)
    }

    /// The limits that came out like this.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &LimitResult> {
        self.limits.iter().filter(move |l| l.verdict == verdict)
    }

    /// The first of them that is of a single cell, that cell, and its worst seed by its place.
    pub(super) fn worst(&self) -> Option<(&LimitResult, &CellResult, usize)> {
        self.failing().find_map(|limit| {
            let (place, seed) = limit.worst?;
            Some((limit, self.results.get(place)?, seed))
        })
    }

    /// The limit that decides; `None` where there is none, or the runs say nothing.
    #[must_use]
    pub fn deciding(&self) -> Option<&LimitResult> {
        self.limits.get(self.deciding?)
    }
}
