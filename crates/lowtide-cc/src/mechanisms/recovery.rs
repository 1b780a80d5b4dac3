//! Recovery epochs: one congestion event a round trip.
//!
//! A loss opens a recovery unless it belongs to the one under way, that is, unless the lost packet
//! was sent before that recovery began (RFC 9002 §7.3.2, RFC 6582). A recovery ends when a packet
//! that was sent after its beginning is acknowledged.
//!
//! After a timeout that is too early: it would be over with the first packet of many that have to
//! be sent again. Then it ends when everything lost has been repaired (Linux `TCP_CA_Loss`, which
//! lasts until `high_seq` is acknowledged). Controllers see transmissions, not sequence numbers; but
//! hosts send lost data before new data. So the repair is complete when as much as was lost has been
//! sent again and the packet that completed it is acknowledged.

use super::undo::Undo;
use crate::controller::{AckEvent, LossEvent, PacketSent};
use crate::units::{Bytes, Time};

/// Tells the first loss of an epoch from those that follow. Packets are told apart by number, which
/// unlike the time of sending is unique.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryEpoch {
    /// One more than the newest packet's number.
    next_number: u64,
    /// The packets below belong to the last recovery or to the time before it.
    began_at: u64,
    active: bool,
    /// Lost, and not sent again yet.
    to_resend: Bytes,
    /// The packet that brought `to_resend` to zero.
    resent_by: u64,
    /// A timeout came in this recovery: it lasts until the losses are repaired.
    after_timeout: bool,
    /// `began_at` from before a timeout.
    undo: Undo<u64>,
}

impl RecoveryEpoch {
    /// A packet has left.
    #[inline]
    pub fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.next_number = self.next_number.max(sent.number.saturating_add(1));
        if !self.to_resend.is_zero() {
            self.to_resend -= sent.bytes;
            self.resent_by = sent.number;
        }
    }

    /// Packets were lost; true when that opens a recovery.
    #[inline]
    pub fn on_loss(&mut self, loss: &LossEvent<'_>) -> bool {
        self.to_resend += loss.bytes_lost;
        let newest = loss.packets.last().map_or(0, |p| p.number);
        let opens = newest >= self.began_at;
        if opens {
            self.undo.before_reduction(loss.now, self.began_at);
            self.restart();
        }
        opens
    }

    /// Opens a recovery for another reason than a loss (ECN).
    pub fn restart(&mut self) {
        self.began_at = self.next_number;
        self.active = true;
    }

    /// The whole flight is taken for lost; [`on_loss`](Self::on_loss) has told of its packets.
    pub fn on_timeout(&mut self, now: Time) {
        self.undo.before_timeout(now, self.began_at);
        self.restart();
        self.after_timeout = true;
    }

    /// As [`on_timeout`](Self::on_timeout), for a controller that begins anew instead of recovering.
    pub fn end_by_timeout(&mut self, now: Time) {
        self.undo.before_timeout(now, self.began_at);
        self.end();
    }

    /// The timeout was spurious. What it gave up is in flight again, and opens a recovery of its own
    /// should it be lost after all.
    pub fn on_spurious_timeout(&mut self) {
        if let Some(began_at) = self.undo.take() {
            self.began_at = began_at;
        }
        self.end();
    }

    /// Packets were acknowledged; true when that ends a recovery.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        self.undo.on_ack();
        let newest = ack.packets.last().map_or(0, |p| p.number);
        let is_repaired = self.to_resend.is_zero() && newest >= self.resent_by;
        let ends = self.active && newest >= self.began_at && (is_repaired || !self.after_timeout);
        if ends {
            self.active = false;
            self.after_timeout = false;
        }
        ends
    }

    /// Whether an acknowledgment covers data that was sent again.
    pub(crate) fn is_repaired_by(&self, ack: &AckEvent<'_>) -> bool {
        let resent = self.began_at..=self.resent_by;
        ack.packets.iter().any(|p| resent.contains(&p.number))
    }

    /// Whether a recovery is under way.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Ends the recovery under way; nothing is left to repair.
    pub fn end(&mut self) {
        self.active = false;
        self.after_timeout = false;
        self.to_resend = Bytes::ZERO;
    }
}
