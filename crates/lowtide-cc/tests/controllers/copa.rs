//! Copa over the small host.

use super::host::{Host, MSS};
use lowtide_cc::units::{Duration, Rate};

/// 2 packets a millisecond; 101 packets in flight keep the link busy.
const RATE: Rate = Rate::from_mbps(16);
const RTT: Duration = Duration::from_millis(50);
const BUSY: f64 = 101.0;

fn host(spec: &str) -> Host {
    Host::of(spec, RATE, RTT)
}

#[test]
fn in_balance_it_queues_1_25_over_delta_packets_and_empties_the_queue_every_five_rounds() {
    for (spec, queued) in [
        ("copa:mode=default", 2.5),
        ("copa", 2.5),
        ("copa:mode=default,delta=0.1", 12.5),
    ] {
        let mut host = host(spec);
        host.run_for(Duration::from_secs(20));
        let (from, sent) = (host.now, host.next_number());
        let (mut sum, mut span) = (0.0, 0.0);
        let (mut emptied_at, mut longest) = (from, Duration::ZERO);
        while host.now.since(from) < Duration::from_secs(10) {
            let (before, inflight) = (host.now, host.inflight());
            assert!(host.step());
            let lasted = host.now.since(before).as_secs_f64();
            sum += inflight.as_f64() / 1000.0 * lasted;
            span += lasted;
            if inflight.as_f64() / 1000.0 <= BUSY {
                emptied_at = host.now;
            }
            longest = longest.max(host.now.since(emptied_at));
        }
        let mean = sum / span - BUSY;
        assert!((mean / queued - 1.0).abs() < 0.4, "{spec}: {mean}");
        let used = (host.next_number() - sent) as f64 / 20_000.0;
        assert!(used > 0.98, "{spec}: {used}");
        assert!(longest < RTT * 6, "{spec}: {longest} with a queue");
    }
}

#[test]
fn slow_start_doubles_and_ends_when_the_queue_tells() {
    let mut host = host("copa");
    // The first round tells less: its acknowledgments come faster than packets are paced.
    host.run_for(RTT * 3);
    let before = host.cc.cwnd();
    host.run_for(RTT);
    let grown = host.cc.cwnd().as_f64() / before.as_f64();
    assert!((1.9..2.1).contains(&grown), "{grown}");
    host.run_until(|h| h.phase() == "Default");
    let packets = host.cc.cwnd().as_f64() / 1000.0;
    assert!((BUSY..BUSY * 2.2).contains(&packets), "{packets}");
}

#[test]
fn a_rate_that_halves_and_doubles_again_is_followed_at_an_accelerating_pace() {
    let mut host = host("copa:mode=default");
    host.run_for(Duration::from_secs(5));
    host.rate = Rate::from_mbps(8);
    host.run_for(Duration::from_secs(3));
    let slow = host.cc.cwnd().as_f64() / 1000.0;
    assert!((48.0..70.0).contains(&slow), "{slow}");
    host.rate = RATE;
    // At 2 packets a round trip the 50 missing packets would take 1.25 s.
    host.run_for(Duration::from_millis(900));
    let fast = host.cc.cwnd().as_f64() / 1000.0;
    assert!(fast > BUSY - 3.0, "{fast}");
}

#[test]
fn a_timeout_leaves_one_packet_and_slow_start_and_is_undone_when_spurious() {
    let mut host = host("copa");
    host.run_for(Duration::from_secs(5));
    let before = host.cc.cwnd();
    host.time_out();
    assert_eq!((host.cc.cwnd(), host.phase()), (MSS, "SlowStart"));
    host.step();
    host.time_out();
    host.cc.on_spurious_timeout(host.now);
    assert_eq!((host.cc.cwnd(), host.phase()), (before, "Default"));
}

#[test]
fn a_source_slower_than_the_link_does_not_make_the_window_grow() {
    let mut host = host("copa");
    host.run_for(Duration::from_secs(5));
    let before = host.cc.cwnd();
    for _ in 0..100 {
        host.data = Some(10);
        while host.step() {}
        host.now += Duration::from_millis(20);
    }
    assert!(host.cc.cwnd() <= before + MSS, "{}", host.cc.cwnd());
}
