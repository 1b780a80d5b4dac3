//! Scorecards for a terminal.

use std::fmt::Write as _;

use lowtide_lab::score::{CaseResult, Score, Scorecard, Verdict};

use crate::table::{self, Column, Look};

/// A scorecard: the matrix where there are several controllers, then what fails and why.
pub(super) fn of(card: &Scorecard) -> String {
    let mut text = format!("{}: {}\n\n", card.suite, card.about);
    let columns = card.results.iter().map(|s| (s.controller.as_str(), 0));
    let columns: Vec<Column<'_>> = columns.collect();
    let cases = card.results.first().map_or(0, |score| score.cases.len());
    let rows = (0..cases).map(|n| {
        let case = &card.results[0].cases[n];
        let cells = card.results.iter().map(|score| cell(&score.cases[n]));
        (format!("{} {}", case.id, case.title), cells.collect())
    });
    text += &table::table("case", &columns, rows, Look::of_output(false));
    text.push('\n');
    for score in &card.results {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", score.controller, score.counts());
        details(&mut text, score);
        text.push('\n');
    }
    text
}

/// Each case that does not pass, and why.
fn details(text: &mut String, score: &Score) {
    for case in &score.cases {
        let (id, title, source, reason) = (&case.id, &case.title, &case.source, &case.reason);
        // Writing to a string cannot fail.
        let _ = match case.verdict {
            Verdict::Pass => continue,
            Verdict::NotApplicable => writeln!(text, "  n/a   {id} {title}: {reason}"),
            Verdict::NotRun => writeln!(text, "  not run  {id} {title}: {reason}"),
            Verdict::Undecided => writeln!(text, "  undecided  {id} {title} ({source})"),
            Verdict::Fail => writeln!(text, "  FAIL  {id} {title} ({source})"),
        };
        if case.verdict == Verdict::Undecided {
            for limit in case.with(Verdict::Undecided) {
                let (metric, shown, cell) = (&limit.metric, limit.shown(), limit.in_cell());
                let _ = writeln!(text, "        {metric}: {shown}{cell}");
            }
        }
        if case.verdict == Verdict::Fail {
            for limit in case.failing() {
                let (metric, shown, cell) = (&limit.metric, limit.shown(), limit.in_cell());
                let _ = writeln!(text, "        {metric}: {shown} does not hold{cell}");
                let _ = writeln!(text, "          because {}", limit.reason);
            }
            for line in case.explanation.iter().chain(&case.failed_runs) {
                let _ = writeln!(text, "        {line}");
            }
        }
    }
}

/// A case in the matrix: its verdict, and the value that decides.
fn cell(case: &CaseResult) -> String {
    let value = case
        .deciding()
        .map_or_else(String::new, |limit| format!(" {}", limit.shown()));
    match case.verdict {
        Verdict::Pass => format!("pass{value}"),
        Verdict::Fail => format!("FAIL{value}"),
        Verdict::Undecided => format!("undecided{value}"),
        Verdict::NotRun => "not run".to_string(),
        Verdict::NotApplicable => "n/a".to_string(),
    }
}
