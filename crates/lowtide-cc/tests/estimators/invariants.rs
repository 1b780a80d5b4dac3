//! What holds for every estimator on any input, and the edge cases of each.

use lowtide_cc::estimators::normal::{self, TobitTerms};
use lowtide_cc::estimators::{
    Adaptation, AdaptiveKalman, ArrivalForecast, Belief, Ewma, Noise, NoiseBounds, SlopeFit,
    TobitKalman, capacity,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use proptest::num::f64::ANY;
use proptest::prelude::*;

/// Any float at all, and often one of ordinary size.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        ANY,
        -20.0..20.0_f64,
        Just(0.0),
        Just(1e6),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
    ]
}

fn noise() -> impl Strategy<Value = Noise> {
    (number(), number(), number()).prop_map(|(state_variance, process, measurement)| Noise {
        state_variance,
        process,
        measurement,
    })
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Update(f64, f64),
    Predict,
    Reset(f64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (number(), number()).prop_map(|(c, s)| Step::Update(c, s)),
        2 => number().prop_map(|c| Step::Update(c, c)),
        1 => Just(Step::Predict),
        1 => number().prop_map(Step::Reset),
    ];
    prop::collection::vec(step, 0..200)
}

fn is_sane(b: &Belief) -> bool {
    let variances = [b.variance, b.process_noise, b.measurement_noise];
    variances.iter().all(|v| v.is_finite() && *v > 0.0)
        && b.state.is_finite()
        && b.innovation.is_finite()
        && (0.0..=1.0).contains(&b.gain)
}

proptest! {
    #[test]
    fn a_forecast_stays_within_its_range_and_never_falls_from_tick_to_tick_or_with_the_quantile(
        steps in prop::collection::vec((0_u8..8, any::<u32>()), 0..60)
    ) {
        let mut forecast = ArrivalForecast::new();
        for (kind, count) in steps {
            match kind {
                0 => forecast.count_in_twos(),
                1 => forecast.count_in_halves(),
                2 => forecast.step(None),
                3 => forecast.step(Some(count)),
                _ => forecast.step(Some(count % 40)),
            }
            let mean = forecast.mean();
            prop_assert!((0.0..=1002.0).contains(&mean), "{mean}");
            let arrivals = [0.0, 0.05, 0.5, 1.0, 2.0, f64::NAN].map(|q| forecast.arrivals(q));
            for one in arrivals {
                prop_assert!(one.is_sorted() && one[7] <= 8 * 29 + 1, "{one:?}");
            }
            for pair in arrivals[..5].windows(2) {
                prop_assert!(pair[0].iter().zip(&pair[1]).all(|(low, high)| low <= high));
            }
        }
    }
}

proptest! {
    #[test]
    fn the_tobit_filter_stays_finite(
        state in number(),
        noise in noise(),
        adaptation in (number(), any::<usize>()),
        bounds in prop::option::of([number(), number(), number(), number()]),
        known in any::<bool>(),
        steps in steps(),
    ) {
        let adaptation = Adaptation { forgetting: adaptation.0, window: adaptation.1 };
        let bounds = bounds.map_or(NoiseBounds::DEFAULT, |b| NoiseBounds {
            process: (b[0], b[1]),
            measurement: (b[2], b[3]),
        });
        let mut filter = if known {
            TobitKalman::with_known_noise(state, noise)
        } else {
            TobitKalman::with_bounds(state, noise, adaptation, bounds)
        };
        for step in steps {
            let before = filter.state();
            match step {
                Step::Update(c, s) => {
                    let x = filter.update(c, s);
                    if c.is_finite() && c.abs() < 1e100 {
                        // Never below both the old state and the measurement, but for rounding.
                        let least = before.min(c);
                        prop_assert!(x >= least - 1e-12 * least.abs().max(before.abs()));
                    } else if !c.is_finite() {
                        prop_assert_eq!(x, before);
                    }
                }
                Step::Predict => filter.predict(),
                Step::Reset(x) => filter.reset(x),
            }
            prop_assert!(is_sane(filter.belief()) && filter.spread().is_finite(), "{filter:?}");
        }
    }

    #[test]
    fn the_adaptive_filter_stays_finite_and_between_state_and_measurement(
        state in number(),
        noise in noise(),
        forgetting in number(),
        measurements in prop::collection::vec(number(), 0..200),
    ) {
        let mut filter = AdaptiveKalman::new(state, noise, forgetting);
        for y in measurements {
            let before = filter.state();
            let x = filter.update(y);
            prop_assert!(is_sane(filter.belief()), "{filter:?}");
            if y.is_finite() {
                let slack = 1e-12 * before.abs().max(x.abs());
                prop_assert!(x >= before.min(y).clamp(-1e100, 1e100) - slack);
                prop_assert!(x <= before.max(y).clamp(-1e100, 1e100) + slack);
            } else {
                prop_assert_eq!(x, before);
            }
        }
    }

    #[test]
    fn the_average_stays_among_its_samples(
        alpha in number(),
        samples in prop::collection::vec(number(), 0..100),
    ) {
        let mut average = Ewma::new(alpha);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for sample in samples {
            if sample.is_finite() {
                (least, greatest) = (least.min(sample), greatest.max(sample));
            }
            match average.update(sample) {
                Some(x) => {
                    let slack = 1e-12 * least.abs().max(greatest.abs());
                    prop_assert!(x.is_finite() && x >= least - slack && x <= greatest + slack);
                }
                None => prop_assert!(least > greatest, "no finite sample yet"),
            }
        }
    }

    #[test]
    fn normal_terms_are_finite_and_in_range(eta in ANY) {
        prop_assume!(!eta.is_nan());
        let terms = TobitTerms::at(eta);
        prop_assert!((0.0..=1.0).contains(&terms.uncensored));
        prop_assert!(terms.variance_factor > 0.0 && terms.variance_factor <= 1.0);
        prop_assert!(normal::loss(eta).is_finite() && normal::loss(eta) >= 0.0);
        prop_assert!(normal::pdf(eta) >= 0.0);
    }

    #[test]
    fn slopes_and_capacities_are_finite(
        packets in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..50),
        near in any::<bool>(),
    ) {
        let mut fit = SlopeFit::default();
        let mut times = Vec::new();
        for (t, tau, length) in packets {
            let t = if near { t % 3 } else { t };
            fit.push(Time::from_nanos(t), Duration::from_nanos(tau), Bytes::new(length));
            if length > 0 {
                times.push(t);
            }
        }
        times.sort_unstable();
        times.dedup();
        prop_assert_eq!(fit.slope().is_some(), times.len() >= 2);
        if let Some(slope) = fit.slope() {
            prop_assert!(slope.is_finite());
            prop_assert_eq!(capacity(Rate::MAX, slope).is_some(), 1.0 + slope > 0.0);
        }
    }
}

#[test]
fn a_capacity_follows_from_the_rate_and_the_slope() {
    let rate = Rate::from_bytes_per_sec;
    for (sent, slope, expected) in [
        (rate(1000), 0.0, Some(rate(1000))),  // no queue: censored
        (rate(1000), 0.25, Some(rate(800))),  // the queue grows
        (rate(1000), -0.5, Some(rate(2000))), // the queue empties
        (rate(1000), 1e300, Some(Rate::ZERO)),
        (Rate::MAX, -0.999, Some(Rate::MAX)), // saturates
        // Acknowledged all at once.
        (rate(1000), -1.0, None),
        (rate(1000), -3.0, None),
        (rate(1000), f64::NEG_INFINITY, None),
        (rate(1000), f64::NAN, None),
    ] {
        assert_eq!(capacity(sent, slope), expected, "{slope}");
    }
}

#[test]
fn packets_sent_at_one_time_have_no_slope() {
    let late = Time::from_nanos(1_000_000_000_000);
    // All at once; a burst of two and another.
    for (packets, slope) in [
        (&[(0, 40), (0, 41), (0, 49)][..], None),
        (&[(0, 40), (0, 41), (10, 45), (10, 46)], Some(0.5)),
    ] {
        let mut fit = SlopeFit::default();
        for (ms, tau) in packets {
            let sent_at = late + Duration::from_millis(*ms);
            fit.push(sent_at, Duration::from_millis(*tau), Bytes::new(1000));
        }
        assert_eq!(fit.slope(), slope);
    }
}

#[test]
fn the_adaptive_filter_wakes_up_after_a_million_equal_measurements() {
    let noise = Noise {
        state_variance: 1.0,
        process: 0.1,
        measurement: 1.0,
    };
    for forgetting in [0.0, 0.6, 0.95] {
        let mut filter = AdaptiveKalman::new(10.0, noise, forgetting);
        for _ in 0..1_000_000 {
            filter.update(10.0);
        }
        for _ in 0..100 {
            filter.update(20.0);
        }
        let state = filter.state();
        assert!((state - 20.0).abs() < 0.5, "α {forgetting}: {state}");
    }
}

#[test]
fn an_average_starts_with_its_first_sample_and_follows_eq_12() {
    let mut average = Ewma::new(0.25);
    assert_eq!((average.get(), average.update(f64::NAN)), (None, None));
    assert_eq!(average.update(10.0), Some(10.0));
    assert_eq!(average.update(18.0), Some(12.0)); // 0.25 · 18 + 0.75 · 10
    assert_eq!(average.update(f64::INFINITY), Some(12.0), "ignored");
    assert_eq!(average.update(4.0), Some(10.0)); // 0.25 · 4 + 0.75 · 12
    assert_eq!(average.get(), Some(10.0));
}
