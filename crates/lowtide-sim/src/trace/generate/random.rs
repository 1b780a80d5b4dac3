//! Random numbers for models: the same on every machine.

use lowtide_cc::units::Duration;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A stationary Gauss–Markov (Ornstein–Uhlenbeck) process of mean 0 and variance 1, in even steps.
pub(super) struct GaussMarkov {
    value: f64,
    rho: f64,
    innovation: f64,
}

impl GaussMarkov {
    /// A process whose autocorrelation falls to 1/e in `time`.
    pub(super) fn new(time: Duration, step: Duration, random: &mut Random) -> Self {
        let rho = libm::exp(-step.as_secs_f64() / time.as_secs_f64().max(1e-9));
        Self {
            value: random.draw(),
            rho,
            innovation: libm::sqrt(1.0 - rho * rho),
        }
    }

    pub(super) fn next(&mut self, random: &mut Random) -> f64 {
        let next = self.rho * self.value + self.innovation * random.draw();
        std::mem::replace(&mut self.value, next)
    }
}

/// Normal numbers come two at a time (Box–Muller).
pub(super) struct Random {
    rng: Pcg64Mcg,
    spare: Option<f64>,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Pcg64Mcg::seed_from_u64(seed),
            spare: None,
        }
    }

    /// Even in 0..1, never 0.
    pub(super) fn uniform(&mut self) -> f64 {
        ((self.rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.uniform())
    }

    /// Draws a value of mean 0 and variance 1.
    pub(super) fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        let angle = 2.0 * core::f64::consts::PI * self.uniform();
        self.spare = Some(radius * libm::sin(angle));
        radius * libm::cos(angle)
    }
}

/// The mean of a log-normal factor, the product of independent ones of these standard deviations:
/// E[exp(σ·N)] = exp(σ²/2).
pub(super) fn mean_of_exp(sigmas: &[f64]) -> f64 {
    let variance: f64 = sigmas.iter().map(|sigma| sigma * sigma).sum();
    libm::exp(variance / 2.0)
}

/// Times in which nothing leaves, of exponentially distributed length and distance.
pub(super) struct Outages {
    every: f64,
    length: f64,
    begin: f64,
    end: f64,
}

impl Outages {
    /// The first of them; mean distance and length in a unit of choice.
    pub(super) fn new(every: f64, length: f64, random: &mut Random) -> Self {
        let mut outages = Self {
            every,
            length,
            begin: 0.0,
            end: 0.0,
        };
        outages.renew(random);
        outages
    }

    fn renew(&mut self, random: &mut Random) {
        self.begin = self.end + random.exponential(self.every);
        self.end = self.begin + random.exponential(self.length);
    }

    /// Whether there is one; `now` never decreases.
    pub(super) fn at(&mut self, now: f64, random: &mut Random) -> bool {
        while now >= self.end {
            self.renew(random);
        }
        now >= self.begin
    }
}
