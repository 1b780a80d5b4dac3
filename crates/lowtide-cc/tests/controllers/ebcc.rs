//! eBCC: the four cases of its window rule.

use super::events::{ack, at, ms, packet};
use super::host::{Host, MSS};
use lowtide_cc::Config;
use lowtide_cc::controllers::bbr::{Model, Phase, Policy};
use lowtide_cc::controllers::ebcc::{LastWindow, LossAndQueue, LossProbe};
use lowtide_cc::units::{Bytes, Rate};

fn model(phase: Phase, rtt_ms: u64) -> Model {
    let mut model = Model::new(&Config::for_datagram(MSS));
    model.phase = phase;
    model.min_rtt = ms(40);
    model.rtt = ms(rtt_ms);
    model
}

fn rule_with(last: LastWindow) -> LossAndQueue {
    LossAndQueue::new(30, last, LossProbe::OneBdp)
}

/// The window after `cwnd` packets with a target of `target` packets.
fn next(rule: &mut LossAndQueue, cwnd: u64, target: u64, lost: u64, model: &Model) -> Bytes {
    let acked = [packet(1, at(0))];
    let mut ack = ack(at(100), model.rtt, &acked);
    ack.bytes_lost = MSS * lost;
    rule.next_window(MSS * cwnd, MSS * target, &ack, model)
}

#[test]
fn the_window_goes_half_way_to_its_target_while_few_packets_queue() {
    let mut rule = rule_with(LastWindow::Mirrored);
    // diff = 100 · (1 − 40/50) = 20 packets.
    let short = model(Phase::ProbeBw, 50);
    assert_eq!(next(&mut rule, 100, 140, 0, &short), MSS * 120);
    assert_eq!(next(&mut rule, 100, 60, 0, &short), MSS * 80);
    // With a loss, and in other phases, the rule is BBR's: one packet more, up to the target.
    assert_eq!(next(&mut rule, 100, 140, 1, &short), MSS * 101);
    let drain = model(Phase::Drain, 50);
    assert_eq!(next(&mut rule, 100, 140, 0, &drain), MSS * 101);
}

#[test]
fn a_long_queue_turns_the_window_back_towards_the_last_one() {
    // diff = 100 · (1 − 40/80) = 50 packets.
    let long = model(Phase::ProbeBw, 80);
    let mut rule = rule_with(LastWindow::Mirrored);
    // pf = 200 − 140 = 60; (60 + 100)/2.
    assert_eq!(next(&mut rule, 100, 140, 0, &long), MSS * 80);
    // pf = 200 − 90 = 110 would push the window above its target.
    assert_eq!(next(&mut rule, 100, 90, 0, &long), MSS * 90);
    let mut rule = rule_with(LastWindow::BeforeQueue);
    assert_eq!(next(&mut rule, 100, 140, 0, &long), MSS * 100, "none yet");
    next(&mut rule, 60, 140, 0, &model(Phase::ProbeBw, 40));
    assert_eq!(next(&mut rule, 100, 140, 0, &long), MSS * 80);
    // The same RTT is a short queue for a small window: 50 · (1 − 40/80) = 25 packets.
    assert_eq!(next(&mut rule, 50, 140, 0, &long), MSS * 95);
}

#[test]
fn a_loss_with_a_long_queue_calls_for_probe_rtt_where_another_halves_the_window() {
    let mut rule = rule_with(LastWindow::Mirrored);
    let acked = [packet(1, at(0))];
    for (rtt, calls) in [(80, true), (50, false)] {
        let model = model(Phase::ProbeBw, rtt);
        let ack = ack(at(100), model.rtt, &acked);
        assert_eq!(
            rule.loss_calls_for_probe_rtt(MSS * 100, &ack, &model),
            calls
        );
    }
    let probe_rtt = model(Phase::ProbeRtt, 80);
    assert_eq!(next(&mut rule, 100, 140, 1, &probe_rtt), MSS * 50);
}

/// A flow whose link has become so slow that many packets queue; the newest will be lost.
fn losing_in_a_long_queue(spec: &str) -> Host {
    let mut host = Host::of(spec, Rate::from_mbps(40), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host.run_for(ms(1000));
    host.rate = Rate::from_mbps(10);
    host.run_until(|h| h.last_rtt > ms(100));
    host.lose.push(host.next_number() - 1);
    host
}

#[test]
fn a_flow_that_loses_in_a_long_queue_goes_to_probe_rtt_and_bbr_does_not() {
    for (spec, phase) in [("ebcc", "ProbeRTT"), ("bbr", "ProbeBW")] {
        let mut host = losing_in_a_long_queue(spec);
        host.run_until(|h| h.cc.snapshot().in_recovery);
        assert_eq!(host.phase(), phase, "{spec}");
    }
}

#[test]
fn such_a_loss_leaves_one_bdp_and_the_window_is_not_given_back() {
    // The window before the loss, the least one of the ProbeRTT, the one after it.
    let around_the_probe = |spec| {
        let mut host = losing_in_a_long_queue(spec);
        let before = host.cc.cwnd();
        host.run_until(|h| h.phase() == "ProbeRTT");
        let mut least = before;
        while host.phase() == "ProbeRTT" {
            assert!(host.step());
            least = least.min(host.cc.cwnd());
        }
        (before, least, host.cc.cwnd())
    };
    let (before, least, after) = around_the_probe("ebcc");
    // The link's own BDP is 50 packets.
    assert!(least >= MSS * 50, "{least}");
    assert!(after <= before.mul_f64(0.9), "{after} after {before}");
    let (before, least, after) = around_the_probe("ebcc:probe=smallest");
    assert_eq!(least, MSS * 4);
    assert!(after >= before, "{after} after {before}");
}

#[test]
fn a_longer_path_is_learnt_within_ten_seconds_although_losses_call_for_probe_rtt_before() {
    let mut host = Host::of("ebcc", Rate::from_mbps(40), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host.rtt = ms(120);
    let (until, mut probed) = (host.now + ms(11_000), false);
    while host.now < until {
        // One packet in about 300.
        host.lose.push(host.next_number() + 300);
        for _ in 0..600 {
            assert!(host.step());
            let known = host.cc.snapshot().min_rtt;
            probed |= host.phase() == "ProbeRTT" && known < Some(ms(50));
        }
    }
    assert!(probed, "losses have called for it");
    assert!(host.cc.snapshot().min_rtt >= Some(ms(120)));
}
