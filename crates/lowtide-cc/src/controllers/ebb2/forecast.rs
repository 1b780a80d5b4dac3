//! M: the bytes that the link will serve in the next min RTT.
//!
//! The mean of what it served lately, over bytes and not over time. A link that is on for a share p
//! of the time at rate R has a mean rate of pR; but the bytes travel while it is on, and a window of
//! pR·T would lose 1 − p of them and save no delay.
//!
//! On a calm link, where the mean moves little, what the flow itself has is known better: by
//! Little's law W/RTT is its rate, and W·T/RTT the part of its window that does not queue. The two
//! agree on a link of one's own. On a shared one the first forgets over several round trips what
//! the second follows at once.

use super::Tuning;
use crate::units::Duration;

/// M.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast {
    bytes: f64,
    /// W·T/RTT of the last round.
    unqueued: f64,
}

impl Forecast {
    pub(super) fn new() -> Self {
        Self {
            bytes: 0.0,
            unqueued: f64::INFINITY,
        }
    }

    /// `bytes` arrived when the link served `served` in a min RTT, of which not more than `limit` is
    /// believed: a flow whose window is small, or whose packets a policer drops, sees too little
    /// busy time to show more than that the link can do better.
    pub(super) fn on_arrival(
        &mut self,
        tuning: &Tuning,
        bytes: f64,
        served: f64,
        limit: f64,
        cwnd: f64,
    ) {
        let served = served.min(limit);
        if self.bytes == 0.0 {
            self.bytes = served;
        }
        // It falls over a window: faster, it would take a moment for the link's rate.
        let windows = if served > self.bytes {
            tuning.rise
        } else {
            1.0
        };
        self.bytes += bytes / (bytes + windows * cwnd) * (served - self.bytes);
    }

    /// In a round `used` bytes of the window were in flight, and every packet met `queueing`.
    pub(super) fn on_round(&mut self, used: f64, min_rtt: Duration, queueing: Duration) {
        self.unqueued = used * min_rtt.ratio(min_rtt + queueing);
    }

    /// The min RTT has changed by this factor.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.bytes *= factor;
        self.unqueued *= factor;
    }

    /// M in bytes; 0 before the first arrival.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// M on a link that is `calm` to this degree, from 0 to 1.
    pub(super) fn when(&self, calm: f64) -> f64 {
        self.bytes - calm * (self.bytes - self.unqueued).max(0.0)
    }
}
