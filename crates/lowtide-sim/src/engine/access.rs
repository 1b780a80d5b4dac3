//! A flow's own link to or from the bottleneck.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// A FIFO access link without a limit to its queue: knows only until when it is busy, so that the
/// time a packet leaves is known when it enters.
#[derive(Clone, Copy, Debug)]
pub struct AccessLink {
    pub(super) rate: Option<Rate>,
    pub(super) delay: Duration,
    free_at: Time,
}

impl AccessLink {
    /// An idle link; without a rate it takes only its delay.
    #[must_use]
    pub fn new(rate: Option<Rate>, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            free_at: Time::ZERO,
        }
    }

    /// When a packet of `bytes` that enters at `entry` arrives.
    #[inline]
    pub fn pass(&mut self, entry: Time, bytes: Bytes) -> Time {
        match self.rate {
            None => entry + self.delay,
            Some(rate) => {
                self.free_at = self.free_at.max(entry) + rate.time_for(bytes);
                self.free_at + self.delay
            }
        }
    }
}
