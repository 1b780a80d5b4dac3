//! What came of a survey: a table of findings, and how bad each of the controllers is on each of them.

use std::fmt::Write as _;
use std::path::Path;

use lowtide_attack::json::JsonSurvey;
use lowtide_attack::survey::Survey;
use lowtide_lab::contender::Contender;
use lowtide_lab::run::Stop;
use lowtide_lab::score::{Verdict, explain_all};
use lowtide_report::score::{MAX_OVER_TIME, write_report};

use crate::failure::Failure;
use crate::flags::JsonFlag;
use crate::output;
use crate::table::{self, Column, Look};

pub(super) fn show(json: &JsonFlag, survey: &Survey) -> Result<(), Failure> {
    json.put(&JsonSurvey::new(survey))?;
    if json.is_printed() {
        return Ok(());
    }
    let (mut text, mut rows) = (String::new(), Vec::new());
    for search in survey.searches() {
        let goal = search.subject.goal;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}, {}: worst {:.2} of {} networks (limit {:.2})",
            search.subject.candidate.name(),
            goal.name(),
            search.outcome.worst,
            search.outcome.tried,
            goal.limit()
        );
        for case in &search.cases {
            let (n, score, flags) = (case.number, case.finding.score, case.network().flags());
            let _ = writeln!(text, "  {n}. {score:.2} {flags}");
            if !case.finding.reason.is_empty() {
                let _ = writeln!(text, "     {}", case.finding.reason);
            }
            let scores = survey.scores_on(case);
            let cells = scores.map(|(_, s)| s.map_or("-".to_string(), |s| format!("{s:.2}")));
            rows.push((case.id(), cells.collect()));
        }
    }
    let names = survey.cards.first().map_or(&[][..], |card| &card.results);
    let names = names.iter().map(|score| score.controller.as_str());
    let columns: Vec<Column<'_>> = names.map(|head| (head, 0)).collect();
    if columns.len() > 1 && !rows.is_empty() {
        let look = Look::of_output(false);
        let table = table::table("finding", &columns, rows, look);
        let _ = write!(text, "\n{table}");
    }
    output::print(text.as_bytes())
}

/// Writes a page of each finding on each controller: values, what happened where the limit is broken, scenarios.
pub(super) fn report(survey: &mut Survey, jobs: usize, folder: &Path) -> Result<(), Failure> {
    let scores = survey.cards.iter_mut().flat_map(|card| &mut card.results);
    let cases = scores.flat_map(|score| &mut score.cases);
    let failing = cases.filter(|case| case.verdict == Verdict::Fail);
    let stop = Stop::default();
    explain_all(failing.collect(), jobs, MAX_OVER_TIME, &stop).map_err(Failure::run)?;
    let question = &survey.question;
    let names = question.controllers().into_iter().map(Contender::name);
    let title = format!("Worst networks, {}", question.world.name);
    let command = format!(
        "lowtide attack --cc {} --world {} --method {} --seed {}",
        names.collect::<Vec<_>>().join(","),
        question.world.name,
        question.method.name(),
        question.seed
    );
    let path = folder.join("index.html");
    write_report(&survey.cards, &title, &command, folder).map_err(output::unwritable(&path))?;
    output::say(format_args!("report: {}", path.display()));
    Ok(())
}
