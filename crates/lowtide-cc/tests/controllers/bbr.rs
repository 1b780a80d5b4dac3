//! BBR's transitions, provoked and observed.

use super::host::{Host, MSS};
use lowtide_cc::Config;
use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

const RATE: Rate = Rate::from_mbps(16); // 2 packets a millisecond
const RTT: Duration = Duration::from_millis(50);
/// 100 packets.
const BDP: Bytes = Bytes::new(100_000);

fn host(spec: &str) -> Host {
    Host::seeded(1, spec, RATE, RTT)
}

fn in_probe_bw() -> Host {
    let mut host = host("bbr");
    host.run_until(|h| h.phase() == "ProbeBW");
    host.run_for(Duration::from_secs(2));
    host
}

#[test]
fn startup_doubles_drain_empties_and_probe_bw_keeps_the_link_busy() {
    let mut host = host("bbr");
    host.run_until(|h| h.phase() == "Drain");
    // A queue was built, within the window's gain and its allowance for bursts.
    let most = BDP.mul_f64(2.885) + MSS * 30;
    let inflight = host.inflight();
    assert!(inflight > BDP && inflight < most, "{inflight}");
    let startup_took = host.now.as_secs_f64();
    assert!(startup_took < 0.8, "{startup_took}");
    host.run_until(|h| h.phase() == "ProbeBW");
    assert!(host.inflight() <= BDP + MSS * 10, "{}", host.inflight());
    host.run_for(Duration::from_secs(5));
    let s = host.cc.snapshot();
    let bandwidth = s.bandwidth.unwrap().as_f64() / RATE.as_f64();
    assert!((0.99..1.03).contains(&bandwidth), "{bandwidth}");
    assert!(s.min_rtt.unwrap() <= RTT + Duration::from_millis(2));
    // Twice the BDP and the allowance for bursts.
    let cwnd = host.cc.cwnd();
    assert!(cwnd >= BDP * 2 && cwnd <= BDP * 2 + MSS * 30, "{cwnd}");
}

#[test]
fn the_gain_cycle_goes_1_25_then_0_75_then_6_times_1_and_never_begins_with_0_75() {
    for seed in 0..20 {
        let mut host = Host::seeded(seed, "bbr", RATE, RTT);
        host.run_until(|h| h.phase() == "ProbeBW");
        assert_ne!(host.cc.snapshot().pacing_gain, Some(0.75), "seed {seed}");
    }
    let mut host = in_probe_bw();
    let mut gains: Vec<(f64, f64)> = Vec::new();
    let end = host.now + Duration::from_secs(4);
    while host.now < end && host.step() {
        let gain = host.cc.snapshot().pacing_gain.unwrap();
        if gains.last().is_none_or(|(g, _)| *g != gain) {
            gains.push((gain, host.now.as_secs_f64()));
        }
    }
    for three in gains[1..].windows(4).filter(|w| w[0].0 == 1.25) {
        assert_eq!([three[1].0, three[2].0, three[3].0], [0.75, 1.0, 1.25]);
        let cruise = (three[3].1 - three[2].1) / RTT.as_secs_f64();
        assert!(
            (6.0..6.8).contains(&cruise),
            "six phases of a min_rtt each, not {cruise}"
        );
        let probe = (three[1].1 - three[0].1) / RTT.as_secs_f64();
        assert!((1.0..2.2).contains(&probe), "{probe}");
    }
    assert!(gains.len() > 15, "{gains:?}");
}

#[test]
fn probe_rtt_comes_after_ten_seconds_cuts_to_four_packets_and_restores_the_window() {
    let mut host = in_probe_bw();
    let before = host.cc.cwnd();
    host.run_until(|h| h.phase() == "ProbeRTT");
    host.run_until(|h| h.inflight() <= MSS * 4);
    let low_since = host.now;
    assert_eq!(host.cc.cwnd(), MSS * 4);
    host.run_until(|h| h.phase() == "ProbeBW");
    let stayed = host.now.since(low_since);
    assert!(
        stayed >= Duration::from_millis(200) && stayed < Duration::from_millis(400),
        "{stayed}"
    );
    let cwnd = host.cc.cwnd();
    assert!(cwnd >= before.mul_f64(0.95), "{cwnd} {before}");
}

#[test]
fn a_loss_conserves_packets_for_a_round_and_then_the_window_comes_back() {
    let mut host = in_probe_bw();
    let before = host.cc.cwnd();
    let lost = host.next_number() - 20;
    host.lose = vec![lost, lost + 1];
    host.run_until(|h| h.cc.snapshot().in_recovery);
    // What is in flight and what this acknowledgment delivered.
    let conserved = host.inflight() + MSS;
    assert_eq!(host.cc.cwnd(), conserved);
    assert!(conserved < before);
    host.run_until(|h| !h.cc.snapshot().in_recovery);
    let cwnd = host.cc.cwnd();
    assert!(cwnd >= before - MSS * 2, "{cwnd} {before}");
}

#[test]
fn packets_are_conserved_for_a_whole_round_wherever_in_a_round_the_loss_falls() {
    for steps in [10, 80, 160] {
        let mut host = in_probe_bw();
        for _ in 0..steps {
            host.step();
        }
        host.lose = vec![host.next_number() - 5];
        host.run_until(|h| h.cc.snapshot().in_recovery);
        let (began, conserved) = (host.now, host.cc.cwnd());
        while host.now.since(began) < RTT {
            assert!(host.cc.cwnd() <= conserved + MSS, "{steps} steps");
            host.step();
        }
    }
}

#[test]
fn a_timeout_leaves_one_packet_and_recovery_restores_the_window() {
    let mut host = in_probe_bw();
    let before = host.cc.cwnd();
    host.time_out();
    assert_eq!(host.cc.cwnd(), MSS);
    host.run_for(Duration::from_millis(400));
    let cwnd = host.cc.cwnd();
    assert!(cwnd >= before - MSS * 2, "{cwnd} {before}");

    let mut host = in_probe_bw();
    host.time_out();
    host.undo_timeout();
    host.step();
    assert!(host.cc.cwnd() >= before, "a spurious one is undone");
}

#[test]
fn the_bunch_that_shows_a_spurious_timeout_is_no_aggregation() {
    let largest_after_a_bunch_of = |packets: usize| {
        let mut host = in_probe_bw();
        host.time_out();
        host.undo_timeout();
        host.stall(RTT);
        host.ack_every = packets;
        // Until the acknowledgment has come.
        let mut before = host.inflight();
        while host.inflight() >= before {
            before = host.inflight();
            assert!(host.step());
        }
        host.ack_every = 1;
        // What it brought beyond the bandwidth is made up for before the next comes.
        host.stall(RTT);
        let until = host.now + RTT * 4;
        let mut largest = host.cc.cwnd();
        while host.now < until && host.step() {
            largest = largest.max(host.cc.cwnd());
        }
        largest
    };
    let (bunch, single) = (largest_after_a_bunch_of(40), largest_after_a_bunch_of(1));
    assert!(bunch <= single + MSS * 4, "{bunch} {single}");
}

#[test]
fn after_a_timeout_the_window_slow_starts_until_what_was_lost_is_repaired() {
    for spec in ["bbr", "bbr3", "bbr-acd"] {
        let mut host = host(spec);
        host.run_for(Duration::from_secs(4));
        let before = host.cc.cwnd();
        let lost = host.inflight().get() / MSS.get();
        let first = host.next_number();
        host.time_out();
        let mut acked = 0;
        while acked < lost - 1 {
            host.step();
            acked = host.next_number() - first - host.inflight().get() / MSS.get();
            // Linux: one packet, four with the first acknowledgment, then what is acknowledged.
            let expected = if acked == 0 { 1 } else { acked + 3 };
            assert_eq!(host.cc.cwnd(), MSS * expected, "{spec}: {acked} of {lost}");
        }
        host.run_until(|h| !h.cc.snapshot().in_recovery);
        assert!(host.cc.cwnd() >= before - MSS * 2, "{spec}: {before}");
    }
}

#[test]
fn a_link_that_is_slow_after_a_timeout_is_not_flooded_with_the_window_from_before() {
    for spec in ["bbr", "bbr3", "bbr-acd"] {
        let mut host = host(spec);
        host.run_for(Duration::from_secs(8));
        host.time_out();
        host.rate = RATE.mul_f64(0.1);
        host.buffer = Some(MSS * 20);
        let (sent, dropped) = (host.next_number(), host.lose.len() as u64);
        host.run_for(Duration::from_millis(500));
        let sent = host.next_number() - sent;
        let dropped = host.lose.len() as u64 - dropped;
        // Path and buffer hold 30 packets: the round that fills them sends twice as many. The link
        // carries 100 in that time.
        assert!(dropped <= 30, "{spec}: {dropped}");
        assert!(sent <= 100 + 30 + dropped, "{spec}: {sent}");
    }
}

#[test]
fn probe_rtt_that_begins_as_a_recovery_ends_gives_back_the_window_from_before_both() {
    let mut host = in_probe_bw();
    let usual = host.cc.cwnd();
    host.run_until(|h| h.phase() == "ProbeRTT");
    // The recovery of a packet ends two round trips after its sending.
    let flight = host.inflight().get() / MSS.get();
    let two_rounds_ago = host.next_number() - 2 * flight;
    for lost in two_rounds_ago - 50..two_rounds_ago + 50 {
        let mut host = in_probe_bw();
        host.lose = vec![lost];
        host.run_until(|h| h.phase() == "ProbeRTT");
        host.run_until(|h| h.phase() != "ProbeRTT");
        let cwnd = host.cc.cwnd();
        assert!(cwnd >= usual.mul_f64(0.9), "{lost}: {cwnd}, not {usual}");
    }
}

#[test]
fn after_idleness_it_paces_at_the_estimate_and_app_limited_samples_do_not_lower_it() {
    let mut host = in_probe_bw();
    let estimate = host.cc.snapshot().bandwidth.unwrap();
    // 20 packets, then silence; again and again: a tenth of the link.
    for _ in 0..40 {
        host.data = Some(20);
        while host.step() {}
        host.now += Duration::from_millis(100);
    }
    let after = host.cc.snapshot().bandwidth.unwrap();
    assert!(after >= estimate.mul_f64(0.99), "{after} {estimate}");
    host.data = None;
    host.step();
    let pacing = host.cc.pacing_rate().unwrap().as_f64() / after.as_f64();
    if host.phase() == "ProbeBW" {
        assert!((0.98..1.0).contains(&pacing), "{pacing}");
    }
}

#[test]
fn without_compensation_the_window_is_smaller_where_acknowledgments_come_in_bunches() {
    let cwnd_of = |spec: &str| {
        let mut host = host(spec);
        host.run_until(|h| h.phase() == "ProbeBW");
        for _ in 0..200 {
            // The path is silent for 20 ms, then everything arrives at once.
            host.run_for(Duration::from_millis(20));
            host.now += Duration::from_millis(20);
        }
        host.cc.cwnd()
    };
    assert!(cwnd_of("bbr") > cwnd_of("bbr-noagg"));
}

#[test]
fn probe_rtt_does_not_lower_the_estimate_where_it_lasts_longer_than_the_filters_ten_rounds() {
    for rtt in [2, 10, 20] {
        let mut host = Host::of("bbr", RATE, Duration::from_millis(rtt));
        host.run_until(|h| h.phase() == "ProbeBW");
        host.run_for(Duration::from_secs(2));
        let before = host.cc.snapshot().bandwidth.unwrap();
        host.run_until(|h| h.phase() == "ProbeRTT");
        host.run_until(|h| h.phase() == "ProbeBW");
        host.run_for(Duration::from_millis(2 * rtt));
        let after = host.cc.snapshot().bandwidth.unwrap();
        assert!(after >= before.mul_f64(0.99), "{rtt} ms: {after} {before}");
    }
}

#[test]
fn bbr_prime_paces_below_its_estimate_and_probes_the_rtt_by_the_simulations_clock() {
    let started_at_12_s = |spec: &str| {
        let config = Config {
            now: Time::ZERO + Duration::from_secs(12),
            ..Config::for_datagram(MSS)
        };
        let bbr = registry::build(spec, &config).unwrap();
        let mut host = Host::new(bbr, Rate::from_mbps(16), Duration::from_millis(50));
        host.now = config.now;
        let (mut share, mut probes) = (0.0, false);
        while host.now < Time::ZERO + Duration::from_secs(15) {
            assert!(host.step());
            let snapshot = host.cc.snapshot();
            probes |= snapshot.phase == "ProbeRTT";
            if snapshot.phase == "ProbeBW" && snapshot.pacing_gain == Some(1.0) {
                let paced = host.cc.pacing_rate().unwrap().as_bytes_per_sec() as f64;
                share = paced / snapshot.bandwidth.unwrap().as_bytes_per_sec() as f64;
            }
        }
        (share, probes)
    };
    let (share, probes) = started_at_12_s("bbr-noagg:prime=true");
    assert!((share - 0.95).abs() < 0.001 && probes, "{share} {probes}");
    let (share, probes) = started_at_12_s("bbr-noagg");
    assert!((share - 0.99).abs() < 0.001 && !probes, "{share} {probes}");
}
