//! A flow's own link to or from the shared path, in one direction.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// A FIFO link without a limit to its queue. It knows only until when it is busy, so that the time
/// a packet leaves is known when it enters and no event is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessLink {
    rate: Option<Rate>,
    delay: Duration,
    free_at: Time,
}

impl AccessLink {
    /// An idle link; without a rate it takes only its delay.
    pub(super) fn new(rate: Option<Rate>, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            free_at: Time::ZERO,
        }
    }

    /// When a packet of `bytes` that enters at `entry` arrives.
    #[inline]
    pub(super) fn pass(&mut self, entry: Time, bytes: Bytes) -> Time {
        match self.rate {
            None => entry + self.delay,
            Some(rate) => {
                self.free_at = self.free_at.max(entry) + rate.time_for(bytes);
                self.free_at + self.delay
            }
        }
    }

    /// The delay, where nothing else tells the packets of two flows apart: those of equal delay
    /// come out in the order in which they went in.
    pub(super) fn shared_delay(&self) -> Option<Duration> {
        self.rate.is_none().then_some(self.delay)
    }
}
