use std::fs;

use super::*;
use crate::contender::Contenders;
use crate::experiment::{self, CellResult, Options};
use crate::metrics::{Measured, Named};
use crate::run::{FailedRun, Run, Stop};
use crate::setting::Host;

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

/// [`CASE`] with losses and five seeds.
fn lossy() -> String {
    let case = CASE.replace("rtt = \"40ms\"", "rtt = \"40ms\"\nloss = \"1%\"");
    case.replace("duration = \"5s\"", "duration = \"5s\"\nseeds = 5")
}

/// A limit with these lines besides.
fn limit(value: &str, lines: &str) -> String {
    format!("[[limits]]\nmetric = 'x'\nvalue = \"{value}\"\nreason = 'so'\n{lines}\n")
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// A suite of one case.
fn suite(case: &str) -> Result<Suite, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.toml"), case).unwrap();
    Suite::find(folder.path().to_str().unwrap()).map_err(|e| e.to_string())
}

/// What a suite takes for these controllers.
fn plan(suite: &Suite, contenders: &Contenders, controllers: &str) -> Result<Plan, String> {
    let candidates = contenders.parse_all(controllers).unwrap();
    Plan::new(suite, candidates, contenders, None).map_err(|e| e.to_string())
}

fn run(plan: &Plan) -> Vec<CellResult> {
    experiment::run(&plan.cells, Options::default(), &|| {}).unwrap()
}

/// The scorecard of a case, for these controllers.
fn card_of(case: &str, controllers: &str) -> Result<Scorecard, String> {
    let suite = suite(case)?;
    let plan = plan(&suite, &Contenders::default(), controllers)?;
    judge(&suite, &plan, &run(&plan)).map_err(|e| e.to_string())
}

/// The scorecard of [`CASE`] with these lines behind it.
fn card(more: &str, controllers: &str) -> Result<Scorecard, String> {
    card_of(&format!("{CASE}{more}"), controllers)
}

fn verdicts(card: &Scorecard) -> Vec<Verdict> {
    let scores = card.results.iter();
    scores.map(|score| score.cases[0].verdict).collect()
}

#[test]
fn a_limit_is_judged_by_the_cell_that_is_worst_off() {
    // CUBIC fills the queue of 4 BDP, which is 160 ms; of one packet 1.2 ms. Both stay below a second.
    let more = r#"
        [sweep]
        "link.buffer" = ["1p", "4bdp"]
        [[limits]]
        metric = "largest delay, ms"
        value = "queue_delay_ms.max"
        at_most = 100
        reason = "who waits longer hangs up"
        [[limits]]
        metric = "the same"
        value = "queue_delay_ms.max"
        at_most = "1000 * 1"
        reason = "and this is long"
    "#;
    let card = card(more, "cubic").unwrap();
    assert_eq!(verdicts(&card), [Verdict::Fail]);
    let case = &card.results[0].cases[0];
    let each = [0, 1].map(|n| case.limits[n].verdict);
    assert_eq!(each, [Verdict::Fail, Verdict::Pass]);
    assert_eq!(case.limits[0].cell, "4bdp");
    let delay = case.value.unwrap();
    assert!((150.0..200.0).contains(&delay), "{delay}");
    let limit = (case.limit, case.metric.as_str());
    assert_eq!(limit, (Some(100.0), "largest delay, ms"));
    assert_eq!(card.results[0].failed, 1);
}

#[test]
fn a_mean_is_judged_by_its_whole_interval_and_each_seed_counts_where_each_must() {
    // A loss share that differs from seed to seed, held against its own mean.
    let with = |rule: &str, limit: &dyn std::fmt::Display| {
        let lines = format!("at_most = '{limit}'\nseeds = '{rule}'");
        let limit = self::limit("loss_share", &lines);
        let card = card_of(&format!("{}{limit}", lossy()), "window:packets=40").unwrap();
        card.results[0].cases[0].limits[0].clone()
    };
    let measured = with("mean", &0.0);
    // The whole interval lies above zero.
    assert_eq!(measured.verdict, Verdict::Fail);
    let (mean, half) = (measured.value.unwrap(), measured.interval.unwrap());
    let is_one_percent = (0.005..0.015).contains(&mean);
    assert!(is_one_percent && half < mean, "{mean} {half}");
    // Limits within the interval, on either side of the mean: nobody can say.
    let just_below = mean - 0.5 * half;
    for limit in [just_below, mean + 0.5 * half] {
        let undecided = with("mean", &limit);
        assert_eq!(undecided.verdict, Verdict::Undecided);
        assert!(undecided.shown().contains(", limit ≤ "), "{undecided:?}");
    }
    let beyond = mean + 2.0 * half;
    assert_eq!(with("mean", &beyond).verdict, Verdict::Pass);
    let each = with("each", &just_below);
    assert_eq!(each.verdict, Verdict::Fail);
    assert!((1..5).contains(&each.seeds_beyond.0), "{each:?}");
    assert_eq!(with("mean", &(mean - 2.0 * half)).verdict, Verdict::Fail);
    assert_eq!(with("each", &0.05).verdict, Verdict::Pass);
    // Each seed is beyond a share of itself, and only the worst beyond a share of the worst.
    let below_itself = "0.99 * loss_share";
    assert_eq!(with("each", &below_itself).seeds_beyond, (5, 5));
    assert_eq!(with("worst", &below_itself).seeds_beyond, (1, 5));
    assert_eq!(with("worst", &"loss_share").verdict, Verdict::Pass);
}

#[test]
fn what_never_happens_fails_and_what_cannot_be_asked_is_not_applicable() {
    let measure = "[measures]\nfull_s = { reached = { share = 2.0 } }\n";
    let never = format!("{measure}{}", limit("full_s", "at_most = 1000"));
    let never = card(&never, "cubic").unwrap();
    assert_eq!(verdicts(&never), [Verdict::Fail]);
    let shown = never.results[0].cases[0].limits[0].shown();
    assert!(shown.starts_with("never"), "{shown}");

    let needs = limit("utilisation", "at_least = 0.1\nneeds = [\"bbr\"]");
    let both = card(&needs, "cubic,bbr3").unwrap();
    assert_eq!(verdicts(&both), [Verdict::NotApplicable, Verdict::Pass]);
    assert!(both.results[0].cases[0].reason.contains("phases of BBR"));

    let shown = needs
        .replace("needs = [\"bbr\"]", "report = [\"cubic\"]")
        .replace("0.1", "2.0");
    let shown = card(&shown, "cubic:hystart=true,bbr3").unwrap();
    assert_eq!(verdicts(&shown), [Verdict::NotApplicable, Verdict::Fail]);
}

#[test]
fn what_others_are_held_against_is_run_once() {
    let more = r#"
        [sweep]
        "flows.0.controller" = ["candidate", "cubic", "newreno"]
        [[limits]]
        metric = "share of CUBIC's throughput"
        value = "throughput_mbps('candidate') / throughput_mbps('cubic')"
        at_least = 0.5
        reason = "so"
    "#;
    let suite = suite(&format!("{CASE}{more}")).unwrap();
    let plan = plan(&suite, &Contenders::default(), "bbr,ebb,cubic").unwrap();
    // bbr, ebb, and the two that are named; cubic as a candidate is one of these.
    assert_eq!(plan.cells.len(), 4);
    let card = judge(&suite, &plan, &run(&plan)).unwrap();
    assert_eq!(card.results[2].cases[0].value, Some(1.0));
}

#[test]
fn a_wrong_case_is_named_with_its_line() {
    let wrong = card("", "cubic").unwrap_err();
    has(&wrong, &["at least one [[limits]]", "a.toml:"]);
    let luck = "at_most = 1\nneeds = ['luck']";
    for (value, lines, problem) in [
        ("jain", "", "'at_most' or 'at_least'"),
        ("nonsense", "at_most = 1", "is called 'nonsense'"),
        ("jain(", "at_most = 1", "limits.0.value"),
        ("jain", luck, "unknown variant `luck`"),
    ] {
        let wrong = card(&limit(value, lines), "cubic").unwrap_err();
        has(&wrong, &[problem, "a.toml:"]);
    }
}

#[test]
fn a_baseline_tells_what_is_worse_from_noise() {
    let now = card(&limit("throughput_mbps", "at_least = 1"), "cubic").unwrap();
    let mut old = serde_json::to_value(&now).unwrap();
    let same = Baseline::parse(&old.to_string()).unwrap();
    assert_eq!(same[0].regressions(&now), []);
    let limit = old.pointer_mut("/results/0/cases/0/limits/0").unwrap();
    let before = limit["value"].as_f64().unwrap();
    limit["value"] = (before + 1.0).into();
    let better = Baseline::parse(&old.to_string()).unwrap();
    let worse = better[0].regressions(&now);
    assert_eq!(worse.len(), 1);
    let change = (worse[0].before, worse[0].now);
    assert_eq!(change, (Some(before + 1.0), Some(before)));
    // Within both intervals it is noise.
    old.pointer_mut("/results/0/cases/0/limits/0").unwrap()["interval"] = 1.5.into();
    let noisy = Baseline::parse(&old.to_string()).unwrap();
    assert_eq!(noisy[0].regressions(&now), []);
    assert!(Baseline::parse("[1]").is_err());
}

#[test]
fn every_built_in_case_names_cells_and_values_that_there_are() {
    let contenders = Contenders::default();
    let folder = tempfile::tempdir().unwrap();
    let mut cases = 0;
    for suite in built_in().unwrap() {
        for trace in suite.cases.iter().flat_map(|case| &case.content.traces) {
            let path = folder.path().join(trace);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let is_csv = trace.ends_with(".csv");
            let csv = "time_ms,rate_mbps\n0,1\n";
            fs::write(&path, if is_csv { csv } else { "1\n2\n" }).unwrap();
        }
        for case in &suite.cases {
            let path = case.path().display();
            assert!(!case.content.about.is_empty(), "{path}");
            let limits = case.content.limits.iter();
            for name in limits.flat_map(|limit| limit.only.iter().chain(&limit.report)) {
                assert!(contenders.parse(name).is_ok(), "{path}: {name}");
            }
        }
        let of_suite = suite.cases.len();
        for traces in [None, Some(folder.path())] {
            let candidates = contenders.parse_all("cubic,bbr3").unwrap();
            let plan = Plan::new(&suite, candidates, &contenders, traces);
            let plan = plan.unwrap_or_else(|e| panic!("{}: {e}", suite.name));
            let nothing = |cell| CellResult {
                runs: vec![Run {
                    seed: 1,
                    measured: Measured::from_named(&Named::new()),
                    details: None,
                }],
                ..CellResult::new(cell)
            };
            let results: Vec<CellResult> = plan.cells.iter().cloned().map(nothing).collect();
            let card = judge(&suite, &plan, &results);
            let card = card.unwrap_or_else(|e| panic!("{}: {e}", suite.name));
            let mut counts = card.results.iter().map(|score| score.cases.len());
            assert!(counts.all(|count| count == of_suite));
            for case in card.results.iter().flat_map(|score| &score.cases) {
                for limit in &case.limits {
                    let is_told = !limit.reason.is_empty() && !limit.source.is_empty();
                    assert!(is_told, "{} {}", suite.name, case.id);
                }
            }
        }
        cases += of_suite;
    }
    assert!(cases > 0);
}

#[test]
fn recorded_links_are_cases_besides_a_files_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recorded"), "1\n2\n").unwrap();
    let cells = |own: &str, traces: Option<&std::path::Path>| {
        let limit = limit("jain", "at_least = 0");
        let text = format!("traces = ['recorded']\n{CASE}{own}{limit}");
        let suite = suite(&text).unwrap();
        let contenders = Contenders::default();
        let candidates = contenders.parse_all("cubic").unwrap();
        let plan = Plan::new(&suite, candidates, &contenders, traces).unwrap();
        let cells = plan.jobs[0].cells.clone();
        cells.map(|cells| {
            let names = cells.iter().map(|(cell, _)| cell.name());
            names.collect::<Vec<_>>().join(" ")
        })
    };
    let own = "[[cases]]\nname = 'mine'\nset = {}\n";
    let found = Some(folder.path());
    assert_eq!(cells(own, found), Ok("mine recorded".to_string()));
    assert_eq!(cells(own, None), Ok("mine".to_string()));
    assert_eq!(cells("", found), Ok("recorded".to_string()));
    assert!(cells("", None).unwrap_err().contains("--traces"));
}

#[test]
fn what_has_no_room_is_not_applicable_and_what_did_not_start_or_was_late_is_not_run() {
    let more = r#"
        [sweep]
        "flows.0.controller" = ["candidate", "newreno"]
        [[limits]]
        metric = "share of NewReno's throughput"
        value = "throughput_mbps('candidate') / throughput_mbps('newreno')"
        at_least = 2
        reason = "so"
    "#;
    let suite = suite(&format!("{CASE}{more}")).unwrap();
    let contenders = Contenders::default().with_program("kernel/cubic");
    let mut plan = plan(&suite, &contenders, "kernel/cubic,bbr,cubic").unwrap();
    assert_eq!(plan.cells.len(), 4);
    plan.leave_out(|cell| {
        let is_bbr = cell.setting.groups[0].contender.name() == "bbr";
        is_bbr.then(|| "no room".to_string())
    });
    assert_eq!(plan.cells.len(), 3);
    let mut results = run(&plan);
    // A program is not simulated, and what stands for it is not its own.
    has(&results[0].failed[0].reason, &["over real packets only"]);
    let reason = |card: &Scorecard, n: usize| card.results[n].cases[0].reason.clone();
    let card = judge(&suite, &plan, &results).unwrap();
    let expected = [Verdict::Fail, Verdict::NotApplicable, Verdict::Fail];
    assert_eq!(verdicts(&card), expected);
    assert_eq!(reason(&card, 1), "no room");
    let late = results[0].failed.remove(0);
    results[2].unfaithful.push(FailedRun {
        reason: "2 % late".to_string(),
        ..late
    });
    let mut no_start = results[2].unfaithful[0].clone();
    no_start.reason = "the server ended too soon".to_string();
    results[0].not_run.push(no_start);
    let card = judge(&suite, &plan, &results).unwrap();
    let expected = [Verdict::NotRun, Verdict::NotApplicable, Verdict::NotRun];
    assert_eq!(verdicts(&card), expected);
    assert!(reason(&card, 0).starts_with("the server ended too soon"));
    assert!(reason(&card, 2).starts_with("not faithful: 2 % late"));
    let score = &card.results[0];
    assert_eq!((score.failed, score.not_run), (0, 1));
    assert_eq!(score.counts(), "0 passed, 0 failed, 1 not run");
    let case = &score.cases[0];
    assert_eq!(case.limits[0].verdict, Verdict::NotRun);
    assert_eq!((case.value, case.failing().count()), (None, 0));

    // No value has become worse.
    let mut old = serde_json::to_value(&card).unwrap();
    old.pointer_mut("/results/0/cases/0").unwrap()["verdict"] = "pass".into();
    old.pointer_mut("/results/0/cases/0/limits/0").unwrap()["value"] = 3.0.into();
    let old = Baseline::parse(&old.to_string()).unwrap();
    assert_eq!(old[0].regressions(&card), []);
}

#[test]
fn an_undecided_case_is_neither_a_pass_nor_a_failure_anywhere() {
    let with = |most: &str| {
        let limit = limit("loss_share", &format!("at_most = \"{most}\""));
        card_of(&format!("{}{limit}", lossy()), "window:packets=40").unwrap()
    };
    let mean = with("0").results[0].cases[0].value.unwrap();
    let card = with(&mean.to_string());
    let score = &card.results[0];
    let counts = (score.passed, score.failed, score.undecided);
    assert_eq!(counts, (0, 0, 1), "{card:?}");
    assert_eq!(score.counts(), "0 passed, 0 failed, 1 undecided");
    let json = serde_json::to_value(&card).unwrap();
    let case = &json["results"][0]["cases"][0];
    assert_eq!(case["verdict"], "undecided");
    // What was decided once and is not any more is noise, unless it has moved by more than that.
    let mut old = json.clone();
    old.pointer_mut("/results/0/cases/0").unwrap()["verdict"] = "pass".into();
    let old = Baseline::parse(&old.to_string()).unwrap();
    assert_eq!(old[0].regressions(&card), []);
}

#[test]
fn what_is_stopped_is_not_run() {
    struct Stopped(Stop);
    impl crate::run::Watch for Stopped {
        fn on_run(&self) {}
        fn stop(&self) -> Stop {
            self.0.clone()
        }
    }
    let limit = limit("jain", "at_least = 0");
    let suite = suite(&format!("{CASE}{limit}")).unwrap();
    let plan = plan(&suite, &Contenders::default(), "cubic").unwrap();
    let stop = Stop::new();
    stop.utter();
    let results = experiment::run(&plan.cells, Options::default(), &Stopped(stop)).unwrap();
    let card = judge(&suite, &plan, &results).unwrap();
    assert_eq!(verdicts(&card), [Verdict::NotRun]);
}

#[test]
fn a_link_that_no_application_wants_to_fill_is_not_called_idle() {
    let explained = |flow: &str, controller: &str| {
        let limit = limit("queue_delay_ms.max", "at_most = -1");
        let mut card = card_of(&format!("{CASE}{flow}{limit}"), controller).unwrap();
        let failing = card.results.iter_mut().flat_map(|score| &mut score.cases);
        explain_all(failing.collect(), 1, 0, &Stop::default()).unwrap();
        card.results[0].cases[0].explanation.join("\n")
    };
    let idle = "less than half of the link was used";
    let slow = explained("", "window:packets=5");
    assert!(slow.contains(idle), "{slow}");
    for source in ["video:1mbit", "1mbit", "onoff:2mbit:1s:1s"] {
        let text = explained(&format!("source = \"{source}\"\n"), "cubic");
        assert!(text.contains("longest wait"), "{source}: {text}");
        assert!(!text.contains(idle), "{source}: {text}");
    }
}

#[test]
fn a_stacks_own_controller_brings_its_host() {
    let contenders = Contenders::default();
    let host = |controllers: &str, asked| {
        let candidates = contenders.parse_all(controllers).unwrap();
        host_of(&candidates, asked).map_err(|e| e.to_string())
    };
    assert_eq!(host("ebb", None), Ok(None));
    assert_eq!(host("ebb", Some(Host::Model)), Ok(Some(Host::Model)));
    for stock in crate::contender::stock() {
        let home = host(stock.name, None).unwrap().unwrap();
        assert!(home.stock().contains(stock), "{}", stock.name);
        let wrong = host(stock.name, Some(Host::Model)).unwrap_err();
        assert!(wrong.contains("use --host"), "{wrong}");
    }
}

#[test]
fn a_part_has_a_suites_own_cases_with_fewer_seeds() {
    let all = built_in().unwrap();
    let parts = all.iter().filter(|suite| suite.name.contains(':'));
    let parts: Vec<&Suite> = parts.collect();
    assert!(!parts.is_empty());
    for part in parts {
        let (of, _) = part.name.split_once(':').unwrap();
        let whole = all.iter().find(|suite| suite.name == of).unwrap();
        assert!(part.cases.len() < whole.cases.len());
        let contenders = Contenders::default();
        let runs = |suite: &Suite| plan(suite, &contenders, "ebb").unwrap().cells;
        let seeds = |suite| {
            let cells = runs(suite);
            cells.iter().map(|c| c.setting.seeds.count).max().unwrap()
        };
        assert!(seeds(part) < seeds(whole));
    }
}
