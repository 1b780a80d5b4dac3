//! M: the bytes that the link will serve in the next min RTT.
//!
//! The mean of what it served lately, over bytes and not over time. A link that is on for a share p
//! of the time at rate R has a mean rate of pR; but the bytes travel while it is on, and a window of
//! pR·T would lose 1 − p of them and save no delay.

use super::Tuning;

/// M.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    bytes: f64,
}

impl Forecast {
    /// `bytes` arrived when the link served `served` in a min RTT. Rises to at most `limit`; a flow
    /// that its application limits, or whose window is small, has too little busy time to show more
    /// than that it can do better.
    pub(super) fn update(
        &mut self,
        tuning: &Tuning,
        bytes: f64,
        served: f64,
        limit: f64,
        cwnd: f64,
    ) {
        let served = served.min(limit.max(self.bytes));
        if self.bytes == 0.0 {
            self.bytes = served;
        }
        let windows = if served > self.bytes {
            tuning.rise
        } else {
            tuning.fall
        };
        self.bytes += bytes / (bytes + windows * cwnd) * (served - self.bytes);
    }

    /// M in bytes; 0 before the first arrival.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }
}
