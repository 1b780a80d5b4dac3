//! What the papers of the family promise, on whole links.

use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::compare::Comparison;
use lowtide_lab::setting::{LinkSource, Setting};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

use crate::setting::{compare, constant, named, of, recorded};

/// RBBR (§V-A): at most 30 % less throughput. BBR-S (§V): 40 % less mean RTT, 60 % less at the tail.
fn holds_the_papers_claims(result: &Comparison) {
    let bbr = of(result, "bbr");
    for name in ["rbbr", "bbr-s"] {
        let m = of(result, name);
        assert!(
            m["throughput_mbps"] > 0.69 * bbr["throughput_mbps"],
            "{name} {m:?}"
        );
        assert!(m["rtt_ms.mean"] < 0.6 * bbr["rtt_ms.mean"], "{name} {m:?}");
        assert!(m["rtt_ms.p95"] < 0.5 * bbr["rtt_ms.p95"], "{name} {m:?}");
    }
    // RTT-gain: about half of the queue.
    let rtt_gain = of(result, "rtt-gain");
    assert!(
        rtt_gain["rtt_ms.mean"] < 0.5 * bbr["rtt_ms.mean"],
        "{rtt_gain:?}"
    );
    assert!(rtt_gain["throughput_mbps"] > 0.75 * bbr["throughput_mbps"]);
}

const FAMILY: [&str; 4] = ["bbr", "rbbr", "bbr-s", "rtt-gain"];

#[test]
fn on_a_generated_4g_link_the_filters_halve_the_delay() {
    holds_the_papers_claims(&compare(&named("4g"), &FAMILY));
}

#[test]
fn on_a_real_lte_link_the_filters_halve_the_delay() {
    let Some(mut setting) = recorded() else {
        return;
    };
    setting.duration = Duration::from_secs(60);
    holds_the_papers_claims(&compare(&setting, &FAMILY));
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
    let result = compare(&constant(20), &names);
    let bbr = of(&result, "bbr");
    for name in &names[1..] {
        let m = of(&result, name);
        assert!(
            m["throughput_mbps"] > 0.98 * bbr["throughput_mbps"],
            "{name} {m:?}"
        );
        assert!(m["rtt_ms.mean"] < 1.1 * bbr["rtt_ms.mean"], "{name} {m:?}");
    }
}

#[test]
fn lost_acknowledgments_take_feedback_with_them_and_cost_rbbr_nothing() {
    let mut setting = constant(20);
    let throughput = |s: &Setting| of(&compare(s, &["rbbr"]), "rbbr")["throughput_mbps"];
    let without = throughput(&setting);
    setting.back.loss = LossModel::Random(0.3);
    let with = throughput(&setting);
    assert!(with > 0.97 * without, "{with} after {without} Mbit/s");
}

#[test]
fn unsteady_acknowledgments_do_not_mislead_the_receivers_estimate() {
    // The sender's samples come in bunches of 20 ms, the receiver's do not.
    let mut setting = constant(20);
    setting.back.aggregation = Some(lowtide_sim::impairment::Aggregation::every(
        Duration::from_millis(20),
    ));
    let result = compare(&setting, &["bbr", "rbbr"]);
    let (bbr, rbbr) = (of(&result, "bbr"), of(&result, "rbbr"));
    assert!(
        rbbr["throughput_mbps"] > 0.9 * bbr["throughput_mbps"],
        "{rbbr:?}"
    );
    assert!(rbbr["rtt_ms.p95"] < bbr["rtt_ms.p95"], "{rbbr:?}");
}

#[test]
fn random_loss_is_not_taken_for_a_slower_link_by_rbbrs_receiver() {
    // Each loss opens a recovery, whose first round sends what was delivered and no more.
    let mut setting = constant(20);
    setting.forward.buffer = QueueLimit::Bdp(4.0);
    setting.forward.loss = LossModel::Random(0.03);
    let lossy = compare(&setting, &["bbr-noagg", "rbbr"]);
    setting.forward.loss = LossModel::Random(0.005);
    setting.back.aggregation = Some(lowtide_sim::impairment::Aggregation::every(
        Duration::from_millis(25),
    ));
    let unsteady = compare(&setting, &["bbr-noagg", "rbbr"]);
    for result in [lossy, unsteady] {
        let (bbr, rbbr) = (of(&result, "bbr-noagg"), of(&result, "rbbr"));
        assert!(
            rbbr["throughput_mbps"] > 0.8 * bbr["throughput_mbps"],
            "{rbbr:?} {bbr:?}"
        );
    }
}

#[test]
fn in_a_shared_shallow_buffer_bbr_acd_loses_half_of_what_bbr_loses() {
    // Mahmud et al., testbed scenario 3: ten TCP flows on 10 Mbit/s, 100 packets of buffer.
    let mut setting = constant(10);
    setting = setting.with_rtt(Duration::from_millis(20));
    setting.forward.buffer = QueueLimit::Packets(100);
    setting.groups[0].every = Duration::from_secs(1);
    setting.duration = Duration::from_secs(60);
    let tcp = lowtide_sim::transport::TransportConfig::tcp();
    let setting = setting.over(tcp).with_flows(10);
    let result = compare(&setting, &["bbr", "bbr-acd"]);
    let (bbr, acd) = (of(&result, "bbr"), of(&result, "bbr-acd"));
    assert!(
        acd["retransmitted_share"] < 0.7 * bbr["retransmitted_share"],
        "{acd:?}"
    );
    assert!(acd["goodput_mbps"] > 0.97 * bbr["goodput_mbps"], "{acd:?}");
}

#[test]
fn bbr_s_fills_a_path_whose_round_trips_are_shorter_than_its_steps_also_after_an_outage() {
    // 5 Gbit/s and 0.2 ms: Startup is over within a fraction of 10 ms.
    let mut setting = constant(5_000);
    setting = setting.with_rtt(Duration::from_micros(200));
    setting.duration = Duration::from_millis(500);
    let fills = |setting: &Setting| {
        let result = compare(setting, &["bbr", "bbr-s"]);
        let (bbr, bbr_s) = (of(&result, "bbr"), of(&result, "bbr-s"));
        assert!(
            bbr_s["throughput_mbps"] > 0.9 * bbr["throughput_mbps"],
            "{bbr_s:?} {bbr:?}"
        );
    };
    fills(&setting);
    let outage = "0s:5gbit,100ms:1mbit,200ms:5gbit";
    let link = lowtide_sim::trace::schedule::parse(outage).unwrap();
    setting.forward.link = LinkSource::Fixed(Arc::new(Link::Rates(link)));
    setting.forward.buffer = QueueLimit::Packets(100);
    fills(&setting);
}
