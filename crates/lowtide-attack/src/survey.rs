//! Surveys: what was found for one controller, tried on the others, and kept as a suite.

use std::io;
use std::path::Path;

use lowtide_lab::experiment::{self, Options};
use lowtide_lab::files;
use lowtide_lab::run::{Stop, Watch};
use lowtide_lab::scenario_file::{FileError, ScenarioFile};
use lowtide_lab::score::{Plan, Scorecard, Suite, judge};

use crate::found::Finding;
use crate::goal::Goal;
use crate::hunt::{HuntError, Outcome, Question, hunt};
use crate::network::Network;
use crate::search::Progress;
use crate::trial::{Subject, value_of};

/// A hunt, and how bad each controller is on each finding.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What was asked.
    pub question: Question,
    /// What came of each subject, in their order.
    pub outcomes: Vec<Outcome>,
    /// For each goal its findings, tried on all controllers; none where the work was ended before.
    pub cards: Vec<Scorecard>,
}

/// What ends the trials of findings.
struct Ending<'a>(&'a Stop);

impl Watch for Ending<'_> {
    fn on_run(&self) {}

    fn stop(&self) -> Stop {
        self.0.clone()
    }
}

/// The search for a subject, of which at least one network was tried.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The controller and the goal that it was tried by.
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

    /// The scenario file, read.
    fn file(&self) -> Result<ScenarioFile, FileError> {
        ScenarioFile::parse(Path::new(&format!("{}.toml", self.id())), self.text())
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
        let mut survey = Self {
            question,
            outcomes,
            cards: Vec::new(),
        };
        if !stop.is_uttered() {
            survey.cards = survey.tried_on_all(stop)?;
        }
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

    /// How bad each controller is on a finding, `None` where it cannot be tried; nobody where the work was ended before.
    pub fn scores_on(&self, case: &Case<'_>) -> impl Iterator<Item = (&str, Option<f64>)> {
        let id = case.id();
        let scores = self.cards.iter().flat_map(|card| &card.results);
        scores.filter_map(move |score| {
            let case = score.cases.iter().find(|case| case.id == id)?;
            Some((score.controller.as_str(), value_of(case)))
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

    /// Tries every finding on every controller; runs of the reference are made once.
    fn tried_on_all(&self, stop: &Stop) -> Result<Vec<Scorecard>, HuntError> {
        let searches: Vec<Search<'_>> = self.searches().collect();
        let mut goals: Vec<Goal> = Vec::new();
        for search in &searches {
            if !goals.contains(&search.subject.goal) {
                goals.push(search.subject.goal);
            }
        }
        let card = |goal: Goal| {
            let of_goal = || searches.iter().filter(|search| search.subject.goal == goal);
            let worst = of_goal().map(|search| {
                let (name, outcome) = (search.subject.candidate.name(), search.outcome);
                format!("{name} {:.2} of {} networks", outcome.worst, outcome.tried)
            });
            let worst: Vec<String> = worst.collect();
            let cases = of_goal().flat_map(|search| &search.cases).map(Case::file);
            let suite = Suite {
                name: goal.name(),
                about: format!("{}. The worst value: {}.", goal.title(), worst.join(", ")),
                cases: cases.collect::<Result<_, _>>()?,
            };
            let controllers = self.question.controllers().into_iter().cloned();
            let contenders = &self.question.subjects[0].contenders;
            let plan = Plan::new(&suite, controllers.collect(), contenders, None)?;
            let jobs = self.question.jobs;
            let options = Options {
                jobs,
                ..Options::default()
            };
            let results = experiment::run(&plan.cells, options, &Ending(stop))?;
            Ok(judge(&suite, &plan, &results)?)
        };
        goals.into_iter().map(card).collect()
    }
}
