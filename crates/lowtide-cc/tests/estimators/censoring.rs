//! Estimates of a capacity whose measurements are cut at the sending rate: what the Tobit filter
//! corrects, what its learnt noise costs, and what its bounds are for. `docs/estimators.md` has
//! the same experiments with more runs.

use crate::censored_link::{
    CAPACITY, Kind, NOISE, Normal, SLOW, UNBOUNDED, pacing_itself, summary, tracking,
};
use lowtide_cc::estimators::{Adaptation, TobitKalman};

const RUNS: u64 = 20;
/// Half runs of 2000 estimates that are independent every ten or so: the mean of 20 has a standard
/// error near 0.005.
const STATISTICAL: f64 = 0.02;

#[test]
fn known_noise_the_tobit_filter_is_unbiased_where_the_plain_one_settles_too_low() {
    // E[min(S, 10 + v)] = 10 − L(S − 10), L the unit loss: what a plain average must find.
    let cut = lowtide_cc::estimators::normal::loss;
    for sending_rate in [12.5, 10.0, 9.0] {
        let (plain, ..) = summary(Kind::PlainKnown, sending_rate, RUNS);
        let (tobit, deviation, _) = summary(Kind::TobitKnown, sending_rate, RUNS);
        let expected = CAPACITY - cut(sending_rate - CAPACITY);
        assert!((plain - expected).abs() < STATISTICAL, "{plain} {expected}");
        // Up to 0.04 of bias is left at S = 9: the filter takes the ceiling's effect for linear.
        assert!((tobit - CAPACITY).abs() < 0.04 + STATISTICAL, "{tobit}");
        assert!(deviation < 0.3);
    }
    let lost = CAPACITY - summary(Kind::PlainKnown, 9.0, 1).0;
    assert!(lost > 1.0, "visibly biased: {lost}");
}

#[test]
fn learnt_noise_costs_part_of_the_correction_but_the_estimate_stays() {
    // S, least and greatest mean. Between what a plain filter finds (9.60, 8.92) and the truth.
    for (sending_rate, least, greatest) in
        [(12.5, 9.97, 10.03), (10.0, 9.75, 10.0), (9.0, 9.08, 10.0)]
    {
        let kind = Kind::TobitLearning(SLOW);
        let (mean, deviation, furthest) = summary(kind, sending_rate, RUNS);
        assert!(
            (least..greatest).contains(&mean),
            "S {sending_rate}: {mean}"
        );
        assert!(deviation < 0.45, "S {sending_rate}: ± {deviation}");
        assert!(furthest < 5.0, "S {sending_rate}: {furthest} away");
    }
}

#[test]
fn without_bounds_learnt_noise_fails_under_censoring() {
    // Above the capacity the equations need no bounds.
    let (mean, ..) = summary(Kind::TobitLearning(UNBOUNDED), 12.5, RUNS);
    assert!((mean - CAPACITY).abs() < STATISTICAL);
    // At it R vanishes, the gain becomes 1, and every measurement is the estimate, as cut.
    let (mean, deviation, _) = summary(Kind::TobitLearning(UNBOUNDED), 10.0, RUNS);
    assert!(mean < 9.65 && deviation > 0.5, "{mean} ± {deviation}");
    // Far below it the estimate runs away.
    let (mean, ..) = summary(Kind::TobitLearning(UNBOUNDED), 8.0, RUNS);
    assert!(mean > 12.0, "{mean}");
}

#[test]
fn paced_by_its_own_estimate_the_tobit_filter_keeps_the_rate_and_the_plain_one_sinks() {
    let tobit = Kind::TobitLearning(SLOW);
    // Movement of the capacity in a step, largest root mean square error.
    for (walk, largest) in [(0.0, 0.04), (0.01, 0.06), (0.03, 0.12)] {
        let (mean, rms, _) = tracking(tobit, walk, 1.0, RUNS);
        assert!(
            mean.abs() < 0.03 && rms < largest,
            "walk {walk}: {mean} {rms}"
        );
        let (mean, ..) = tracking(Kind::PlainLearning, walk, 1.0, RUNS);
        assert!(mean < -0.2, "walk {walk}: {mean}");
    }
    // The lower bound of Q is what lets it follow: learnt freely, Q falls asleep.
    let (_, asleep, _) = tracking(Kind::TobitLearning(UNBOUNDED), 0.03, 1.0, RUNS);
    assert!(asleep > 0.3, "{asleep}");
    // No run leaves the capacities that there were (3.3 to 30) by much.
    for seed in 0..RUNS {
        for (_, estimate) in pacing_itself(tobit, 0.03, 1.0, seed) {
            assert!((2.0..40.0).contains(&estimate), "{estimate}");
        }
    }
}

#[test]
fn long_silence_at_the_ceiling_neither_carries_the_estimate_away_nor_makes_it_jump() {
    for mut filter in [
        TobitKalman::new(10.0, NOISE, Adaptation::DEFAULT),
        TobitKalman::with_known_noise(10.0, NOISE),
    ] {
        for _ in 0..100_000 {
            filter.update(10.0, 10.0);
        }
        // A measurement at the ceiling only says that the capacity is above: the estimate rises
        // ever more slowly.
        let risen = filter.state();
        assert!((10.5..15.0).contains(&risen), "{risen}");
        let dropped = filter.update(9.0, 10.0);
        assert!((9.0..risen).contains(&dropped), "{dropped}");
        for _ in 0..300 {
            filter.update(9.0, 20.0);
        }
        assert!((filter.state() - 9.0).abs() < 0.05, "{}", filter.state());
    }
}

#[test]
fn a_filter_that_learns_is_never_less_sure_than_its_whole_state() {
    let mut filter = TobitKalman::new(10.0, NOISE, Adaptation::DEFAULT);
    for _ in 0..100_000 {
        filter.predict();
    }
    assert_eq!(filter.belief().variance, 100.0);
}

#[test]
fn a_reset_moves_the_state_with_the_certainty_of_one_measurement() {
    let mut filter = TobitKalman::new(10.0, NOISE, Adaptation::DEFAULT);
    let mut noise = Normal::new(3);
    for _ in 0..200 {
        filter.update(10.0 + noise.next(), 12.5);
    }
    let learnt = filter.belief().measurement_noise;
    filter.reset(9.0);
    assert_eq!(filter.state(), 9.0);
    assert_eq!(
        filter.belief().measurement_noise,
        learnt,
        "what was learnt stays"
    );
    assert_eq!(filter.belief().variance, learnt);
    filter.update(10.0, f64::INFINITY);
    assert!(
        (0.5..0.55).contains(&filter.belief().gain),
        "{}",
        filter.belief().gain
    );
    // To a hundredth: the noise is cut to the new scale, and the next measurements count.
    filter.reset(0.1);
    assert!(filter.belief().measurement_noise.sqrt() <= 0.1 + 1e-12);
    for _ in 0..20 {
        filter.update(0.2, f64::INFINITY);
    }
    assert!((filter.state() - 0.2).abs() < 0.02, "{}", filter.state());
}
