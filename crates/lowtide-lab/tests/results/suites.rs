//! Built-in suites: that every case can be run and judged, without running them.

use lowtide_cc::registry;
use lowtide_cc::units::Duration;
use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::CellResult;
use lowtide_lab::run::{Keep, Run, run};
use lowtide_lab::score::{Plan, Verdict, built_in, judge};

/// One that has the phases of BBR, one that is ECN-capable, one of neither kind.
const CANDIDATES: &str = "bbr3,cubic,copa";

#[test]
fn every_case_of_the_built_in_suites_can_be_judged_and_every_limit_has_its_reason() {
    let contenders = Contenders::default();
    for suite in built_in().unwrap() {
        let candidates = contenders.parse_all(CANDIDATES).unwrap();
        let plan = Plan::new(&suite, candidates, &contenders, None).unwrap();
        // Any values do: what is asked is whether all that limits name exists, and goes together.
        let mut any = plan.cells[0].setting.clone();
        any.duration = Duration::from_millis(200);
        any.measures.clear();
        (any.trigger, any.measure_from) = (None, lowtide_cc::units::Time::ZERO);
        let measured = run(&any, 1, Keep::Metrics).unwrap().measured;
        let results: Vec<CellResult> = plan
            .cells
            .iter()
            .map(|cell| CellResult {
                cell: cell.clone(),
                runs: vec![Run {
                    seed: 1,
                    measured: measured.clone(),
                    details: None,
                }],
                failed: Vec::new(),
                unfaithful: Vec::new(),
            })
            .collect();
        let card = judge(&suite, &plan, &results).unwrap();
        for score in &card.results {
            for case in &score.cases {
                let name = format!("{}, {}, {}", suite.name, case.id, score.controller);
                assert!(!case.title.is_empty() && !case.source.is_empty(), "{name}");
                assert!(!case.reason.is_empty(), "{name}");
                for limit in &case.limits {
                    let at = format!("{name}, {}", limit.metric);
                    assert!(!limit.metric.is_empty() && limit.reason.len() > 10, "{at}");
                    let counts = limit.verdict != Verdict::NotApplicable;
                    assert!(!counts || limit.seeds_beyond.1 > 0, "{at}: of no cell");
                }
            }
        }
        for case in &suite.cases {
            assert!(!case.content.about.is_empty(), "{}", case.path().display());
            for limit in &case.content.limits {
                for name in limit.only.iter().chain(&limit.report) {
                    let known = registry::parse(name).is_ok();
                    assert!(known, "{}: {name}", case.path().display());
                }
            }
        }
    }
}
