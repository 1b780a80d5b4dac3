//! One trial: a controller on a network, and how bad it is by a goal.

use std::path::Path;

use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::experiment::CellResult;
use lowtide_lab::run::{FailedRun, Keep, Stop, run_until};
use lowtide_lab::scenario_file::{FileError, ScenarioFile};
use lowtide_lab::score::{CaseResult, Plan, Suite, Verdict, judge};
use lowtide_lab::setting::{Host, Links};
use serde::{Deserialize, Serialize};

use crate::goal::Goal;
use crate::network::Network;

/// Seeds of a finding: a search tries each network with one, and what chance alone made bad is no finding.
pub const SEEDS: u32 = 5;

/// A controller, the goal that it is tried by, and its reference.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The controller.
    pub candidate: Contender,
    /// What carries its flows, where it is not the simulator's own transports.
    pub host: Option<Host>,
    /// What is bad.
    pub goal: Goal,
    /// What it is held against, where the goal holds it against something.
    pub reference: String,
    /// Whom the lab knows.
    pub contenders: Contenders,
}

/// A bound that is not by so much below what was asked for is not trusted: links round to whole packets.
const ROUNDING: f64 = 0.01;

/// How bad a controller is on a network: 0 as good as can be, 1 as bad as can be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Badness {
    /// How bad.
    pub score: f64,
    /// The value may be less: the reference was not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// How bad the controller is: 0 as good as can be, 1 as bad as can be; a run that breaks off is 1.
    pub score: f64,
    /// What broke off, or did not hold; empty for a score that says all.
    pub reason: String,
}

impl Tried {
    /// What came of a case; `None` where it is not for the controller, or its runs were not made.
    fn of(case: &CaseResult) -> Option<Self> {
        if matches!(case.verdict, Verdict::NotApplicable | Verdict::NotRun) {
            return None;
        }
        if let Some(failed) = case.failed_runs.first() {
            return Some(Self {
                score: 1.0,
                reason: failed.clone(),
            });
        }
        // What has no value, as the delay where nothing arrived, is no finding: there is nothing to compare.
        let value = case.value.filter(|value| !value.is_nan());
        // A single limit is the goal itself.
        let broken = case.failing().filter(|_| case.limits.len() > 1);
        let broken: Vec<&str> = broken.map(|limit| limit.metric.as_str()).collect();
        Some(Self {
            score: value.unwrap_or(0.0).clamp(0.0, 1.0),
            reason: broken.join(", "),
        })
    }
}

/// How bad a controller is in a case; `None` where it is not for it, or was not run.
#[must_use]
pub fn value_of(case: &CaseResult) -> Option<f64> {
    Tried::of(case).map(|tried| tried.score)
}

/// A controller cannot be tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// The case is wrong, as where the reference is not known.
    #[error("{0}")]
    Case(#[from] FileError),
    /// The goal is not for this controller.
    #[error("{0}")]
    NotApplicable(String),
    /// The trial was ended.
    #[error("ended")]
    Ended,
}

impl Subject {
    /// Each controller by each goal; who is named twice counts once.
    ///
    /// # Errors
    /// When the reference is not known, or is to be held against itself.
    pub fn all(
        controllers: &[Contender],
        goals: &[Goal],
        host: Option<Host>,
        reference: &str,
        contenders: &Contenders,
    ) -> Result<Vec<Self>, String> {
        contenders.parse(reference).map_err(|e| e.to_string())?;
        if controllers.iter().any(|c| c.name() == reference) {
            let problem = "cannot be held against itself: name another reference";
            return Err(format!("{reference} {problem}"));
        }
        let mut subjects: Vec<Self> = Vec::new();
        for candidate in controllers {
            for goal in goals {
                let is_known = |s: &Self| s.candidate.name() == candidate.name() && s.goal == *goal;
                if !subjects.iter().any(is_known) {
                    subjects.push(Self {
                        candidate: candidate.clone(),
                        host,
                        goal: *goal,
                        reference: reference.to_string(),
                        contenders: contenders.clone(),
                    });
                }
            }
        }
        Ok(subjects)
    }

    /// The network with what the host can carry: QUIC stacks have no TCP.
    #[must_use]
    pub fn for_host(&self, network: Network) -> Network {
        let is_stack = self.host.is_some_and(|host| host.stack().is_some());
        Network {
            tcp: network.tcp && !is_stack,
            ..network
        }
    }

    /// The case of a network, as a scenario file that is run with so many seeds.
    ///
    /// # Errors
    /// When the reference is not known, or the network is no scenario.
    pub fn file(&self, network: &Network, seeds: u32) -> Result<ScenarioFile, FileError> {
        let table = self.goal.case(network, &self.reference, seeds);
        let mut file = ScenarioFile::of_values(&table, Path::new(""), &Links::default())?;
        if let Some(host) = self.host {
            file.set_host(host);
        }
        Ok(file)
    }

    /// How bad the controller is on a network by one seed: 0 as good as can be, 1 as bad as can be; a run that breaks
    /// off is 1.
    ///
    /// # Errors
    /// When it cannot be tried, or the trial was ended.
    pub fn try_on(&self, network: &Network, stop: &Stop) -> Result<f64, TrialError> {
        Ok(self.try_above(network, f64::NEG_INFINITY, stop)?.score)
    }

    /// How bad the controller is on a network by one seed, as far as it may be `floor` or more: where its own run shows
    /// that it is less, only a bound is found out.
    ///
    /// # Errors
    /// As of [`try_on`](Self::try_on).
    pub fn try_above(
        &self,
        network: &Network,
        floor: f64,
        stop: &Stop,
    ) -> Result<Badness, TrialError> {
        let (tried, at_most) = self.try_with(network, 1, floor, stop)?;
        Ok(Badness {
            score: tried.score,
            at_most,
        })
    }

    /// How bad it is by the mean of [`SEEDS`] seeds, which a finding must be.
    ///
    /// # Errors
    /// As of [`try_on`](Self::try_on).
    pub fn confirm_on(&self, network: &Network, stop: &Stop) -> Result<Tried, TrialError> {
        Ok(self.try_with(network, SEEDS, f64::NEG_INFINITY, stop)?.0)
    }

    fn try_with(
        &self,
        network: &Network,
        seeds: u32,
        floor: f64,
        stop: &Stop,
    ) -> Result<(Tried, bool), TrialError> {
        let suite = Suite {
            name: "attack".to_string(),
            about: String::new(),
            cases: vec![self.file(network, seeds)?],
        };
        let plan = Plan::new(&suite, vec![self.candidate.clone()], &self.contenders, None)?;
        let mut results = Vec::with_capacity(plan.cells.len());
        for cell in &plan.cells {
            let mut result = CellResult::new(cell.clone());
            for seed in cell.setting.seeds.iter() {
                match run_until(&cell.setting, seed, Keep::Metrics, stop) {
                    Ok(run) => {
                        // The candidate's is the first cell, and with one seed its only run.
                        let is_all = results.is_empty() && seeds == 1;
                        let bound = self.goal.bound(&run.measured).filter(|_| is_all);
                        if let Some(score) = bound.filter(|bound| bound + ROUNDING < floor) {
                            let reason = String::new();
                            return Ok((Tried { score, reason }, true));
                        }
                        result.runs.push(run);
                    }
                    Err(_) if stop.is_uttered() => return Err(TrialError::Ended),
                    Err(reason) => result.failed.push(FailedRun {
                        name: cell.name(),
                        seed,
                        reason,
                    }),
                }
            }
            results.push(result);
        }
        let card = judge(&suite, &plan, &results)?;
        let case = card.results.first().and_then(|score| score.cases.first());
        let case = case.ok_or_else(|| TrialError::NotApplicable("no case".to_string()))?;
        let tried = Tried::of(case);
        let tried = tried.ok_or_else(|| TrialError::NotApplicable(case.reason.clone()))?;
        Ok((tried, false))
    }
}
