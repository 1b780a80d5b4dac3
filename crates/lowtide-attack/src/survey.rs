//! Surveys: what was found for one controller, tried on the others, and kept as a suite.

use std::io;
use std::path::Path;

use lowtide_lab::contender::Contender;
use lowtide_lab::files;
use lowtide_lab::run::Stop;
use rayon::prelude::*;

use crate::found::Finding;
use crate::hunt::{HuntError, Outcome, Question, hunt};
use crate::network::Network;
use crate::search::Progress;
use crate::trial::{Subject, TrialError};

/// A hunt, and how bad each controller is on each finding.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What was asked.
    pub question: Question,
    /// What came of each subject, in their order.
    pub outcomes: Vec<Outcome>,
    /// Each finding on each controller; `None` where the work was ended before.
    pub transfer: Option<Transfer>,
}

/// How bad each controller is on each finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The controllers.
    pub controllers: Vec<String>,
    /// A row for each finding, in their order: how bad each controller is there; `None` where it cannot be tried.
    pub scores: Vec<Vec<Option<f64>>>,
}

/// The search for a subject, of which at least one network was tried.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Who was tried, by what.
    pub subject: &'a Subject,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// Its findings, the worst first.
    pub cases: Vec<Case<'a>>,
}

/// A finding among all of a survey.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Its number among them, from 1.
    pub number: usize,
    /// For whom, and by what.
    pub subject: &'a Subject,
    /// The finding.
    pub finding: &'a Finding,
}

impl Case<'_> {
    /// The name of the case and of its file, without its ending.
    #[must_use]
    pub fn id(&self) -> String {
        self.finding.id(self.number)
    }

    /// The case as a scenario file.
    #[must_use]
    pub fn text(&self) -> String {
        self.finding.text(self.subject, self.number)
    }

    /// The network as the goal has it.
    #[must_use]
    pub fn network(&self) -> Network {
        self.subject.goal.fitted(self.finding.network.clone())
    }
}

impl Survey {
    /// Hunts, and tries each finding on each controller. What `stop` ends is there as far as it came; `watch` is told
    /// how far the hunt is.
    ///
    /// # Errors
    /// When a subject cannot be tried, or its trials cannot be kept.
    pub fn make(
        question: Question,
        stop: &Stop,
        watch: &(dyn Fn(&Subject, Progress) + Sync),
    ) -> Result<Self, HuntError> {
        let outcomes = hunt(&question, stop, watch)?;
        let pool = question.pool()?;
        let mut survey = Self {
            question,
            outcomes,
            transfer: None,
        };
        survey.transfer = pool.install(|| survey.transferred(stop));
        Ok(survey)
    }

    /// The searches that tried something, in the order of the subjects.
    pub fn searches(&self) -> impl Iterator<Item = Search<'_>> {
        let mut number = 0;
        let pairs = self.question.subjects.iter().zip(&self.outcomes);
        let pairs = pairs.filter(|(_, outcome)| outcome.tried > 0);
        pairs.map(move |(subject, outcome)| {
            let findings = outcome.findings.iter();
            let cases = findings.map(|finding| {
                number += 1;
                Case {
                    number,
                    subject,
                    finding,
                }
            });
            Search {
                subject,
                outcome,
                cases: cases.collect(),
            }
        })
    }

    /// All findings.
    #[must_use]
    pub fn cases(&self) -> Vec<Case<'_>> {
        self.searches().flat_map(|search| search.cases).collect()
    }

    /// How bad each controller is on a finding; nobody where the work was ended before.
    pub fn scores_on(&self, case: &Case<'_>) -> impl Iterator<Item = (&str, Option<f64>)> {
        let row = case.number - 1;
        let transfer = self.transfer.iter();
        transfer.flat_map(move |transfer| {
            let names = transfer.controllers.iter().map(String::as_str);
            names.zip(transfer.scores[row].iter().copied())
        })
    }

    /// Writes each finding as a case into a folder, which `lowtide score --suite` runs; how many there are.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> io::Result<usize> {
        let cases = self.cases();
        for case in &cases {
            let path = folder.join(format!("{}.toml", case.id()));
            files::write(&path, case.text().as_bytes())?;
        }
        Ok(cases.len())
    }

    /// Tries every finding on every controller, unless the work is ended.
    fn transferred(&self, stop: &Stop) -> Option<Transfer> {
        let controllers = self.question.controllers();
        let of_case = |case: &Case<'_>| -> Result<Vec<Option<f64>>, TrialError> {
            let scores = controllers.iter().map(|controller: &&Contender| {
                let other = Subject {
                    candidate: (*controller).clone(),
                    ..case.subject.clone()
                };
                match other.confirm_on(&case.finding.network, stop) {
                    Ok(score) => Ok(Some(score)),
                    Err(TrialError::Ended) => Err(TrialError::Ended),
                    Err(_) => Ok(None),
                }
            });
            scores.collect()
        };
        let scores: Result<_, _> = self.cases().par_iter().map(of_case).collect();
        Some(Transfer {
            controllers: controllers.iter().map(|c| c.name().to_string()).collect(),
            scores: scores.ok()?,
        })
    }
}
