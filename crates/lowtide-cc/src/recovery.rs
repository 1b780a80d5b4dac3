//! Recovery epochs: one congestion event a round trip.
//!
//! A loss opens a recovery unless it belongs to the one under way, that is, unless the lost packet
//! was sent before that recovery began (RFC 9002 §7.3.2, RFC 6582). A recovery ends when a packet
//! that was sent after its beginning is acknowledged.

use crate::controller::{AckEvent, LossEvent, PacketSent};

/// Tells the first loss of an epoch from those that follow. Packets are told apart by number, which
/// unlike the time of sending is unique.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryEpoch {
    /// One more than the newest packet's number.
    next_number: u64,
    /// The packets below belong to the last recovery or to the time before it.
    began_at: u64,
    active: bool,
}

impl RecoveryEpoch {
    /// A packet has left.
    #[inline]
    pub fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.next_number = self.next_number.max(sent.number.saturating_add(1));
    }

    /// Packets were lost; true when that opens a recovery.
    #[inline]
    pub fn on_loss(&mut self, loss: &LossEvent<'_>) -> bool {
        let newest = loss.packets.last().map_or(0, |p| p.number);
        let opens = newest >= self.began_at;
        if opens {
            self.restart();
        }
        opens
    }

    /// Opens a recovery for another reason (ECN, timeout).
    pub fn restart(&mut self) {
        self.began_at = self.next_number;
        self.active = true;
    }

    /// Packets were acknowledged; true when that ends a recovery.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        let newest = ack.packets.last().map_or(0, |p| p.number);
        let ends = self.active && newest >= self.began_at;
        self.active &= !ends;
        ends
    }

    /// Whether a recovery is under way.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Ends the recovery under way.
    pub fn end(&mut self) {
        self.active = false;
    }
}
