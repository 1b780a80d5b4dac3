//! A 4G-like link whose rate changes every 10 ms.
//!
//! Three processes multiply:
//! - a **slow mean**: the logarithm of the rate is a Gauss–Markov process (Ornstein–Uhlenbeck),
//!   for distance, shadowing and the cell's load;
//! - **fast burstiness**: log-normal factors for the scheduler and fast fading, correlated over a
//!   few intervals;
//! - **fades**: times of exponentially distributed length in which little or nothing leaves, as
//!   handovers and deep shadows make them.
//!
//! Intervals in which the scheduler serves only others can be left out on top (`idle_share`).
//!
//! The defaults were set from the statistics of rates in real LTE traces (variation,
//! autocorrelation, empty intervals), never from a controller's results.

use lowtide_cc::units::{Duration, Rate};

use super::random::{GaussMarkov, Outages, Random, mean_of_exp};
use super::sampled;
use crate::link::{LinkError, RateSchedule};

/// Parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cellular {
    /// Mean rate outside fades.
    pub mean: Rate,
    /// Time between two changes of the rate.
    pub interval: Duration,
    /// Standard deviation of the slow mean's logarithm.
    pub slow_sigma: f64,
    /// Time in which the slow mean's autocorrelation falls to 1/e.
    pub slow_time: Duration,
    /// Standard deviation of the fast factor's logarithm.
    pub fast_sigma: f64,
    /// Time in which the fast factor's autocorrelation falls to 1/e.
    pub fast_time: Duration,
    /// Mean time between the starts of two fades.
    pub fade_every: Duration,
    /// Mean length of a fade.
    pub fade_length: Duration,
    /// Rate in a fade, as a share of the rate without it.
    pub fade_depth: f64,
    /// Share of the intervals in which the scheduler serves only others, drawn independently; the
    /// rest is raised by as much.
    pub idle_share: f64,
}

impl Default for Cellular {
    /// A moving user's LTE downlink: 12 Mbit/s on average.
    fn default() -> Self {
        Self {
            mean: Rate::from_mbps(12),
            interval: Duration::from_millis(10),
            slow_sigma: 0.5,
            slow_time: Duration::from_secs(4),
            fast_sigma: 0.6,
            fast_time: Duration::from_millis(25),
            fade_every: Duration::from_secs(12),
            fade_length: Duration::from_millis(150),
            fade_depth: 0.0,
            idle_share: 0.0,
        }
    }
}

impl Cellular {
    /// A schedule of `length`, which then repeats.
    ///
    /// # Errors
    /// When the length holds no interval or too many, or nothing would ever leave.
    pub fn generate(&self, length: Duration, seed: u64) -> Result<RateSchedule, LinkError> {
        let mut random = Random::new(seed);
        let step = self.interval.as_secs_f64();
        let served = (1.0 - self.idle_share).clamp(0.01, 1.0);
        let mean = mean_of_exp(&[self.slow_sigma, self.fast_sigma]);
        let scale = self.mean.as_f64() / mean / served;
        let mut slow = GaussMarkov::new(self.slow_time, self.interval, &mut random);
        let mut fast = GaussMarkov::new(self.fast_time, self.interval, &mut random);
        let [every, lasts] = [self.fade_every, self.fade_length].map(Duration::as_secs_f64);
        let mut fades = Outages::new(every, lasts, &mut random);
        sampled(length, self.interval, |n| {
            let is_fade = fades.at(n as f64 * step, &mut random);
            let depth = if is_fade { self.fade_depth } else { 1.0 };
            // No draw without idle intervals, so that the other processes stay as they are.
            let idle = served < 1.0 && random.uniform() >= served;
            let log =
                self.slow_sigma * slow.next(&mut random) + self.fast_sigma * fast.next(&mut random);
            if idle {
                0.0
            } else {
                scale * libm::exp(log) * depth
            }
        })
    }
}
