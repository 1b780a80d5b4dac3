//! Scorecards as a page of Markdown.

use std::fmt::Write as _;

use super::scorecard::{CaseResult, Scorecard, short};
use super::verdict::Verdict;

/// A page of scorecards in Markdown: a matrix of each, and what fails and why.
#[must_use]
pub fn document(cards: &[Scorecard], command: &str) -> String {
    let mut page = String::from("# Scorecards\n\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "Made by `{command}`; [scoring.md](scoring.md) says how. A case passes (✓) when all of its limits \
         hold, fails (✗) when one does not; · is not applicable. Of a case that fails the number is what was \
         measured over its limit.\n"
    );
    for card in cards {
        let _ = writeln!(page, "## `{}`\n\n{}.\n", card.suite, card.about);
        let names: Vec<&str> = card.results.iter().map(|s| s.controller.as_str()).collect();
        let _ = writeln!(page, "| case | {} |", names.join(" | "));
        let _ = writeln!(page, "|---|{}", "---|".repeat(names.len()));
        let cases = card.results.first().map_or(0, |score| score.cases.len());
        for n in 0..cases {
            let row: Vec<String> = card.results.iter().map(|s| cell(&s.cases[n])).collect();
            let case = &card.results[0].cases[n];
            let _ = writeln!(page, "| {} {} | {} |", case.id, case.title, row.join(" | "));
        }
        let passed: Vec<String> = card
            .results
            .iter()
            .map(|s| format!("**{}/{}**", s.passed, s.passed + s.failed))
            .collect();
        let _ = writeln!(page, "| passed | {} |\n", passed.join(" | "));
        for n in 0..cases {
            let failing = card
                .results
                .iter()
                .filter(|s| s.cases[n].verdict == Verdict::Fail);
            let failing: Vec<_> = failing.collect();
            let Some(first) = failing.first() else {
                continue;
            };
            let case = &first.cases[n];
            let _ = writeln!(page, "**{} {}** ({})\n", case.id, case.title, case.source);
            for score in failing {
                for limit in score.cases[n].failing() {
                    let (shown, cell) = (limit.shown(), limit.in_cell());
                    let _ = writeln!(
                        page,
                        "- `{}`: {}: {shown} fails{cell}; {}",
                        score.controller, limit.metric, limit.reason
                    );
                }
                for line in &score.cases[n].explanation {
                    let _ = writeln!(page, "  {line}");
                }
            }
            page.push('\n');
        }
    }
    page
}

/// A case in the matrix.
fn cell(case: &CaseResult) -> String {
    match (case.verdict, case.value.zip(case.limit)) {
        (Verdict::Pass, _) => "✓".to_string(),
        (Verdict::NotApplicable, _) => "·".to_string(),
        (Verdict::Fail, Some((value, limit))) => format!("✗ {}/{}", short(value), short(limit)),
        (Verdict::Fail, None) => "✗".to_string(),
    }
}
