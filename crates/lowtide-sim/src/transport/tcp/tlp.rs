//! Tail loss probe (RFC 8985 §7).

use lowtide_cc::units::Duration;

use crate::transport::rtt::RttEstimator;
use crate::transport::scoreboard::{Fate, Scoreboard};

#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe {
    delayed_ack: Duration,
    /// A probe was sent since data was last acknowledged.
    is_sent: bool,
    /// A probe repeated a segment (`TLP.is_retrans`): the original's number.
    repeated: Option<u64>,
}

impl TailLossProbe {
    /// `delayed_ack`: how long the peer may hold back an acknowledgment (`TLP.max_ack_delay`).
    pub(super) fn new(delayed_ack: Duration) -> Self {
        Self {
            delayed_ack,
            is_sent: false,
            repeated: None,
        }
    }

    #[inline]
    pub(super) fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Two round trips, and the delay of an acknowledgment where only one segment is out (§7.2).
    pub(super) fn duration(&self, rtt: &RttEstimator, board: &Scoreboard) -> Duration {
        let base = rtt.smoothed() * 2;
        let oldest = board.oldest_segment().map(|(segment, _)| segment);
        let newest = board.newest_segment().map(|(segment, _)| segment);
        if oldest == newest {
            base + self.delayed_ack
        } else {
            base
        }
    }

    pub(super) fn on_sent(&mut self) {
        self.is_sent = true;
    }

    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.is_sent = false;
    }

    pub(super) fn on_repeating_probe(&mut self, original: u64) {
        self.repeated = Some(original);
    }

    pub(super) fn forget_probe(&mut self) {
        self.repeated = None;
    }

    /// Once the data of a probe that repeats a segment is acknowledged, the original is not in
    /// flight any more even if the probe arrived; then it is returned. Without DSACK it stays open
    /// which of the two it was, and a needless probe costs nothing (§7.4.2 leaves the window alone in
    /// that case).
    #[inline]
    pub(super) fn take_repeated(&mut self, board: &Scoreboard) -> Option<u64> {
        let original = self.repeated?;
        let in_flight = board.get(original).filter(|t| t.fate == Fate::InFlight);
        if in_flight.is_some_and(|t| board.newest_transmission(t.segment).is_some()) {
            return None;
        }
        self.repeated = None;
        in_flight.map(|_| original)
    }
}
