//! What the papers of the family promise, on whole links.

use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::compare::Comparison;
use lowtide_lab::setting::{LinkSource, Setting};
use lowtide_sim::impairment::{Aggregation, LossModel};
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

use crate::setting::{compare, constant, named, of, ratio, recorded};

/// RBBR (§V-A): at most 30 % less throughput. BBR-S (§V): 40 % less mean RTT, 60 % less at the tail.
fn holds_the_papers_claims(result: &Comparison) {
    // RTT-gain: about half of the queue.
    for (name, throughput, mean, p95) in [
        ("rbbr", 0.69, 0.6, 0.5),
        ("bbr-s", 0.69, 0.6, 0.5),
        ("rtt-gain", 0.75, 0.5, f64::INFINITY),
    ] {
        let [own, rtt, tail] = ["throughput_mbps", "rtt_ms.mean", "rtt_ms.p95"]
            .map(|metric| ratio(result, [name, "bbr"], metric));
        let holds = own > throughput && rtt < mean && tail < p95;
        assert!(holds, "{name}: {own} {rtt} {tail}");
    }
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
    let names = "bbr bbr-noagg rbbr rtt-gain bbr-acd bbr-s ebcc bbrx";
    let names: Vec<&str> = names.split(' ').collect();
    let result = compare(&constant(20), &names);
    for name in &names[1..] {
        let ratio = |metric| ratio(&result, [name, "bbr"], metric);
        let (throughput, rtt) = (ratio("throughput_mbps"), ratio("rtt_ms.mean"));
        assert!(throughput > 0.98 && rtt < 1.1, "{name}: {throughput} {rtt}");
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
    setting.back.aggregation = Some(Aggregation::every(Duration::from_millis(20)));
    let result = compare(&setting, &["bbr", "rbbr"]);
    let ratio = |metric| ratio(&result, ["rbbr", "bbr"], metric);
    let (throughput, p95) = (ratio("throughput_mbps"), ratio("rtt_ms.p95"));
    assert!(throughput > 0.9 && p95 < 1.0, "{throughput} {p95}");
}

#[test]
fn random_loss_is_not_taken_for_a_slower_link_by_rbbrs_receiver() {
    // Each loss opens a recovery, whose first round sends what was delivered and no more.
    let mut setting = constant(20);
    setting.forward.buffer = QueueLimit::Bdp(4.0);
    setting.forward.loss = LossModel::Random(0.03);
    let lossy = compare(&setting, &["bbr-noagg", "rbbr"]);
    setting.forward.loss = LossModel::Random(0.005);
    setting.back.aggregation = Some(Aggregation::every(Duration::from_millis(25)));
    let unsteady = compare(&setting, &["bbr-noagg", "rbbr"]);
    for result in [lossy, unsteady] {
        let throughput = ratio(&result, ["rbbr", "bbr-noagg"], "throughput_mbps");
        assert!(throughput > 0.8, "{throughput}");
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
    let ratio = |metric| ratio(&result, ["bbr-acd", "bbr"], metric);
    let (resent, goodput) = (ratio("retransmitted_share"), ratio("goodput_mbps"));
    assert!(resent < 0.7 && goodput > 0.97, "{resent} {goodput}");
}

#[test]
fn bbr_s_fills_a_path_whose_round_trips_are_shorter_than_its_steps_also_after_an_outage() {
    // 5 Gbit/s and 0.2 ms: Startup is over within a fraction of 10 ms.
    let mut setting = constant(5_000);
    setting = setting.with_rtt(Duration::from_micros(200));
    setting.duration = Duration::from_millis(500);
    let fills = |setting: &Setting| {
        let result = compare(setting, &["bbr", "bbr-s"]);
        let throughput = ratio(&result, ["bbr-s", "bbr"], "throughput_mbps");
        assert!(throughput > 0.9, "{throughput}");
    };
    fills(&setting);
    let outage = "0s:5gbit,100ms:1mbit,200ms:5gbit";
    let link = lowtide_sim::trace::schedule::parse(outage).unwrap();
    setting.forward.link = LinkSource::Fixed(Arc::new(Link::Rates(link)));
    setting.forward.buffer = QueueLimit::Packets(100);
    fills(&setting);
}
