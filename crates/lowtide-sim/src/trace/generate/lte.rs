//! An LTE downlink with the statistics of recorded ones, a new rate every 10 ms.
//!
//! Five processes multiply:
//! - a **slow mean**: the mean of several squared Gauss–Markov processes, as the power of a Nakagami
//!   channel is. Its distribution is a gamma distribution, whose lower tail recorded links have and a
//!   log-normal one has not: one second in twenty carries less than a quarter of the mean;
//! - **fast fading**, log-normal, correlated over half a second;
//! - the **scheduler's share**, log-normal, drawn anew in each interval;
//! - **pauses** of a few intervals in which the scheduler serves only others;
//! - **outages**, as handovers make them, of exponentially distributed length and distance.
//!
//! The defaults were fitted to variation, autocorrelation, percentiles, pauses and outages of six
//! recorded downlinks (`docs/simulator/traces.md`), never to a controller's results.

use lowtide_cc::units::{Duration, Rate};

use super::random::{GaussMarkov, Outages, Random, mean_of_exp};
use super::sampled;
use crate::link::{LinkError, RateSchedule};

/// Parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Lte {
    /// Mean rate.
    pub mean: Rate,
    /// Time between two changes of the rate.
    pub interval: Duration,
    /// Squared processes in the slow mean, whose variance is 2 over this number.
    pub slow_branches: u8,
    /// Time in which the slow mean's autocorrelation falls to 1/e.
    pub slow_time: Duration,
    /// Standard deviation of the fast fading's logarithm.
    pub fast_sigma: f64,
    /// Time in which its autocorrelation falls to 1/e.
    pub fast_time: Duration,
    /// Standard deviation of the logarithm of the scheduler's share.
    pub share_sigma: f64,
    /// Share of the intervals that are pauses.
    pub pause_share: f64,
    /// Mean length of a pause.
    pub pause_length: Duration,
    /// Mean time from the end of an outage to the next one.
    pub outage_every: Duration,
    /// Mean length of an outage.
    pub outage_length: Duration,
}

impl Default for Lte {
    /// A moving user's downlink of 12 Mbit/s.
    fn default() -> Self {
        Self {
            mean: Rate::from_mbps(12),
            interval: Duration::from_millis(10),
            slow_branches: 5,
            slow_time: Duration::from_secs(8),
            fast_sigma: 0.3,
            fast_time: Duration::from_millis(500),
            share_sigma: 0.4,
            pause_share: 0.14,
            pause_length: Duration::from_millis(23),
            outage_every: Duration::from_secs(7),
            outage_length: Duration::from_millis(250),
        }
    }
}

impl Lte {
    /// A schedule of `length`, which then repeats. Its mean is the model's on average.
    ///
    /// # Errors
    /// When the length holds no interval or too many, or nothing would ever leave.
    pub fn generate(&self, length: Duration, seed: u64) -> Result<RateSchedule, LinkError> {
        let mut random = Random::new(seed);
        let step = self.interval;
        // The square of a process forgets twice as fast as the process.
        let slow = |random: &mut Random| GaussMarkov::new(self.slow_time * 2, step, random);
        let branches = self.slow_branches.max(1);
        let mut slow: Vec<GaussMarkov> = (0..branches).map(|_| slow(&mut random)).collect();
        let mut fast = GaussMarkov::new(self.fast_time, step, &mut random);
        let mut pauses = Pauses::new(self);
        let [every, lasts] = [self.outage_every, self.outage_length]
            .map(|span| span.as_secs_f64() / step.as_secs_f64());
        let mut outages = Outages::new(every, lasts, &mut random);
        let mean = mean_of_exp(&[self.fast_sigma, self.share_sigma]);
        let scale = self.mean.as_f64() / mean / self.served();
        sampled(length, step, |n| {
            let power = slow.iter_mut().map(|s| {
                let value = s.next(&mut random);
                value * value
            });
            let power = power.sum::<f64>() / f64::from(branches);
            let log = self.fast_sigma * fast.next(&mut random) + self.share_sigma * random.draw();
            // Both are asked in each interval, so that neither moves the other.
            let pause = pauses.next(&mut random);
            let outage = outages.at(n as f64, &mut random);
            if pause || outage {
                0.0
            } else {
                scale * power * libm::exp(log)
            }
        })
    }

    /// Share of the intervals in which something leaves.
    fn served(&self) -> f64 {
        let (every, length) = (self.outage_every, self.outage_length);
        let up = every.as_secs_f64() / (every + length).as_secs_f64().max(1e-9);
        ((1.0 - self.pause_share) * up).clamp(0.01, 1.0)
    }
}

/// A chain of two states: served, and pause.
struct Pauses {
    begins: f64,
    ends: f64,
    is_pause: bool,
}

impl Pauses {
    fn new(model: &Lte) -> Self {
        let ends = model.interval.as_secs_f64() / model.pause_length.as_secs_f64().max(1e-9);
        let ends = ends.clamp(1e-9, 1.0);
        let share = model.pause_share.clamp(0.0, 0.99);
        Self {
            begins: (ends * share / (1.0 - share)).min(1.0),
            ends,
            is_pause: false,
        }
    }

    fn next(&mut self, random: &mut Random) -> bool {
        let changes = if self.is_pause {
            self.ends
        } else {
            self.begins
        };
        self.is_pause ^= random.uniform() < changes;
        self.is_pause
    }
}
