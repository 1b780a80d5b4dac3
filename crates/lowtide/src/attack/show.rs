//! What came of a hunt: a table of findings, and how bad each of the controllers is on each of them.

use std::fmt::Write as _;

use lowtide_attack::hunt::{Outcome, Question};
use lowtide_attack::network::Network;
use lowtide_attack::survey::Transfer;
use serde::Serialize;
use toml::Table;

use crate::failure::Failure;
use crate::json_flag::JsonFlag;
use crate::output;
use crate::table::{self, Column, Look};

/// A hunt as JSON.
#[derive(Serialize)]
struct JsonHunt<'a> {
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
    link: Table,
    path: Table,
    flow: Table,
    /// How bad each controller is there, by its name.
    controllers: Vec<(&'a str, Option<f64>)>,
}

pub(super) fn show(
    json: &JsonFlag,
    question: &Question,
    outcomes: &[Outcome],
    transfer: Option<&Transfer>,
) -> Result<(), Failure> {
    let mut rows = transfer.map_or(&[][..], |transfer| &transfer.scores).iter();
    let names = transfer.map_or(&[][..], |transfer| &transfer.controllers);
    let (mut text, mut table, mut results) = (String::new(), Vec::new(), Vec::new());
    let mut n = 0;
    let searched = question.subjects.iter().zip(outcomes);
    for (subject, outcome) in searched.filter(|(_, outcome)| outcome.tried > 0) {
        let (goal, limit) = (subject.goal.name(), subject.goal.limit());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}, {goal}: worst {:.2} of {} networks (limit {limit:.2})",
            subject.candidate.name(),
            outcome.worst,
            outcome.tried
        );
        let mut findings = Vec::new();
        for finding in &outcome.findings {
            n += 1;
            let network = subject.goal.fitted(finding.network.clone());
            let _ = writeln!(text, "  {n}. {:.2} {}", finding.score, flags(&network));
            let scores = rows.next().map_or(&[][..], Vec::as_slice);
            let cells = scores
                .iter()
                .map(|s| s.map_or("-".to_string(), |s| format!("{s:.2}")));
            table.push((finding.id(n), cells.collect()));
            let (link, path) = network.sections();
            findings.push(JsonFinding {
                id: finding.id(n),
                score: finding.score,
                before: finding.before,
                trouble: finding.network.named_troubles(),
                link,
                path,
                flow: network.of_flow(),
                controllers: names
                    .iter()
                    .map(String::as_str)
                    .zip(scores.iter().copied())
                    .collect(),
            });
        }
        results.push(JsonOutcome {
            controller: subject.candidate.name(),
            goal,
            tried: outcome.tried,
            worst: outcome.worst,
            limit,
            findings,
        });
    }
    json.put(&JsonHunt {
        command: "attack",
        schema: 1,
        world: question.world.name,
        method: question.method.name(),
        seed: question.seed,
        results,
    })?;
    if json.is_printed() {
        return Ok(());
    }
    if names.len() > 1 && !table.is_empty() {
        let columns: Vec<Column<'_>> = names.iter().map(|head| Column { head, rank: 0 }).collect();
        let look = Look::of_output(false);
        let _ = write!(
            text,
            "\n{}",
            table::table("finding", &columns, &table, look)
        );
    }
    output::print(text.as_bytes())
}

/// A network as the flags of `lowtide compare` say it.
fn flags(network: &Network) -> String {
    let (link, path) = network.sections();
    let sections = link.into_iter().chain(path).chain(network.of_flow());
    let flags = sections.map(|(key, value)| {
        let key = key.replace('_', "-");
        match value {
            toml::Value::String(value) => format!("--{key} {value}"),
            toml::Value::Boolean(_) => format!("--{key}"),
            toml::Value::Array(values) => {
                let values = values.iter().filter_map(toml::Value::as_str);
                values
                    .map(|v| format!("--{key} {v}"))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            other => format!("--{key} {other}"),
        }
    });
    flags.collect::<Vec<_>>().join(" ")
}
