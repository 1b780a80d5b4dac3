//! Scorecards as JUnit XML, which most CI systems show.

use std::fmt::Write as _;

use lowtide_lab::score::{CaseResult, LimitResult, Scorecard, Verdict};
use lowtide_lab::visible::xml as escaped;

/// All scorecards as one file: a test suite for each suite and controller, a test case for each case.
#[must_use]
pub fn junit(cards: &[Scorecard]) -> String {
    // Writing to a string cannot fail.
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for card in cards {
        for score in &card.results {
            let name = escaped(&format!("{}.{}", card.suite, score.controller));
            let _ = writeln!(
                xml,
                "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
                score.cases.len(),
                score.failed,
                score.not_run,
                score.undecided + score.not_applicable
            );
            for case in &score.cases {
                let title = escaped(&format!("{} {}", case.id, case.title));
                let _ = writeln!(xml, "    <testcase classname=\"{name}\" name=\"{title}\">");
                match case.verdict {
                    Verdict::Pass => {}
                    Verdict::Undecided => {
                        let limits: Vec<String> = case.with(Verdict::Undecided).map(said).collect();
                        let why = escaped(&limits.join("; "));
                        let _ = writeln!(xml, "      <skipped message=\"undecided: {why}\"/>");
                    }
                    // What JUnit calls an error is a test that could not be made.
                    Verdict::NotRun => {
                        let why = escaped(&case.reason);
                        let _ = writeln!(xml, "      <error message=\"not run: {why}\"/>");
                    }
                    Verdict::NotApplicable => {
                        let why = escaped(&case.reason);
                        let _ = writeln!(xml, "      <skipped message=\"{why}\"/>");
                    }
                    Verdict::Fail => {
                        let (first, all) = failure(case);
                        let (first, all) = (escaped(&first), escaped(&all));
                        let _ = writeln!(xml, "      <failure message=\"{first}\">{all}</failure>");
                    }
                }
                xml.push_str("    </testcase>\n");
            }
            xml.push_str("  </testsuite>\n");
        }
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// A limit and what was measured.
fn said(limit: &LimitResult) -> String {
    format!("{}: {}", limit.metric, limit.shown())
}

/// The first limit that fails, and all that is to be said.
fn failure(case: &CaseResult) -> (String, String) {
    let mut lines: Vec<String> = case.failing().map(said).collect();
    lines.extend(case.explanation.iter().cloned());
    lines.extend(case.failed_runs.iter().cloned());
    let first = lines.first().cloned().unwrap_or_default();
    (first, lines.join("\n"))
}
