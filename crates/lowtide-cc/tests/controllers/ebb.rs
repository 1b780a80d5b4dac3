//! ebb over the small host.

use super::host::{Host, MSS};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// 2 packets a millisecond.
const RATE: Rate = Rate::from_mbps(16);
const RTT: Duration = Duration::from_millis(50);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn host() -> Host {
    host_at(RATE)
}

fn host_at(rate: Rate) -> Host {
    Host::of("ebb", rate, RTT)
}

/// A host that has found its operating point.
fn steady() -> Host {
    let mut host = host();
    host.run_for(SECOND * 10);
    host
}

/// What a span of time has shown.
struct Seen {
    /// Share of the link that was used.
    used: f64,
    /// Mean and largest queueing delay of packets.
    queueing: Duration,
    longest: Duration,
}

fn watch(host: &mut Host, span: Duration) -> Seen {
    let (from, sent, losses) = (host.now, host.next_number(), host.losses);
    let inflight = host.inflight();
    let (mut sum, mut longest, mut steps) = (Duration::ZERO, Duration::ZERO, 0);
    while host.now.since(from) < span {
        assert!(host.step());
        let queueing = host.last_rtt - host.rtt;
        longest = longest.max(queueing);
        sum += queueing;
        steps += 1;
    }
    let sent = MSS * (host.next_number() - sent) + inflight;
    let served = (sent - host.inflight()) - MSS * (host.losses - losses);
    Seen {
        used: served.as_f64() / host.rate.volume_in(host.now.since(from)).as_f64(),
        queueing: sum.div(steps),
        longest,
    }
}

#[test]
fn a_constant_link_is_used_with_a_queue_of_a_few_packets() {
    for rate in [Rate::from_mbps(2), RATE, Rate::from_mbps(200)] {
        let mut host = host_at(rate);
        host.run_for(SECOND * 5);
        let seen = watch(&mut host, SECOND * 10);
        assert!(seen.used >= 0.98, "{rate}: {}", seen.used);
        let few = (rate.time_for(MSS) * 6).max(RTT.div(10));
        println!(
            "{rate}: {} of the link, {} ({few})",
            seen.used, seen.queueing
        );
        assert!(seen.queueing < few, "{rate}: {}", seen.queueing);
    }
}

#[test]
fn startup_fills_the_link_and_queues_less_than_one_base_rtt() {
    for rate in [Rate::from_mbps(4), RATE, Rate::from_mbps(200)] {
        let mut host = host_at(rate);
        let seen = watch(&mut host, SECOND);
        println!("{rate}: {}", seen.longest);
        assert!(seen.longest < RTT, "{rate}: {}", seen.longest);
        let seen = watch(&mut host, SECOND);
        assert!(seen.used > 0.97, "{rate}: {}", seen.used);
    }
}

#[test]
fn startup_leads_over_a_drain_to_steady_and_drains_recur() {
    let mut host = host();
    let mut phases = vec![host.phase()];
    while host.now < Time::ZERO + SECOND * 20 {
        assert!(host.step());
        if phases.last() != Some(&host.phase()) {
            phases.push(host.phase());
        }
    }
    assert_eq!(phases[..3], ["Startup", "Drain", "Steady"]);
    for pair in phases[2..].chunks(2).filter(|pair| pair.len() == 2) {
        assert_eq!(pair, ["Steady", "Drain"]);
    }
    assert!((5..30).contains(&phases.len()), "{phases:?}");
}

#[test]
fn a_rate_that_rises_or_falls_tenfold_is_followed_in_seconds() {
    for (rate, settles) in [
        (RATE.mul_f64(10.0), SECOND * 3),
        (RATE.mul_f64(0.1), SECOND * 3),
    ] {
        let mut host = steady();
        host.rate = rate;
        host.run_for(settles);
        let seen = watch(&mut host, SECOND * 5);
        println!("{rate}: {} of the link, {}", seen.used, seen.queueing);
        assert!(seen.used > 0.95, "{rate}: {}", seen.used);
        assert!(seen.queueing < RTT, "{rate}: {}", seen.queueing);
    }
}

#[test]
fn a_path_that_becomes_longer_or_shorter_is_noticed() {
    for rtt in [RTT + MS * 20, RTT - MS * 20] {
        let mut host = steady();
        host.rtt = rtt;
        // The window that it rebuilds overshoots, and the margin takes long to sink.
        host.run_for(SECOND * 5);
        let seen = watch(&mut host, SECOND * 25);
        println!("{rtt}: {} of the link, {}", seen.used, seen.queueing);
        assert!(seen.used > 0.95, "{rtt}: {}", seen.used);
        assert!(seen.queueing < RTT.div(4), "{rtt}: {}", seen.queueing);
    }
}

#[test]
fn nothing_bursts_behind_an_outage() {
    for outage in [MS * 200, SECOND * 2] {
        let mut host = steady();
        host.stall(outage);
        host.run_for(outage + RTT * 2);
        let seen = watch(&mut host, SECOND * 5);
        println!(
            "{outage}: {} of the link, up to {}",
            seen.used, seen.longest
        );
        // Not more than a window that was made for the path before, though the outage has scattered RTTs.
        assert!(seen.longest < RTT * 2, "{outage}: {}", seen.longest);
        assert!(seen.used > 0.95, "{outage}: {}", seen.used);
    }
}

#[test]
fn an_application_that_sends_little_or_nothing_leaves_the_window_as_it_was() {
    let mut host = steady();
    let before = host.cc.cwnd();
    let near = |now: Bytes| (0.8..1.25).contains(&(now.as_f64() / before.as_f64()));
    host.pause(SECOND * 30);
    assert!(near(host.cc.cwnd()), "{}", host.cc.cwnd());
    for _ in 0..200 {
        host.data = Some(20);
        host.run_for(MS * 60);
        host.now += MS * 40;
    }
    assert!(near(host.cc.cwnd()), "{}", host.cc.cwnd());
    host.data = None;
    let seen = watch(&mut host, SECOND);
    assert!(seen.longest < RTT.div(2), "{}", seen.longest);
    assert!(seen.used > 0.9, "{}", seen.used);
}

#[test]
fn a_timeout_leaves_four_packets_and_is_undone_when_spurious() {
    let mut host = steady();
    let before = host.cc.cwnd();
    host.time_out();
    assert_eq!(host.cc.cwnd(), MSS * 4);
    host.undo_timeout();
    assert_eq!(host.cc.cwnd(), before);

    host.time_out();
    host.run_for(RTT * 8);
    let after = host.cc.cwnd();
    assert!(after > before.mul_f64(0.8), "{after} after {before}");
}

#[test]
fn the_least_window_follows_the_packet_size() {
    let mut host = steady();
    let before = host.cc.cwnd();
    host.cc.on_mtu_change(MSS * 9);
    assert_eq!(host.cc.cwnd(), before, "larger than four packets still");
    host.time_out();
    assert_eq!(host.cc.cwnd(), MSS * 36);
    host.cc.on_mtu_change(Bytes::new(1));
    assert_eq!(host.cc.cwnd(), MSS * 36);
}

#[test]
fn receive_timestamps_make_up_for_one_acknowledgment_in_ten() {
    let mut thinned = host();
    (thinned.ack_every, thinned.timestamps) = (10, true);
    let mut each = host();
    let seen = [&mut each, &mut thinned].map(|host| {
        host.run_for(SECOND * 10);
        let seen = watch(host, SECOND * 10);
        (seen.used, host.cc.cwnd().as_f64() / 1000.0)
    });
    println!("{seen:?}");
    assert!(seen[1].0 > 0.98, "{seen:?}");
    // What comes in an acknowledgment must be in flight besides.
    assert!(seen[1].1 < seen[0].1 + 15.0, "{seen:?}");
}

#[test]
fn a_link_that_loses_a_twentieth_at_random_is_used() {
    let mut host = host();
    let mut state = 1_u64;
    for number in 0..50_000 {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        if (state >> 33).is_multiple_of(20) {
            host.lose.push(number);
        }
    }
    host.run_for(SECOND * 5);
    let seen = watch(&mut host, SECOND * 15);
    println!("{} of the link, {}", seen.used, seen.queueing);
    assert!(seen.used > 0.9, "{}", seen.used);
}

#[test]
fn bursts_grow_with_the_rate_of_a_fast_path() {
    let burst = |rate| {
        let mut host = host_at(rate);
        host.rtt = MS;
        host.run_for(SECOND);
        host.cc.send_quantum()
    };
    assert_eq!(burst(Rate::from_mbps(2)), MSS * 2);
    let fast = burst(Rate::from_mbps(1_000));
    assert!(fast > MSS * 10 && fast < Bytes::new(65_536), "{fast}");
}

#[test]
fn a_policer_is_used_at_few_losses() {
    let mut host = host();
    host.rate = RATE.mul_f64(10.0);
    host.policer = Some((RATE, Bytes::new(50_000)));
    host.run_for(SECOND * 5);
    let (sent, losses) = (host.next_number(), host.losses);
    let seen = watch(&mut host, SECOND * 15);
    let lost = (host.losses - losses) as f64 / (host.next_number() - sent) as f64;
    println!("{} of the rate, {lost} lost", seen.used * 10.0);
    assert!(seen.used * 10.0 > 0.85, "{}", seen.used);
    assert!(lost < 0.15, "{lost}");
}

/// For a while others fill the queue up to twice the base RTT and empty it by half, as CUBIC does.
fn with_others(host: &mut Host, span: Duration) {
    let from = host.now;
    while host.now.since(from) < span {
        let periods = host.now.since(from).ratio(SECOND * 8);
        host.fill(RTT + RTT.mul_f64(periods.fract()));
        assert!(host.step());
    }
}

#[test]
fn it_competes_where_drains_fail_and_the_buffer_overflows_and_until_others_leave() {
    let mut host = steady();
    host.buffer = Some(RATE.volume_in(RTT * 2));
    with_others(&mut host, SECOND * 40);
    // It may be looking whether the others have left.
    while host.phase() == "Drain" {
        with_others(&mut host, MS);
    }
    assert_eq!(host.phase(), "Compete");
    host.run_for(SECOND * 10);
    let seen = watch(&mut host, SECOND * 5);
    assert_eq!(host.phase(), "Steady");
    assert!(seen.queueing < RTT.div(4), "{}", seen.queueing);
    assert!(seen.used > 0.95, "{}", seen.used);
}

#[test]
fn it_does_not_compete_where_nothing_is_lost() {
    let mut host = steady();
    for _ in 0..10 {
        with_others(&mut host, SECOND * 8);
        assert_ne!(host.phase(), "Compete");
    }
}
