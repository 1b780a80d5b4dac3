//! What came of a survey: a table of findings, and how bad each of the controllers is on each of them.

use std::fmt::Write as _;

use lowtide_attack::json::JsonSurvey;
use lowtide_attack::survey::Survey;

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
            let scores = survey.scores_on(case);
            let cells = scores.map(|(_, s)| s.map_or("-".to_string(), |s| format!("{s:.2}")));
            rows.push((case.id(), cells.collect()));
        }
    }
    let names = survey.transfer.iter().flat_map(|t| &t.controllers);
    let columns: Vec<Column<'_>> = names.map(|head| (head.as_str(), 0)).collect();
    if columns.len() > 1 && !rows.is_empty() {
        let look = Look::of_output(false);
        let table = table::table("finding", &columns, rows, look);
        let _ = write!(text, "\n{table}");
    }
    output::print(text.as_bytes())
}
