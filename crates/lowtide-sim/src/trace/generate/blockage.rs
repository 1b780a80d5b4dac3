//! A mmWave-like link: fast with line of sight, a fraction of it when something is in the way.
//!
//! A two-state Markov chain switches between line of sight (LoS) and none (NLoS); each stay has an
//! exponentially distributed length, and the rate falls and rises within one interval. In both
//! states log-normal factors, correlated over `time`, stand for beams and small movements.

use lowtide_cc::units::{Duration, Rate};

use super::random::{GaussMarkov, Random, mean_of_exp};
use super::sampled;
use crate::link::{LinkError, RateSchedule};

/// Parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Blockage {
    /// Mean rate with line of sight.
    pub mean: Rate,
    /// Time between two changes of the rate.
    pub interval: Duration,
    /// Standard deviation of the factor's logarithm.
    pub sigma: f64,
    /// Time in which the factor's autocorrelation falls to 1/e.
    pub time: Duration,
    /// Mean length of a stay in line of sight.
    pub los: Duration,
    /// Mean length of a stay without; zero: never.
    pub nlos: Duration,
    /// Rate without line of sight over the rate with it.
    pub depth: f64,
}

impl Blockage {
    /// A schedule of `length`, which then repeats. It begins in line of sight.
    ///
    /// # Errors
    /// When the length holds no interval or too many, or nothing would ever leave.
    pub fn generate(&self, length: Duration, seed: u64) -> Result<RateSchedule, LinkError> {
        let mut random = Random::new(seed);
        let step = self.interval.as_secs_f64();
        let scale = self.mean.as_f64() / mean_of_exp(&[self.sigma]);
        let mut factor = GaussMarkov::new(self.time, self.interval, &mut random);
        let mut blocked = false;
        let mut until = random.exponential(self.los.as_secs_f64());
        sampled(length, self.interval, |n| {
            let now = n as f64 * step;
            while !self.nlos.is_zero() && now >= until {
                blocked = !blocked;
                let stay = if blocked { self.nlos } else { self.los };
                // A stay is never shorter than what a schedule can show.
                until += random.exponential(stay.as_secs_f64()).max(step);
            }
            let depth = if blocked { self.depth } else { 1.0 };
            scale * libm::exp(self.sigma * factor.next(&mut random)) * depth
        })
    }
}
