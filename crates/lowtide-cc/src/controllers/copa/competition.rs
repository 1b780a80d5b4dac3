//! TCP-competitive mode (NSDI 2018 §2.2).
//!
//! Copa flows alone empty the queue at least every five round trips. Where the queue has not been
//! nearly empty for so long, a flow that fills buffers shares it; then 1/δ grows by 1 a round trip
//! and is halved at a congestion event.

use super::rtt::Rtts;

/// Nearly empty: a queueing delay of at most this share of the RTT's variation.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips within which the queue must be nearly empty once.
const ROUNDS: u64 = 5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Competition {
    /// 1/δ of the default mode; the least that it can be, packets.
    default: f64,
    /// 1/δ.
    inverse_delta: f64,
    pub(super) is_on: bool,
    /// The round in which the queue was last nearly empty.
    emptied_in: u64,
}

impl Competition {
    /// In default mode with this δ, which must be above zero.
    pub(super) fn new(delta: f64) -> Self {
        Self {
            default: 1.0 / delta,
            inverse_delta: 1.0 / delta,
            is_on: false,
            emptied_in: 0,
        }
    }

    pub(super) fn delta(&self) -> f64 {
        1.0 / self.inverse_delta
    }

    pub(super) fn on_ack(&mut self, rtts: &Rtts, round: u64, new_round: bool) {
        if rtts.queueing() <= rtts.variation().mul_f64(NEARLY_EMPTY) {
            self.emptied_in = round;
        }
        self.is_on = round.saturating_sub(self.emptied_in) > ROUNDS;
        if !self.is_on {
            self.inverse_delta = self.default;
        } else if new_round {
            self.inverse_delta += 1.0;
        }
    }

    /// A loss or mark, at most one a round trip.
    pub(super) fn on_congestion(&mut self) {
        if self.is_on {
            self.inverse_delta = (self.inverse_delta / 2.0).max(self.default);
        }
    }
}
