//! Round trips told by packet numbers: a round ends when a packet is acknowledged that was sent
//! after the round began.

use crate::controller::{AckEvent, PacketSent};

/// Counts rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundsByNumber {
    count: u64,
    /// One more than the newest packet's number.
    next_number: u64,
    /// A packet with this number or above ends the round.
    ends_at: u64,
}

impl RoundsByNumber {
    #[inline]
    pub(crate) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.next_number = self.next_number.max(sent.number.saturating_add(1));
    }

    /// Packets were acknowledged; true when that ends a round and begins the next.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        let ends = ack.packets.last().is_some_and(|p| p.number >= self.ends_at);
        if ends {
            self.count = self.count.saturating_add(1);
            self.restart();
        }
        ends
    }

    /// Begins a round that ends with the acknowledgment of a packet sent from now on.
    pub(crate) fn restart(&mut self) {
        self.ends_at = self.next_number;
    }

    /// Whether packet `number` left before the round began.
    pub(crate) fn is_after(&self, number: u64) -> bool {
        number < self.ends_at
    }

    /// Rounds that have ended.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
