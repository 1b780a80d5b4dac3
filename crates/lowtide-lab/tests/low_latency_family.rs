//! What the papers of the family promise, on whole links.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate};
use lowtide_lab::compare::{Comparison, Contender, Host, Plan, compare};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::scenario::{LinkSource, Scenario, built_in};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::queue::QueueLimit;

fn run(scenario: &Scenario, names: &[&str]) -> Comparison {
    let contenders: Vec<Contender> = names.iter().map(|n| Contender::parse(n).unwrap()).collect();
    let plan = Plan {
        host: Host::default(),
        seeds: 1,
        first_seed: 1,
        jobs: 2,
        timelines: false,
    };
    compare(scenario, &contenders, &plan, &|| ()).unwrap()
}

fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a Metrics {
    let entry = comparison.entries.iter().find(|e| e.name == name);
    &entry.unwrap().mean
}

fn constant(mbps: u64) -> Scenario {
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    Scenario::on_link("constant", LinkSource::Fixed(Arc::new(link)))
}

/// RBBR (§V-A): at most 30 % less throughput. BBR-S (§V): 40 % less mean RTT, 60 % less at the tail.
fn holds_the_papers_claims(result: &Comparison) {
    let bbr = of(result, "bbr");
    for name in ["rbbr", "bbr-s"] {
        let m = of(result, name);
        assert!(
            m.throughput_mbps > 0.69 * bbr.throughput_mbps,
            "{name} {m:?}"
        );
        assert!(m.rtt_ms.mean < 0.6 * bbr.rtt_ms.mean, "{name} {m:?}");
        assert!(m.rtt_ms.p95 < 0.5 * bbr.rtt_ms.p95, "{name} {m:?}");
    }
    // RTT-gain: about half of the queue.
    let rtt_gain = of(result, "rtt-gain");
    assert!(rtt_gain.rtt_ms.mean < 0.5 * bbr.rtt_ms.mean, "{rtt_gain:?}");
    assert!(rtt_gain.throughput_mbps > 0.75 * bbr.throughput_mbps);
}

const FAMILY: [&str; 4] = ["bbr", "rbbr", "bbr-s", "rtt-gain"];

#[test]
fn on_a_generated_4g_link_the_filters_halve_the_delay() {
    let scenario = built_in()
        .iter()
        .find(|b| b.name == "4g")
        .unwrap()
        .scenario();
    holds_the_papers_claims(&run(&scenario, &FAMILY));
}

#[test]
fn on_a_real_lte_link_the_filters_halve_the_delay() {
    let traces = std::env::var_os("LOWTIDE_TRACES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
        PathBuf::from,
    );
    let trace = traces.join("mahimahi/Verizon-LTE-short.down");
    if !trace.exists() {
        eprintln!(
            "skipped: no {}; set LOWTIDE_TRACES to the folder of traces",
            trace.display()
        );
        return;
    }
    let link = lowtide_sim::trace::load(&trace, MAHIMAHI_OPPORTUNITY).unwrap();
    let mut scenario = Scenario::on_link("verizon", LinkSource::Fixed(Arc::new(link)));
    scenario.duration = Duration::from_secs(60);
    holds_the_papers_claims(&run(&scenario, &FAMILY));
}

#[test]
fn on_a_constant_link_the_family_loses_nothing_against_bbr() {
    let names = [
        "bbr",
        "bbr-noagg",
        "rbbr",
        "rtt-gain",
        "bbr-acd",
        "bbr-s",
        "ebcc",
        "bbrx",
    ];
    let result = run(&constant(20), &names);
    let bbr = of(&result, "bbr");
    for name in &names[1..] {
        let m = of(&result, name);
        assert!(
            m.throughput_mbps > 0.98 * bbr.throughput_mbps,
            "{name} {m:?}"
        );
        assert!(m.rtt_ms.mean < 1.1 * bbr.rtt_ms.mean, "{name} {m:?}");
    }
}

#[test]
fn lost_acknowledgments_take_feedback_with_them_and_cost_rbbr_nothing() {
    let mut scenario = constant(20);
    let throughput = |s: &Scenario| of(&run(s, &["rbbr"]), "rbbr").throughput_mbps;
    let without = throughput(&scenario);
    scenario.ack_loss = LossModel::Random(0.3);
    let with = throughput(&scenario);
    assert!(with > 0.97 * without, "{with} after {without} Mbit/s");
}

#[test]
fn unsteady_acknowledgments_do_not_mislead_the_receivers_estimate() {
    // The sender's samples come in bunches of 20 ms, the receiver's do not.
    let mut scenario = constant(20);
    scenario.aggregation = Some(lowtide_sim::impairment::Aggregation {
        period: Duration::from_millis(20),
    });
    let result = run(&scenario, &["bbr", "rbbr"]);
    let (bbr, rbbr) = (of(&result, "bbr"), of(&result, "rbbr"));
    assert!(rbbr.throughput_mbps > 0.9 * bbr.throughput_mbps, "{rbbr:?}");
    assert!(rbbr.rtt_ms.p95 < bbr.rtt_ms.p95, "{rbbr:?}");
}

#[test]
fn in_a_shared_shallow_buffer_bbr_acd_loses_half_of_what_bbr_loses() {
    // Mahmud et al., testbed scenario 3: ten TCP flows on 10 Mbit/s, 100 packets of buffer.
    let mut scenario = constant(10);
    scenario.transport = lowtide_sim::transport::TransportConfig::tcp();
    scenario.rtt = Duration::from_millis(20);
    scenario.buffer = QueueLimit::Packets(100);
    scenario.flows = 10;
    scenario.stagger = Duration::from_secs(1);
    scenario.duration = Duration::from_secs(60);
    let result = run(&scenario, &["bbr", "bbr-acd"]);
    let (bbr, acd) = (of(&result, "bbr"), of(&result, "bbr-acd"));
    assert!(
        acd.retransmitted_share < 0.7 * bbr.retransmitted_share,
        "{acd:?}"
    );
    assert!(acd.goodput_mbps > 0.97 * bbr.goodput_mbps, "{acd:?}");
}
