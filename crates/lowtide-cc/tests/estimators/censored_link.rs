//! A link whose capacity is measured with noise and never above the sending rate. Shared by the
//! tests and the example that draws `docs/estimators.svg`.

use lowtide_cc::estimators::{Adaptation, Noise, NoiseBounds, TobitKalman};
use rand_core::{Rng as _, SeedableRng};
use rand_pcg::Pcg32;

/// The capacity around which everything here moves, in any unit.
pub(crate) const CAPACITY: f64 = 10.0;
/// Steps of a run; the first half is for convergence.
pub(crate) const STEPS: usize = 4000;
/// What all filters assume at first, and those with known noise throughout. The deviation of a
/// measurement is 1.
pub(crate) const NOISE: Noise = Noise {
    state_variance: 1.0,
    process: 0.01,
    measurement: 1.0,
};
/// BBR's pacing gains in ProbeBW, each for four steps.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const STEPS_A_GAIN: usize = 4;

/// Seeded normal variables.
pub(crate) struct Normal(Pcg32);

impl Normal {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn next(&mut self) -> f64 {
        let mut uniform = || (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0;
        let radius = libm::sqrt(-2.0 * libm::log(uniform()));
        radius * libm::cos(core::f64::consts::TAU * uniform())
    }
}

/// A filter under test, and whether it is told the ceiling.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Known noise; takes what was cut for a measurement like any other.
    PlainKnown,
    /// Learns its noise within the default bounds; takes what was cut for a measurement.
    PlainLearning,
    /// Known noise.
    TobitKnown,
    /// Learns its noise within bounds.
    TobitLearning(NoiseBounds),
}

impl Kind {
    pub(crate) fn filter(self) -> TobitKalman {
        let adaptation = Adaptation::DEFAULT;
        match self {
            Self::PlainKnown | Self::TobitKnown => TobitKalman::with_known_noise(CAPACITY, NOISE),
            Self::PlainLearning => TobitKalman::new(CAPACITY, NOISE, adaptation),
            Self::TobitLearning(bounds) => {
                TobitKalman::with_bounds(CAPACITY, NOISE, adaptation, bounds)
            }
        }
    }

    pub(crate) fn ceiling(self, sending_rate: f64) -> f64 {
        match self {
            Self::PlainKnown | Self::PlainLearning => f64::INFINITY,
            Self::TobitKnown | Self::TobitLearning(_) => sending_rate,
        }
    }
}

/// For a capacity that moves by a few percent a step; the defaults also follow a cellular link.
pub(crate) const SLOW: NoiseBounds = NoiseBounds {
    process: (0.01, 0.02),
    ..NoiseBounds::DEFAULT
};

/// The equations without bounds worth the name.
pub(crate) const UNBOUNDED: NoiseBounds = NoiseBounds {
    process: (1e-6, 1e6),
    measurement: (1e-6, 1e6),
};

/// Estimates of a constant capacity while the sender keeps to one rate.
pub(crate) fn at_constant_rate(kind: Kind, sending_rate: f64, seed: u64) -> Vec<f64> {
    let mut noise = Normal::new(seed);
    let mut filter = kind.filter();
    let ceiling = kind.ceiling(sending_rate);
    (0..STEPS)
        .map(|_| filter.update((CAPACITY + noise.next()).min(sending_rate), ceiling))
        .collect()
}

/// Capacities that wander by `walk` of themselves a step between a third and three times
/// [`CAPACITY`], and the estimates of a filter whose own estimate paces the sender, in BBR's cycle
/// of gains. `deviation` is that of a measurement.
pub(crate) fn pacing_itself(kind: Kind, walk: f64, deviation: f64, seed: u64) -> Vec<(f64, f64)> {
    let mut noise = Normal::new(seed);
    let mut filter = kind.filter();
    let mut logarithm = 0.0_f64;
    let span = libm::log(3.0);
    (0..STEPS)
        .map(|step| {
            logarithm += walk * noise.next();
            if logarithm.abs() > span {
                logarithm = 2.0 * span.copysign(logarithm) - logarithm;
            }
            let capacity = CAPACITY * libm::exp(logarithm);
            let gain = GAINS[step / STEPS_A_GAIN % GAINS.len()];
            let sending_rate = gain * filter.state().max(CAPACITY / 100.0);
            let measurement = (capacity + deviation * noise.next()).min(sending_rate);
            filter.update(measurement, kind.ceiling(sending_rate));
            (capacity, filter.state())
        })
        .collect()
}

/// Mean and standard deviation.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, libm::sqrt(variance))
}

/// Over the second half of each of `runs` runs: mean estimate, mean deviation within a run, and
/// the largest distance of any estimate from the capacity.
pub(crate) fn summary(kind: Kind, sending_rate: f64, runs: u64) -> (f64, f64, f64) {
    let (mut means, mut deviations, mut worst) = (0.0, 0.0, 0.0_f64);
    for seed in 0..runs {
        let estimates = at_constant_rate(kind, sending_rate, seed);
        let settled = &estimates[STEPS / 2..];
        let (mean, deviation) = mean_and_deviation(settled);
        means += mean;
        deviations += deviation;
        worst = settled
            .iter()
            .fold(worst, |w, x| w.max((x - CAPACITY).abs()));
    }
    (means / runs as f64, deviations / runs as f64, worst)
}

/// Over the second half of each of `runs` runs of [`pacing_itself`]: mean and root mean square of
/// the relative error, and the largest overestimate as a share.
pub(crate) fn tracking(kind: Kind, walk: f64, deviation: f64, runs: u64) -> (f64, f64, f64) {
    let mut errors = Vec::new();
    for seed in 0..runs {
        let run = pacing_itself(kind, walk, deviation, seed);
        errors.extend(run[STEPS / 2..].iter().map(|(c, x)| x / c - 1.0));
    }
    let (mean, sd) = mean_and_deviation(&errors);
    let largest = errors.iter().copied().fold(f64::MIN, f64::max);
    (mean, libm::sqrt(mean * mean + sd * sd), largest)
}
