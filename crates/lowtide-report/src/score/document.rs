//! Scorecards as a page of Markdown, for many controllers: who passes what, then case by case what fails, and
//! what happened folded away, or left out where it would be the most of the page.

use std::fmt::Write as _;

use lowtide_lab::score::{CaseResult, LimitResult, Score, Scorecard, Verdict};
use lowtide_lab::visible::{code, markdown};

/// More controllers than these have no room for what happened to each.
const MANY: usize = 8;

/// A page of scorecards in Markdown: a matrix of each, what fails and why, and what happened to so few controllers that
/// it stays a page.
#[must_use]
pub fn document(cards: &[Scorecard], command: &str) -> String {
    let mut page = String::from("# Scorecards\n\n");
    let are_many = cards.iter().any(|card| card.results.len() > MANY);
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "Made by {}. A case passes (✓) when all of its limits \
         hold, fails (✗) when one does not, and is undecided (?) when the interval of a value covers its limit; – was \
         not run, · is not applicable.{}\n",
        code(command),
        if are_many {
            " `lowtide score --suite SUITE --case CASE --cc NAME` says what happened where one fails."
        } else {
            ""
        }
    );
    if cards.len() > 1 {
        overview(&mut page, cards);
    }
    for card in cards {
        let (suite, about) = (code(&card.suite), markdown(&card.about));
        let _ = writeln!(page, "## {suite}\n\n{about}.\n");
        matrix(&mut page, card);
        let cases = card.results.first().map_or(0, |score| score.cases.len());
        for n in 0..cases {
            let cases = card.results.iter().map(|score| (score, &score.cases[n]));
            let failing: Vec<(&Score, &CaseResult)> = cases
                .filter(|(_, case)| case.verdict == Verdict::Fail)
                .collect();
            failures(&mut page, &failing);
            if !are_many {
                what_happened(&mut page, &failing);
            }
        }
    }
    page
}

/// How many cases each controller passes, of those that are for it.
fn overview(page: &mut String, cards: &[Scorecard]) {
    let suites: Vec<String> = cards
        .iter()
        .map(|card| format!("[{}](#{})", code(&card.suite), markdown(&card.suite)))
        .collect();
    head(page, "cases passed", suites.iter().map(String::as_str));
    let controllers = cards.first().map_or(&[][..], |card| &card.results);
    for (n, score) in controllers.iter().enumerate() {
        let all = cards.iter().map(|card| passed(&card.results[n]));
        row(page, &code(&score.controller), all);
    }
    page.push('\n');
}

fn passed(score: &Score) -> String {
    format!("{}/{}", score.passed, score.applicable())
}

fn head<'a>(page: &mut String, first: &str, columns: impl Iterator<Item = &'a str> + Clone) {
    row(page, first, columns.clone().map(str::to_string));
    let _ = writeln!(page, "|---|{}", "---|".repeat(columns.count()));
}

fn row(page: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let _ = writeln!(page, "| {first} | {} |", cells.join(" | "));
}

fn matrix(page: &mut String, card: &Scorecard) {
    let scores = card.results.iter();
    let names: Vec<String> = scores.clone().map(|s| markdown(&s.controller)).collect();
    head(page, "case", names.iter().map(String::as_str));
    let cases = card.results.first().map_or(0, |score| score.cases.len());
    for n in 0..cases {
        let case = &card.results[0].cases[n];
        let signs = scores.clone().map(|score| match score.cases[n].verdict {
            Verdict::Pass => "✓".to_string(),
            Verdict::Fail => "✗".to_string(),
            Verdict::Undecided => "?".to_string(),
            Verdict::NotRun => "–".to_string(),
            Verdict::NotApplicable => "·".to_string(),
        });
        row(
            page,
            &markdown(&format!("{} {}", case.id, case.title)),
            signs,
        );
    }
    row(page, "passed", scores.map(passed));
    page.push('\n');
}

/// A case by those who fail it: each limit with what they reach.
fn failures(page: &mut String, failing: &[(&Score, &CaseResult)]) {
    let Some((_, case)) = failing.first() else {
        return;
    };
    let title = markdown(&format!("{} {}", case.id, case.title));
    let _ = writeln!(page, "**{title}** ({})\n", markdown(&case.source));
    let mut limits: Vec<(&LimitResult, Vec<(&Score, &LimitResult)>)> = Vec::new();
    for (score, case) in failing {
        for limit in case.failing() {
            let is_same = |known: &LimitResult| {
                (&known.metric, known.sense, &known.reason)
                    == (&limit.metric, limit.sense, &limit.reason)
            };
            match limits.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, all)) => all.push((score, limit)),
                None => limits.push((limit, vec![(score, limit)])),
            }
        }
    }
    for (limit, all) in limits {
        // One limit for all of them is said once.
        let common = limit.bound();
        let is_common = all.iter().all(|(_, one)| one.bound() == common);
        let common = if is_common {
            format!(" {} {common}", limit.sense.sign())
        } else {
            String::new()
        };
        let reached = all.iter().map(|(score, one)| {
            let shown = if is_common {
                one.measured()
            } else {
                one.shown()
            };
            let (name, cell) = (code(&score.controller), markdown(&one.in_cell()));
            format!("{name} {shown}{cell}")
        });
        let reached: Vec<String> = reached.collect();
        let (metric, reason) = (markdown(&limit.metric), markdown(&limit.reason));
        let _ = writeln!(page, "- {metric}{common}: {reason}\\");
        let _ = writeln!(page, "  {}", reached.join(" · "));
    }
    page.push('\n');
}

/// What happened to each that fails a case, folded away.
fn what_happened(page: &mut String, failing: &[(&Score, &CaseResult)]) {
    let told = failing.iter().map(|(score, case)| {
        let lines = case.explanation.iter().chain(&case.failed_runs);
        let lines: Vec<&str> = lines.map(String::as_str).collect();
        (score, lines.join("; ").replacen(":; ", ": ", 1))
    });
    let told: Vec<_> = told.filter(|(_, what)| !what.is_empty()).collect();
    if !told.is_empty() {
        page.push_str("<details><summary>what happened</summary>\n\n");
        for (score, what) in told {
            let (name, what) = (code(&score.controller), markdown(&what));
            let _ = writeln!(page, "- {name}: {what}");
        }
        page.push_str("\n</details>\n\n");
    }
}
