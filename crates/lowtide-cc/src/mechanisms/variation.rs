//! What Linux's retransmission timeout adds to the smoothed RTT (`tcp_rtt_estimator`, `__tcp_set_rto`).
//!
//! RFC 6298 bounds the sum: max(SRTT + 4·RTTVAR, minimum). Linux adds a variation that is itself never below the
//! minimum, follows the largest deviation of a round trip at once, and falls slowly.

use crate::units::Duration;

/// The variation of an RTT.
#[derive(Clone, Copy, Debug)]
pub struct RttVariation {
    min: Duration,
    /// Four mean deviations of samples from the smoothed RTT (`mdev_us`).
    deviation: Duration,
    /// The largest `deviation` of this round trip, and not less than the minimum (`mdev_max_us`).
    max_deviation: Duration,
    /// `rttvar_us`.
    variation: Duration,
}

impl RttVariation {
    /// `min`: its lower bound (Linux: 200 ms).
    #[must_use]
    pub const fn new(min: Duration) -> Self {
        Self {
            min,
            deviation: Duration::ZERO,
            max_deviation: min,
            variation: min,
        }
    }

    /// What is added to the smoothed RTT.
    #[inline]
    #[must_use]
    pub const fn get(&self) -> Duration {
        self.variation
    }

    /// Takes the first sample of a path.
    pub fn on_first_sample(&mut self, sample: Duration) {
        self.deviation = sample * 2;
        self.variation = self.deviation.max(self.min);
        self.max_deviation = self.variation;
    }

    /// Takes another sample; `smoothed`: the smoothed RTT without it.
    #[inline]
    pub fn on_sample(&mut self, sample: Duration, smoothed: Duration) {
        self.deviation = self.deviation_with(sample, smoothed);
        self.max_deviation = self.max_deviation.max(self.deviation);
        self.variation = self.variation.max(self.max_deviation);
    }

    /// A round trip of samples is over: the variation falls by a quarter of its excess.
    #[inline]
    pub fn on_round_end(&mut self) {
        self.variation = self.variation - (self.variation - self.max_deviation).div(4);
        self.max_deviation = self.min;
    }

    /// A quarter of the error goes into the mean deviation. Where the RTT falls, a larger deviation
    /// counts for an eighth of that, so that a queue that empties does not lengthen the timeout.
    #[inline]
    fn deviation_with(&self, sample: Duration, smoothed: Duration) -> Duration {
        let (deviation, quarter) = (self.deviation, self.deviation.div(4));
        if sample >= smoothed {
            return deviation - quarter + (sample - smoothed);
        }
        let error = smoothed - sample;
        if error > quarter {
            deviation + (error - quarter).div(8)
        } else {
            deviation - (quarter - error)
        }
    }
}
