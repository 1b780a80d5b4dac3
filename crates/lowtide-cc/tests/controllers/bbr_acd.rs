//! BBR-ACD: when a loss counts as congestion, and what follows.

use super::events::{ack, at, ms, packet};
use super::host::{Host, MSS};
use lowtide_cc::Config;
use lowtide_cc::controllers::bbr::{Model, Policy, RecoveryStart};
use lowtide_cc::controllers::bbr_acd::{CongestionDetection, Halving, InflightCap};
use lowtide_cc::units::{Bytes, Duration, Rate};

const ALPHA: Duration = Duration::from_millis(1);

fn model() -> Model {
    let mut model = Model::new(&Config::for_datagram(MSS));
    model.min_rtt = ms(40);
    model.bandwidth = Rate::from_mbps(10);
    model
}

/// Whether a loss counts as congestion after these RTTs, in microseconds.
fn congestion_after(rtts_us: &[u64]) -> bool {
    let mut detection =
        CongestionDetection::new(ALPHA, Halving::OncePerRecovery, InflightCap::Halving);
    for (n, rtt) in rtts_us.iter().enumerate() {
        let acked = [packet(n as u64, at(n as u64))];
        detection.on_ack(
            &ack(at(100 + n as u64), Duration::from_micros(*rtt), &acked),
            &model(),
        );
    }
    detection.sees_congestion()
}

#[test]
fn three_equal_rtts_above_the_minimum_or_one_above_twice_the_minimum_are_congestion() {
    assert!(
        congestion_after(&[60_000, 60_900, 60_000]),
        "identical RTTs"
    );
    assert!(!congestion_after(&[60_000, 60_900]), "only two");
    assert!(!congestion_after(&[60_000, 61_100, 62_200]), "1.1 ms apart");
    assert!(!congestion_after(&[60_000, 60_000, 60_000, 65_000]), "over");
    assert!(
        congestion_after(&[50_000, 80_001]),
        "above twice the minimum"
    );
    assert!(!congestion_after(&[50_000, 80_000]));
    // The published code's guard: an empty path has equal RTTs, too.
    assert!(!congestion_after(&[40_000, 40_000, 40_000]));
}

#[test]
fn a_loss_of_congestion_halves_the_window_to_at_most_a_bdp_and_others_only_lose_what_was_lost() {
    let bdp = Bytes::new(50_000);
    for (halving, cwnd, rtt, expected) in [
        (
            Halving::OncePerRecovery,
            MSS * 80,
            90,
            RecoveryStart::SetWindow(MSS * 40),
        ),
        (
            Halving::OncePerRecovery,
            MSS * 200,
            90,
            RecoveryStart::SetWindow(bdp),
        ),
        (
            Halving::EveryAckForOneRound,
            MSS * 80,
            90,
            RecoveryStart::Shrink,
        ),
        (
            Halving::OncePerRecovery,
            MSS * 80,
            70,
            RecoveryStart::OnlyLost,
        ),
    ] {
        let mut detection = CongestionDetection::new(ALPHA, halving, InflightCap::Halving);
        detection.on_ack(&ack(at(100), ms(rtt), &[packet(0, at(0))]), &model());
        assert_eq!(detection.on_recovery_start(cwnd, &model()), expected);
        assert_eq!(detection.shrink(MSS * 80, &model()), MSS * 40);
    }
}

/// Windows before, at and after a loss in steady state, with an empty queue or a standing one.
fn windows_around_a_loss(spec: &str, queued: bool) -> (Bytes, Bytes, Bytes) {
    let mut host = Host::of(spec, Rate::from_mbps(20), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host.run_for(Duration::from_secs(1));
    if queued {
        host.rate = Rate::from_mbps(5);
        host.run_until(|h| h.last_rtt > ms(81));
    } else {
        host.run_until(|h| h.cc.snapshot().pacing_gain == Some(1.0) && h.last_rtt < ms(42));
    }
    let before = host.cc.cwnd();
    host.lose.push(host.next_number());
    host.run_until(|h| h.cc.snapshot().in_recovery);
    let at_loss = host.cc.cwnd();
    host.run_until(|h| !h.cc.snapshot().in_recovery);
    (before, at_loss, host.cc.cwnd())
}

#[test]
fn a_loss_on_an_empty_path_does_not_slow_the_flow_and_one_in_a_full_queue_does() {
    let (before, at_loss, _) = windows_around_a_loss("bbr-acd", false);
    assert!(at_loss + MSS * 2 >= before, "{at_loss} after {before}");
    let (before, at_loss, after) = windows_around_a_loss("bbr-acd", true);
    assert!(at_loss <= before.mul_f64(0.5), "{at_loss} after {before}");
    assert!(
        after >= before.mul_f64(0.9),
        "restored: {after} after {before}"
    );
    let (before, at_loss, after) = windows_around_a_loss("bbr-acd:halve=once", true);
    assert!(at_loss <= before.mul_f64(0.5), "{at_loss} after {before}");
    assert!(
        after >= before.mul_f64(0.9),
        "restored: {after} after {before}"
    );
}

#[test]
fn a_cap_of_one_bdp_that_outlasts_the_recovery_keeps_the_window_from_coming_back() {
    let (before, _, after) = windows_around_a_loss("bbr-acd:cap=next-phase", true);
    assert!(
        after <= before.mul_f64(0.6),
        "capped: {after} after {before}"
    );
}
