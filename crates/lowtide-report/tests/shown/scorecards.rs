//! Scorecards as a page and as JUnit.

use std::fs;
use std::slice::from_ref;

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, Options};
use lowtide_lab::run::Stop;
use lowtide_lab::score::{Plan, Scorecard, Suite, Verdict, explain_all, judge};
use lowtide_report::score::{document, junit};

const CASE: &str = r#"
[case]
title = "A queue"
source = "here"
[link]
rate = "10mbit"
buffer = "4bdp"
[path]
rtt = "40ms"
[run]
duration = "5s"
[[flows]]
controller = "candidate"
"#;

/// The scorecard of [`CASE`] with these lines behind it.
fn card(more: &str, controllers: &str) -> Scorecard {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.toml"), format!("{CASE}{more}")).unwrap();
    let suite = Suite::find(folder.path().to_str().unwrap()).unwrap();
    let contenders = Contenders::default();
    let candidates = contenders.parse_all(controllers).unwrap();
    let plan = Plan::new(&suite, candidates, &contenders, None).unwrap();
    let results = experiment::run(&plan.cells, Options::default(), &|| {}).unwrap();
    judge(&suite, &plan, &results).unwrap()
}

#[test]
fn a_page_says_a_limit_once_and_who_misses_it_by_how_much() {
    let more = r#"
        [[limits]]
        metric = "largest delay, ms"
        value = "queue_delay_ms.max"
        at_most = 80
        reason = "who waits longer hangs up"
        [[limits]]
        metric = "median delay, ms"
        value = "queue_delay_ms.p50"
        at_most = "queue_delay_ms.max / 4"
        reason = "it should be seldom"
    "#;
    let mut card = card(more, "cubic:hystart=false,newreno,ebb");
    let failing = card.results.iter_mut().flat_map(|score| &mut score.cases);
    explain_all(failing.collect(), 1, 0, &Stop::default()).unwrap();
    let page = document(&[card], "lowtide score");
    assert!(page.contains("| a A queue | ✗ | ✗ | ✓ |"), "{page}");
    assert!(page.contains("| passed | 0/1 | 0/1 | 1/1 |"), "{page}");
    let limit =
        "- largest delay, ms ≤ 80.0: who waits longer hangs up\\\n  `cubic:hystart=false` 16";
    assert!(page.contains(limit), "{page}");
    let own = "- median delay, ms: it should be seldom\\\n  `cubic:hystart=false` ";
    let (_, reached) = page.split_once(own).unwrap();
    let reached = reached.lines().next().unwrap();
    for part in [" ≤ 39.9", " · `newreno` "] {
        assert!(reached.contains(part), "{reached}");
    }
    assert!(page.contains("\n- `newreno`: ") && page.contains(", seed 1: longest wait: "));
}

#[test]
fn what_neither_passes_nor_fails_is_told_from_both() {
    let more = r#"
        [[limits]]
        metric = "delay, ms"
        value = "queue_delay_ms.mean"
        at_most = 0
        reason = "so"
    "#;
    let mut card = card(more, "cubic,newreno,bbr");
    let verdicts = [Verdict::NotRun, Verdict::NotApplicable, Verdict::Undecided];
    for (score, verdict) in card.results.iter_mut().zip(verdicts) {
        score.failed = 0;
        score.not_run = usize::from(verdict == Verdict::NotRun);
        score.not_applicable = usize::from(verdict == Verdict::NotApplicable);
        score.undecided = usize::from(verdict == Verdict::Undecided);
        let case = &mut score.cases[0];
        (case.verdict, case.limits[0].verdict) = (verdict, verdict);
        case.reason = "the server ended <too soon>".to_string();
    }
    let xml = junit(from_ref(&card));
    for part in [
        r#"tests="1" failures="0" errors="1" skipped="0""#,
        r#"<error message="not run: the server ended &lt;too soon&gt;"#,
        r#"failures="0" errors="0" skipped="1""#,
        r#"<skipped message="undecided: delay, ms: "#,
    ] {
        assert!(xml.contains(part), "{part} in {xml}");
    }
    let page = document(from_ref(&card), "lowtide score");
    assert!(page.contains("| a A queue | – | · | ? |"), "{page}");
    assert!(page.contains("| passed | 0/1 | 0/0 | 0/1 |"), "{page}");
}
