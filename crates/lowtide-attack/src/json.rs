//! What `lowtide attack --json` prints, and Python gives: the names that other tools rely on.

use lowtide_lab::json::SCHEMA;
use serde::Serialize;
use toml::Table;

use crate::survey::{Case, Survey};

/// A survey in JSON; other tools rely on the names.
#[derive(Serialize)]
pub struct JsonSurvey<'a> {
    command: &'static str,
    schema: u32,
    world: &'a str,
    method: &'a str,
    seed: u64,
    results: Vec<JsonOutcome<'a>>,
}

#[derive(Serialize)]
struct JsonOutcome<'a> {
    controller: &'a str,
    goal: String,
    tried: u64,
    worst: f64,
    limit: f64,
    findings: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    id: String,
    score: f64,
    before: f64,
    trouble: String,
    /// What broke off, or did not hold; empty for a score that says all.
    reason: &'a str,
    link: Table,
    path: Table,
    flow: Table,
    /// How bad each controller is there, by its name.
    controllers: Vec<(&'a str, Option<f64>)>,
}

impl<'a> JsonSurvey<'a> {
    /// The JSON of a survey.
    #[must_use]
    pub fn new(survey: &'a Survey) -> Self {
        let results = survey.searches().map(|search| JsonOutcome {
            controller: search.subject.candidate.name(),
            goal: search.subject.goal.name(),
            tried: search.outcome.tried,
            worst: search.outcome.worst,
            limit: search.subject.goal.limit(),
            findings: search
                .cases
                .iter()
                .map(|case| JsonFinding::new(case, survey))
                .collect(),
        });
        let question = &survey.question;
        Self {
            command: "attack",
            schema: SCHEMA,
            world: question.world.name,
            method: question.method.name(),
            seed: question.seed,
            results: results.collect(),
        }
    }
}

impl<'a> JsonFinding<'a> {
    fn new(case: &Case<'a>, survey: &'a Survey) -> Self {
        let network = case.network();
        let (link, path) = network.sections();
        Self {
            id: case.id(),
            score: case.finding.score,
            before: case.finding.before,
            trouble: case.finding.network.named_troubles(),
            reason: &case.finding.reason,
            link,
            path,
            flow: network.of_flow(),
            controllers: survey.scores_on(case).collect(),
        }
    }
}
