//! Does the suite `bbr-draft` find faults? BBRv3 with one thing wrong, and the case that should say so: a
//! limit of it must fail that holds for BBRv3 itself. `cargo test -p lowtide-lab --test kit_finds_faults -- --nocapture`
//! prints which case finds which.

mod faulty;

use std::collections::{BTreeMap, BTreeSet};

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, Options as RunOptions};
use lowtide_lab::score::{self, Plan, Suite, Verdict};

use crate::faulty::{ENTRIES, FAULTS};

/// The limits that fail in these cases, by controller and case.
fn failing(
    controllers: &[&str],
    cases: &BTreeSet<&str>,
    contenders: &Contenders,
) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut suite = Suite::find("bbr-draft").unwrap();
    let ids: Vec<String> = cases.iter().map(|id| (*id).to_string()).collect();
    suite.keep(&ids).unwrap();
    for case in &mut suite.cases {
        case.set_seeds(1);
    }
    let candidates = controllers
        .iter()
        .map(|name| contenders.parse(name).unwrap());
    let plan = Plan::new(&suite, candidates.collect(), contenders, None).unwrap();
    let results = experiment::run(&plan.cells, RunOptions::default(), &|| {}).unwrap();
    let card = score::judge(&suite, &plan, &results).unwrap();
    let mut found = BTreeMap::new();
    for score in &card.results {
        for case in &score.cases {
            let failing = case.limits.iter().filter(|l| l.verdict == Verdict::Fail);
            let key = (score.controller.clone(), case.id.clone());
            found.insert(key, failing.map(|l| l.metric.clone()).collect());
        }
    }
    found
}

/// Faults that the draft's examples do not show: on none of their paths does the round trip become longer,
/// and none has losses between one and two times the threshold in many places of a round.
const NOT_FOUND: &[&str] = &["min-rtt-stays", "loss-twice"];

#[test]
fn the_case_that_should_find_a_fault_finds_it() {
    let contenders = ENTRIES
        .iter()
        .fold(Contenders::default(), |all, entry| all.with(entry).unwrap());
    let cases: BTreeSet<&str> = FAULTS.iter().map(|(_, case, _)| *case).collect();
    let sound = failing(&["bbr3"], &cases, &contenders);
    let mut missed = Vec::new();
    for (name, case, about) in FAULTS {
        let found = failing(&[name], &BTreeSet::from([*case]), &contenders);
        let of = |all: &BTreeMap<_, BTreeSet<String>>, who: &str| {
            let key = (who.to_string(), (*case).to_string());
            all.get(&key).cloned().unwrap_or_default()
        };
        let by = &of(&found, name) - &of(&sound, "bbr3");
        println!("{about}: {case} fails in {by:?}");
        if by.is_empty() {
            missed.push(*name);
        }
    }
    assert_eq!(missed, NOT_FOUND);
}
