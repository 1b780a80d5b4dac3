//! NewReno over the small host.

use super::host::{Host, MSS};
use lowtide_cc::units::{Duration, Rate};

#[test]
fn slow_start_doubles_a_loss_halves_and_avoidance_adds_a_packet_a_round() {
    let rtt = Duration::from_millis(50);
    // So fast that a round takes one RTT.
    let mut host = Host::of("newreno", Rate::from_mbps(8_000), rtt);
    host.run_until(|h| h.cc.cwnd() >= MSS * 80);
    assert!(host.now.as_secs_f64() < 0.16, "three rounds: {}", host.now);
    host.lose = vec![host.next_number() - 1];
    host.run_until(|h| h.cc.snapshot().in_recovery);
    let halved = host.cc.cwnd();
    assert_eq!(host.cc.snapshot().ssthresh, Some(halved));
    host.run_until(|h| h.phase() == "CongestionAvoidance");
    assert_eq!(host.cc.cwnd(), halved, "no growth in recovery");
    host.run_for(rtt * 10);
    let grown = (host.cc.cwnd() - halved).get() / MSS.get();
    assert!((9..=11).contains(&grown), "{grown}");
}

#[test]
fn a_timeout_leaves_one_packet_and_a_repeated_one_holds_ssthresh() {
    let mut host = Host::of("newreno", Rate::from_mbps(16), Duration::from_millis(50));
    host.run_until(|h| h.cc.cwnd() >= MSS * 80);
    let half = host.cc.cwnd().mul_f64(0.5);
    for _ in 0..3 {
        host.time_out();
        assert_eq!(host.cc.cwnd(), MSS);
        assert_eq!(host.cc.snapshot().ssthresh, Some(half));
        // The retransmission, which is lost in turn.
        host.step();
    }
}

#[test]
fn a_spurious_timeout_gives_back_window_and_threshold_even_after_several_expiries() {
    for expiries in [1, 3] {
        let mut host = Host::of("newreno", Rate::from_mbps(16), Duration::from_millis(50));
        host.run_until(|h| h.cc.cwnd() >= MSS * 80);
        let before = host.cc.cwnd();
        for _ in 0..expiries {
            host.time_out();
            host.step();
        }
        host.cc.on_spurious_timeout(host.now);
        assert_eq!(host.cc.cwnd(), before, "{expiries} expiries");
        assert_eq!(host.cc.snapshot().ssthresh, None, "still in slow start");
    }
}

#[test]
fn an_acknowledgment_of_three_packets_counts_as_one_where_acknowledgments_count() {
    let rtt = Duration::from_millis(50);
    let rounds_to_80_packets = |spec: &str| {
        let mut host = Host::of(spec, Rate::from_mbps(8_000), rtt);
        host.ack_every = 3;
        host.run_until(|h| h.cc.cwnd() >= MSS * 80);
        (host.now.as_secs_f64() / rtt.as_secs_f64()) as u32
    };
    // Ten packets become 80 after three doublings, or after about log(8)/log(4/3) = 7.2 rounds.
    let by_bytes = rounds_to_80_packets("newreno");
    let by_acks = rounds_to_80_packets("newreno:grow=acks");
    assert!(by_bytes <= 4, "{by_bytes}");
    assert!((6..=9).contains(&by_acks), "{by_acks}");
}

#[test]
fn each_loss_event_halves_the_window_where_there_are_no_recoveries() {
    for (spec, share) in [("newreno", 1.0), ("newreno:reduce=each-loss", 0.5)] {
        let mut host = Host::of(spec, Rate::from_mbps(16), Duration::from_millis(50));
        host.run_until(|h| h.cc.cwnd() >= MSS * 80);
        // Two of the same flight, found lost one after the other.
        let next = host.next_number();
        host.lose = vec![next - 20, next - 5];
        host.run_until(|h| h.losses == 1);
        let after_the_first = host.cc.cwnd().as_f64();
        host.run_until(|h| h.losses == 2);
        let left = host.cc.cwnd().as_f64() / after_the_first;
        assert!((left - share).abs() < 0.05, "{spec}: {left}");
    }
}
