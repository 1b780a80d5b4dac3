//! Whether the marks come from a queue that means them as RFC 3168 does: one that lets a queue of
//! several milliseconds stand before it marks, and shares it with flows that halve their windows.
//! RFC 9331 §4.3 wants a sender to look for such queues; here, as in Linux, it does so only if asked to.
//!
//! The evidence is that of Briscoe and Ahmed, *TCP Prague Fall-back on Detection of a Classic ECN AQM*
//! (arXiv:1911.00710): in rounds with marks, a delay beyond the path's and a deviation of the RTT that
//! an L4S queue, which marks from a millisecond on, does not have. Logarithms, so that each doubling
//! counts alike.

use crate::mechanisms::SmoothedRtt;
use crate::units::Duration;

/// A queue that an L4S marker may leave (the paper's D0).
const L4S_QUEUE: Duration = Duration::from_millis(2);
/// A deviation of the RTT that it may leave (V0).
const L4S_DEVIATION: Duration = Duration::from_micros(750);
/// What a doubling of either is worth (D and V).
const WEIGHT: f64 = 0.5;
/// The score stays within these: it takes that many rounds of clear evidence to turn around.
const LEAST: f64 = -16.0;
const MOST: f64 = 2.0;

/// The score of the evidence.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassicMarks {
    score: f64,
}

impl ClassicMarks {
    /// Undecided, for L4S.
    pub(super) const fn new() -> Self {
        Self { score: 0.0 }
    }

    /// How sure it is that the marks are classic, `0..=1`.
    pub(super) fn share(&self) -> f64 {
        self.score.clamp(0.0, 1.0)
    }

    /// A round with marks ends.
    pub(super) fn on_marked_round(&mut self, rtt: &SmoothedRtt, min_rtt: Duration) {
        let doublings = |seen: Duration, of: Duration| libm::log2(seen.ratio(of).max(1.0 / 16.0));
        let queue = doublings(rtt.mean() - min_rtt.min(rtt.mean()), L4S_QUEUE);
        let deviation = doublings(rtt.deviation(), L4S_DEVIATION);
        self.score = (self.score + WEIGHT * (queue + deviation)).clamp(LEAST, MOST);
    }
}
