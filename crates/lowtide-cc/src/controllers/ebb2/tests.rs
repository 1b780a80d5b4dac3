use super::hold::{Drained, Hold, Outcome};
use super::step::Step;
use crate::units::{Bytes, Duration, Time};

const T: Duration = Duration::from_millis(40);
const MS: Duration = Duration::from_millis(1);

fn drained(queueing_ms: u64, share: Option<f64>) -> Drained {
    Drained {
        queueing: MS * queueing_ms,
        explained: Duration::ZERO,
        share,
        busy: true,
        timed: true,
    }
}

fn held() -> Hold {
    let mut hold = Hold::new();
    assert_eq!(hold.on_drained(&drained(30, Some(0.2)), T), Outcome::Same);
    assert!(hold.is_suspected() && !hold.is_on());
    assert_eq!(
        hold.on_drained(&drained(30, Some(0.2)), T),
        Outcome::Changed
    );
    assert!(hold.is_on());
    hold
}

#[test]
fn two_drains_that_leave_others_queue_begin_the_hold_and_two_that_empty_it_end_it() {
    let mut hold = held();
    assert_eq!(hold.on_drained(&drained(1, None), T), Outcome::Same);
    assert_eq!(hold.on_drained(&drained(20, None), T), Outcome::Same);
    assert_eq!(hold.on_drained(&drained(1, None), T), Outcome::Same);
    assert_eq!(hold.on_drained(&drained(2, None), T), Outcome::Changed);
    assert!(!hold.is_suspected());
}

#[test]
fn a_queue_that_falls_as_the_cut_explains_is_the_flows_own() {
    let mut hold = Hold::new();
    for _ in 0..10 {
        hold.on_drained(&drained(30, Some(0.9)), T);
    }
    assert!(!hold.is_suspected());
}

#[test]
fn drains_that_only_follow_others_do_not_end_the_hold() {
    let mut hold = held();
    for _ in 0..10 {
        let joined = Drained {
            timed: false,
            ..drained(0, None)
        };
        hold.on_drained(&joined, T);
    }
    assert!(hold.is_on());
}

#[test]
fn drains_that_leave_one_rtt_have_found_a_longer_path() {
    let mut hold = held();
    for _ in 0..3 {
        assert_eq!(hold.on_drained(&drained(60, None), T), Outcome::Same);
    }
    assert_eq!(hold.on_drained(&drained(60, None), T), Outcome::Longer);
    assert!(!hold.is_on());
}

#[test]
fn a_flow_that_starves_holds_and_one_that_falls_without_a_queue_does_not() {
    let at = |round: u64| Time::from_nanos((MS * 40 * round).as_nanos());
    let mut hold = Hold::new();
    assert!(!hold.on_round(at(0), Bytes::new(100_000), Duration::ZERO, T));
    for round in 1..20 {
        assert!(!hold.on_round(at(round), Bytes::new(20_000), MS * 10, T));
    }
    for round in 20..27 {
        assert!(!hold.on_round(at(round), Bytes::new(20_000), MS * 40, T));
    }
    assert!(hold.on_round(at(27), Bytes::new(20_000), MS * 40, T));
    assert!(hold.is_on());
}

#[test]
fn a_queue_that_does_not_move_while_the_window_halves_is_the_paths() {
    let mut step = Step::default();
    let mut round = |cwnd: f64, queueing: u64| step.on_round(cwnd, 4e3, MS * queueing, T);
    assert!(!round(1e5, 20));
    assert!(!round(6e4, 20));
    assert!(!round(5e4, 20));
    assert!(!round(4e4, 21));
    assert!(round(3e4, 20));
    // One that falls with the window is the flow's own.
    assert!(!round(1e5, 40));
    for cwnd in [5e4, 4e4, 3e4, 2e4] {
        assert!(!round(cwnd, (cwnd / 2500.0) as u64));
    }
}
