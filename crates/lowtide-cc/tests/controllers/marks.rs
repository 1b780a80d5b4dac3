//! What each controller does when the path marks a packet (ECN-CE).

use lowtide_cc::units::{Duration, Rate};
use lowtide_cc::{Ecn, registry};

use crate::host::Host;

/// A flow that has left slow start on 20 Mbit/s, 40 ms, with a buffer of one BDP.
fn steady(spec: &str) -> Host {
    let rate = Rate::from_mbps(20);
    let rtt = Duration::from_millis(40);
    let mut host = Host::of(spec, rate, rtt);
    host.buffer = Some(rate.volume_in(rtt));
    host.run_for(Duration::from_secs(9));
    // Not in the middle of a recovery.
    while host.cc.snapshot().in_recovery {
        host.step();
    }
    host
}

/// The part of the window that is left once a mark has been answered.
fn left_by_a_mark(spec: &str) -> f64 {
    let mut host = steady(spec);
    let before = host.cc.cwnd().as_f64();
    host.cc.on_ecn_ce(host.now, host.now, 1);
    // The acknowledgment that brought it follows.
    host.run_for(Duration::from_millis(2));
    host.cc.cwnd().as_f64() / before
}

#[test]
fn a_mark_takes_of_the_window_what_the_controllers_source_says() {
    for (spec, expected) in [
        ("newreno", 0.5),
        ("newreno:abe=true", 0.8),
        ("cubic", 0.7),
        ("cubic:abe=true", 0.85),
        ("vegas", 0.5),
        ("compound", 0.5),
    ] {
        let left = left_by_a_mark(spec);
        assert!((left - expected).abs() < 0.01, "{spec}: {left}");
    }
    // The first mark counts as if all were marked, of which its round may already have taken a sixteenth.
    let left = left_by_a_mark("prague");
    assert!((0.5..0.54).contains(&left), "prague: {left}");
}

#[test]
fn whoever_asks_for_ecn_slows_down_where_everything_is_marked_and_others_do_not_ask() {
    for entry in registry::all() {
        let mut host = steady(entry.name);
        let before = host.cc.cwnd();
        host.marks = true;
        host.run_for(Duration::from_secs(2));
        let is_slower = host.cc.cwnd().as_f64() < 0.6 * before.as_f64();
        let asks = host.cc.ecn() != Ecn::NotEct;
        assert!(
            !asks || is_slower,
            "{}: {} {before}",
            entry.name,
            host.cc.cwnd()
        );
    }
}
