//! What BBR of the first version does at ECN marks, if anything: neither Linux's nor any of the papers
//! built on it says. The answer here is ours; it is off by default, and packets are then not ECN-capable.
//!
//! Where queues mark, the estimate still says what the link can carry, but more is in flight than the
//! queue's owner wants. So marks cap what is in flight, and leave the estimate alone: once a round a mark
//! lowers the cap to a part of what was in flight; a round without marks raises it; above the window
//! it is gone.

use crate::controller::AckEvent;
use crate::units::Bytes;

/// What a mark leaves of the bytes in flight: CUBIC's part with ABE (RFC 8511 §3.1).
const REDUCTION: f64 = 0.85;
/// A round without marks adds this part to the cap, at least a packet: five such rounds make up for a
/// mark, in about which time BBR probes for bandwidth anyway.
const GROWTH: f64 = 1.0 / 32.0;

/// The cap on what is in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkCap {
    cap: Bytes,
    /// The acknowledgment under way reports marks.
    marked_now: bool,
    /// The round under way has seen marks.
    marked_in_round: bool,
}

impl MarkCap {
    /// None.
    pub(super) const fn new() -> Self {
        Self {
            cap: Bytes::MAX,
            marked_now: false,
            marked_in_round: false,
        }
    }

    #[inline]
    pub(super) fn get(&self) -> Bytes {
        self.cap
    }

    pub(super) fn on_marks(&mut self) {
        self.marked_now = true;
    }

    /// An acknowledgment arrived; `window`: what may be in flight without a cap, of which `packet` is
    /// one packet.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent<'_>,
        round_starts: bool,
        window: Bytes,
        packet: Bytes,
    ) {
        if round_starts && !core::mem::take(&mut self.marked_in_round) && self.cap != Bytes::MAX {
            self.cap += self.cap.mul_f64(GROWTH).max(packet);
        }
        if core::mem::take(&mut self.marked_now) && !self.marked_in_round {
            self.marked_in_round = true;
            let inflight = ack.prior_inflight.min(self.cap);
            self.cap = inflight.mul_f64(REDUCTION).max(packet * 2);
        }
        if self.cap > window {
            self.cap = Bytes::MAX;
        }
    }
}
