//! The estimators against values computed independently, in 60 digits or exact fractions, by
//! `values/estimators.py`.

use lowtide_cc::estimators::normal::{self, TobitTerms};
use lowtide_cc::estimators::{
    Adaptation, AdaptiveKalman, ArrivalForecast, Noise, NoiseBounds, SlopeFit, TobitKalman,
};
use lowtide_cc::units::{Bytes, Duration, Time};

const TOLERANCE: f64 = 1e-9;

/// Rows of a reference file: the first column and the rest as numbers.
fn rows(file: &'static str) -> impl Iterator<Item = (&'static str, Vec<f64>)> {
    file.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut columns = line.split('\t');
            let name = columns.next().expect("a column");
            let rest = columns.map(|c| c.parse().expect("a number")).collect();
            (name, rest)
        })
}

/// Asserts that `got` is `expected` up to 1e-9 of it or of `scale`.
fn close(got: f64, expected: f64, scale: f64, what: &str) {
    let error = (got - expected).abs();
    assert!(
        error <= TOLERANCE * expected.abs().max(scale),
        "{what}: {got:e}, expected {expected:e}"
    );
}

#[test]
fn normal_and_tobit_terms_are_right_from_the_centre_to_the_tails() {
    // Beyond |η| = 37.5 densities and tail probabilities lose digits on their way to zero.
    const SUBNORMAL: f64 = 1e-300;
    let mut checked = 0;
    for (eta, expected) in rows(include_str!("values/normal.tsv")) {
        let eta: f64 = eta.parse().unwrap();
        let [pdf, cdf, loss, factor] = expected[..] else {
            panic!("four columns")
        };
        let terms = TobitTerms::at(eta);
        let tiny = SUBNORMAL / TOLERANCE;
        close(normal::pdf(eta), pdf, tiny, &format!("φ({eta})"));
        close(normal::cdf(eta), cdf, tiny, &format!("Φ({eta})"));
        close(terms.uncensored, cdf, tiny, &format!("P({eta})"));
        close(normal::loss(eta), loss, tiny, &format!("L({eta})"));
        close(terms.variance_factor, factor, 0.0, &format!("1 − ð({eta})"));
        checked += 1;
    }
    assert!(checked > 500);
}

#[test]
fn beyond_the_tails_the_terms_are_their_limits() {
    for eta in [-41.0, -1e3, -1e100, -1e200, f64::MIN, f64::NEG_INFINITY] {
        let terms = TobitTerms::at(eta);
        let depth = -eta.max(f64::MIN);
        assert_eq!(terms.uncensored, 0.0);
        let factor = terms.variance_factor;
        assert!(factor > 0.0 && factor <= 1.0 / depth / depth + f64::MIN_POSITIVE);
    }
    for eta in [41.0, 1e3, 1e200, f64::MAX, f64::INFINITY] {
        let terms = TobitTerms::at(eta);
        assert_eq!((terms.uncensored, terms.variance_factor), (1.0, 1.0));
        assert_eq!(normal::loss(eta), 0.0);
    }
}

#[test]
fn the_adaptive_kalman_filter_follows_its_equations() {
    let mut filter: Option<AdaptiveKalman> = None;
    for (name, v) in rows(include_str!("values/kalman.tsv")) {
        if name == "new" {
            let noise = Noise {
                state_variance: v[1],
                process: v[2],
                measurement: v[3],
            };
            filter = Some(AdaptiveKalman::new(v[0], noise, v[4]));
            continue;
        }
        let filter = filter.as_mut().unwrap();
        let state = filter.update(v[0]);
        assert_eq!(state, filter.state());
        // A difference of two large numbers is as exact as these.
        let scale = v[1].abs();
        close(state, v[1], 0.0, "state");
        let belief = filter.belief();
        close(belief.gain, v[2], 0.0, "gain");
        close(belief.innovation, v[3], scale * 1e-3, "innovation");
        close(belief.variance, v[4], 0.0, "variance");
        close(belief.process_noise, v[5], 0.0, "Q");
        close(belief.measurement_noise, v[6], 0.0, "R");
    }
}

#[test]
fn the_tobit_kalman_filter_follows_its_equations_at_every_depth_of_censoring() {
    let mut filter: Option<TobitKalman> = None;
    let mut line = 1;
    for (name, v) in rows(include_str!("values/tobit.tsv")) {
        line += 1;
        let noise = || Noise {
            state_variance: v[1],
            process: v[2],
            measurement: v[3],
        };
        if name == "known" {
            filter = Some(TobitKalman::with_known_noise(v[0], noise()));
            continue;
        }
        if name == "learn" {
            let adaptation = Adaptation {
                forgetting: v[4],
                window: v[5] as usize,
            };
            let bounds = NoiseBounds {
                process: (v[6], v[7]),
                measurement: (v[8], v[9]),
            };
            filter = Some(TobitKalman::with_bounds(v[0], noise(), adaptation, bounds));
            continue;
        }
        let filter = filter.as_mut().unwrap();
        match name {
            "update" => assert_eq!(filter.update(v[0], v[1]), filter.state()),
            "predict" => filter.predict(),
            "reset" => filter.reset(v[0]),
            _ => panic!("{name}"),
        }
        let check = |got: f64, expected: f64, scale: f64, what: &str| {
            close(got, expected, scale, &format!("line {line}, {what}"));
        };
        let (deviation, belief) = (v[8].sqrt(), filter.belief());
        check(belief.state, v[2], 0.0, "state");
        check(belief.variance, v[3], 0.0, "Ψ");
        check(belief.process_noise, v[4], 0.0, "Q");
        check(belief.measurement_noise, v[5], 0.0, "R");
        check(belief.gain, v[6], 1e-290, "gain");
        check(belief.innovation, v[7], deviation * 1e-3, "innovation");
        check(filter.spread(), v[9], 0.0, "spread");
    }
    assert!(line > 1000);
}

#[test]
fn the_slope_is_exact_for_clocks_far_from_zero() {
    let mut fit = SlopeFit::default();
    let mut checked = 0;
    // Nanoseconds do not fit into floats here.
    for line in include_str!("values/slope.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let integer = |n: usize| columns[n].parse::<u64>().unwrap();
        match columns[0] {
            "new" => fit = SlopeFit::default(),
            "push" => fit.push(
                Time::from_nanos(integer(1)),
                Duration::from_nanos(integer(2)),
                Bytes::new(integer(3)),
            ),
            "fit" => {
                let expected = columns[1].parse().unwrap();
                close(fit.slope().unwrap(), expected, 0.0, "slope");
                checked += 1;
            }
            _ => assert!(line.starts_with('#')),
        }
    }
    assert_eq!(checked, 5);
}

/// By `values/forecast.py`: steady arrivals, scattered ones, excused ticks, an outage, more than the range.
#[test]
fn the_forecast_of_arrivals_is_that_of_the_model_written_out_bin_by_bin() {
    let mut forecast = ArrivalForecast::new();
    let mut checked = 0;
    for (count, expected) in rows(include_str!("values/forecast.tsv")) {
        forecast.step(count.parse().ok());
        let (mean, quantiles) = (expected[0], &expected[1..]);
        // Its sums are taken in another order.
        assert!((forecast.mean() - mean).abs() < 1e-6, "{checked}: {mean}");
        for (n, quantile) in [0.05, 0.25, 0.5].into_iter().enumerate() {
            let arrivals = forecast.arrivals(quantile).map(f64::from);
            assert_eq!(
                arrivals,
                quantiles[8 * n..8 * n + 8],
                "{checked}: {quantile}"
            );
        }
        checked += 1;
    }
    assert_eq!(checked, 80);
}

#[test]
fn counting_in_twos_halves_the_rate_and_back_and_an_outage_stays_one() {
    let mut forecast = ArrivalForecast::new();
    for _ in 0..50 {
        forecast.step(Some(10));
    }
    let before = forecast.mean();
    forecast.count_in_twos();
    let mean = forecast.mean();
    assert!((mean / before - 0.5).abs() < 0.01, "{mean}");
    forecast.count_in_halves();
    let mean = forecast.mean();
    assert!((mean / before - 1.0).abs() < 0.02, "{mean}");
    for _ in 0..100 {
        forecast.step(Some(0));
    }
    let silent = forecast.arrivals(0.5);
    forecast.count_in_twos();
    assert_eq!((silent, forecast.arrivals(0.5)), ([0; 8], [0; 8]));
}
