//! The parts against values worked by hand, and each transition.

use super::sharing::{Drained, Evidence};
use super::*;

const T: Duration = Duration::from_millis(40);

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

fn ebb2() -> Ebb2 {
    Ebb2::new(&Config::default(), Tuning::DEFAULT)
}

#[test]
fn a_phase_leads_to_those_of_the_diagram_alone() {
    use Phase::{Drain, Own, Probe, Shared, Startup};
    let all = [Startup, Drain, Own, Probe, Shared];
    let drawn = [
        (Startup, Drain),
        (Drain, Own),
        (Drain, Shared),
        (Own, Drain),
        (Own, Shared),
        (Shared, Probe),
        (Probe, Shared),
        (Probe, Own),
    ];
    for from in all {
        for to in all {
            assert_eq!(
                from.may_lead_to(to),
                drawn.contains(&(from, to)),
                "{from:?} to {to:?}"
            );
        }
    }
}

#[test]
fn the_margin_rests_where_the_wanted_share_stays_unused() {
    let tuning = Tuning::DEFAULT;
    let step = |unused: f64| {
        let mut margin = Margin::default();
        margin.on_arrival(&tuning, 0.0, 1e4, 1e5);
        let before = margin.share();
        margin.on_arrival(&tuning, 1000.0, unused, 1e5);
        margin.share() - before
    };
    // ε/(1 − ε) of what arrives.
    let balance = 1000.0 * 0.05 / 0.95;
    assert!(step(balance).abs() < 1e-12);
    // κ (unused − ε (arrived + unused)) / W
    close(step(500.0), 0.07 * (500.0 - 0.05 * 1500.0) / 1e5);
}

#[test]
fn a_margin_that_losses_made_comes_back_as_it_would_sink() {
    let tuning = Tuning::DEFAULT;
    let mut margin = Margin::default();
    // The first loss: ℓ = 1e5 / (1e5 + 4e5) = 0.2, of which 0.02 are tolerated.
    margin.on_loss(&tuning, 1e5, true, 1e5);
    close(margin.lost(), 0.2);
    close(margin.share(), -0.07 * 2.0 * 0.9);
    // Policed: idle time counts for nothing.
    margin.on_arrival(&tuning, 1000.0, 1e4, 1e5);
    close(margin.share(), -0.126);
    // ℓ = 0.2 · (1 − 1e6 / 1.4e6) = 0.057
    margin.on_delivered(&tuning, 1e6, 1e5);
    margin.on_arrival(&tuning, 1000.0, 0.0, 1e5);
    close(margin.share(), -0.126 + 0.07 * 0.05 * 1000.0 / 1e5);
}

#[test]
fn a_link_is_calm_without_margin_and_losses() {
    let tuning = Tuning::DEFAULT;
    let mut margin = Margin::default();
    close(margin.calm(&tuning), 1.0);
    // δ = 0.07 · 0.95 · 1e5 / 1e5 = 0.0665 of 0.1
    margin.on_arrival(&tuning, 0.0, 1e5, 1e5);
    close(margin.calm(&tuning), 1.0 - 0.665);
}

#[test]
fn shared_the_window_is_held_by_the_best_rate() {
    let mut ebb = ebb2();
    // 1 MB/s · 40 ms = 40 kB
    ebb.best_rate.update(0, Rate::from_bytes_per_sec(1_000_000));
    close(ebb.envelope(T), 0.0);
    ebb.phase = Phase::Shared;
    close(ebb.envelope(T), 1.6 * 4e4 + 5.0 * libm::sqrt(4e4 * 1200.0));
}

fn drained(queueing_ms: u64) -> Drained {
    Drained {
        queueing: MS * queueing_ms,
        explained: Duration::ZERO,
        busy: true,
    }
}

#[test]
fn two_drains_that_leave_a_queue_say_that_the_link_is_shared() {
    let t = Tuning::DEFAULT;
    let mut evidence = Evidence::default();
    assert!(!evidence.against_own(&t, &drained(30), T));
    // T/16 + 5 ms are not exceeded: takes one back.
    assert!(!evidence.against_own(&t, &drained(7), T));
    assert!(!evidence.any());
    assert!(!evidence.against_own(&t, &drained(8), T));
    assert!(evidence.against_own(&t, &drained(8), T));
    // One that was cut short, or of a link that idles, shows nothing.
    let mut evidence = Evidence::default();
    for _ in 0..5 {
        let short = Drained {
            busy: false,
            ..drained(30)
        };
        assert!(!evidence.against_own(&t, &short, T));
    }
}

#[test]
fn two_drains_in_a_row_that_empty_the_queue_say_that_it_is_not() {
    let t = Tuning::DEFAULT;
    let mut evidence = Evidence::default();
    evidence.restart(T);
    assert!(!evidence.against_shared(&t, &drained(1), T));
    assert!(!evidence.against_shared(&t, &drained(20), T));
    assert!(!evidence.against_shared(&t, &drained(1), T));
    assert!(evidence.against_shared(&t, &drained(5), T));
    // The least RTT since is what counts: T may have grown with others' queue.
    evidence.restart(T);
    assert!(!evidence.against_shared(&t, &drained(0), T * 2));
    assert!(!evidence.against_shared(&t, &drained(0), T * 2));
}

#[test]
fn a_flow_that_starves_takes_the_link_for_shared() {
    let mut ebb = ebb2();
    ebb.phase = Phase::Own;
    let at = |round: u64| Time::ZERO + T * round;
    ebb.cwnd = 1e5;
    assert!(!ebb.starves(at(0), Duration::ZERO, T));
    ebb.cwnd = 2e4;
    for round in 1..8 {
        assert!(!ebb.starves(at(round), MS * 40, T));
    }
    assert!(ebb.starves(at(8), MS * 40, T));
    ebb.believe(Phase::Shared, at(8), T);
    assert_eq!(ebb.snapshot().phase, "Shared");
}

#[test]
fn a_queue_that_overflows_starves_a_flow_though_it_is_short() {
    let starves = |lost: f64| {
        let mut ebb = ebb2();
        ebb.phase = Phase::Own;
        ebb.cwnd = 1e5;
        assert!(!ebb.starves(Time::ZERO, Duration::ZERO, T));
        ebb.margin.on_loss(&Tuning::DEFAULT, lost, true, ebb.cwnd);
        ebb.cwnd = 2e4;
        // 7 ms are a queue, and less than T/2.
        (1..=8).fold(false, |_, round| {
            ebb.starves(Time::ZERO + T * round, MS * 7, T)
        })
    };
    // ℓ = 1e4 / (1e4 + 4e5) = 0.024, and 5e3 / (5e3 + 4e5) = 0.012
    assert!(starves(1e4));
    assert!(!starves(5e3));
}

#[test]
fn a_flow_that_turns_to_shared_takes_back_what_it_yielded() {
    let mut ebb = ebb2();
    ebb.phase = Phase::Own;
    ebb.cwnd = 1e4;
    ebb.best_rate.update(0, Rate::from_bytes_per_sec(1_000_000));
    ebb.round.on_arrival(MS * 30);
    ebb.round.end(Time::ZERO, ebb.cwnd);
    ebb.believe(Phase::Shared, Time::ZERO, T);
    // 1 MB/s · 40 ms = 40 kB; T is 40 + 30 ms from now on.
    close(ebb.cwnd, 1.6 * 4e4 + 5.0 * libm::sqrt(4e4 * 1200.0));
    assert_eq!(ebb.min_rtt(), Some(MS * 70));
    // ℓ = 1e4 / (1e4 + 4e5) = 0.0244 of 0.07; then far more than that.
    ebb.margin.on_loss(&ebb.tuning, 1e4, true, 1e5);
    let left = 1.0 - (1e4 / 4.1e5 / 0.07_f64).powi(2);
    assert_eq!(ebb.min_rtt(), Some(T + (MS * 30).mul_f64(left)));
    ebb.margin.on_loss(&ebb.tuning, 1e5, true, 1e5);
    assert_eq!(ebb.min_rtt(), Some(T));
}

#[test]
fn beside_others_the_least_rtt_of_two_probes_is_t() {
    let mut ebb = ebb2();
    ebb.phase = Phase::Shared;
    let t = ebb.tuning;
    let mut at = Time::ZERO;
    let mut rtt = |ebb: &mut Ebb2, ms: u64| {
        at += SECOND * 20;
        ebb.path.on_rtt(&t, at, MS * ms, false);
        ebb.min_rtt()
    };
    assert_eq!(rtt(&mut ebb, 50), Some(MS * 50));
    // No time ends a span.
    assert_eq!(rtt(&mut ebb, 90), Some(MS * 50));
    ebb.cwnd = 1e5;
    ebb.begin_drain(Time::ZERO, MS * 50);
    close(ebb.cwnd, 2e4);
    assert_eq!(rtt(&mut ebb, 80), Some(MS * 50));
    ebb.end_drain(Time::ZERO, MS * 50);
    close(ebb.cwnd, 1e5);
    ebb.begin_drain(Time::ZERO, MS * 50);
    assert_eq!(rtt(&mut ebb, 120), Some(MS * 80));
}

#[test]
fn an_application_may_send_twice_what_met_no_queue_for_ten_seconds() {
    let mut ebb = ebb2();
    ebb.phase = Phase::Own;
    let mut round = |seconds: u64, app_limited: bool, queueing: Duration| {
        ebb.round.on_limit(app_limited);
        ebb.round.on_arrival(queueing);
        ebb.round.on_inflight(3e4);
        ebb.end_round(Time::ZERO + SECOND * seconds, T);
        ebb.allowance()
    };
    close(round(0, false, Duration::ZERO), 0.0);
    close(round(1, true, MS * 10), 0.0);
    close(round(2, true, MS), 6e4);
    close(round(11, false, MS), 6e4);
    close(round(13, false, MS), 0.0);
}

#[test]
fn a_queue_that_does_not_move_while_the_window_halves_is_the_paths() {
    let t = Tuning::DEFAULT;
    let mut step = Step::default();
    let mut round = |cwnd: f64, queueing: u64| step.on_round(&t, cwnd, 4e3, MS * queueing, T);
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
