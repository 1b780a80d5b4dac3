//! Links and comparisons that several tests need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::Rate;
use lowtide_lab::compare::{self, Comparison, Contender, Host, Plan};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::scenario::{LinkSource, Scenario, built_in};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};

/// A link of constant rate.
pub(crate) fn constant(mbps: u64) -> Scenario {
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    Scenario::on_link("constant", LinkSource::Fixed(Arc::new(link)))
}

/// One of the built-in scenarios.
pub(crate) fn named(name: &str) -> Scenario {
    let built_in = built_in().iter().find(|b| b.name == name);
    built_in.unwrap().scenario()
}

/// A recorded LTE link of 5.03 Mbit/s, where there is one; otherwise says that the test is skipped.
pub(crate) fn recorded() -> Option<Scenario> {
    let traces = std::env::var_os("LOWTIDE_TRACES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
        PathBuf::from,
    );
    let trace = traces.join("mahimahi/Verizon-LTE-short.down");
    if !trace.exists() {
        println!(
            "skipped: no {}; set LOWTIDE_TRACES to the folder of traces",
            trace.display()
        );
        return None;
    }
    let link = lowtide_sim::trace::load(&trace, MAHIMAHI_OPPORTUNITY).unwrap();
    assert!((link.mean_rate().as_mbps() - 5.03).abs() < 0.02);
    let link = LinkSource::Fixed(Arc::new(link));
    Some(Scenario::on_link("Verizon", link))
}

/// Controllers side by side, one seed.
pub(crate) fn compare(scenario: &Scenario, names: &[&str]) -> Comparison {
    compare_seeds(scenario, names, 1, 0)
}

/// Controllers side by side on so many threads; 0: one for each core.
pub(crate) fn compare_seeds(
    scenario: &Scenario,
    names: &[&str],
    seeds: u64,
    jobs: usize,
) -> Comparison {
    let contenders: Vec<Contender> = names.iter().map(|n| Contender::parse(n).unwrap()).collect();
    let plan = Plan {
        host: Host::default(),
        seeds,
        first_seed: 1,
        jobs,
        timelines: false,
    };
    compare::compare(scenario, &contenders, &plan, &|| ()).unwrap()
}

/// A controller's means.
pub(crate) fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a Metrics {
    let entry = comparison.entries.iter().find(|e| e.name == name);
    &entry.unwrap().mean
}
