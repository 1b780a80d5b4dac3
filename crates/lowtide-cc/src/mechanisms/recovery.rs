//! Recovery epochs: one congestion event a round trip.
//!
//! A loss opens a recovery unless it belongs to the one under way, that is, unless the lost packet
//! was sent before that recovery began. When a recovery ends depends on the transport:
//!
//! - QUIC: a packet that was sent after its beginning is acknowledged (RFC 9002 §7.3.2).
//! - TCP: all data that had been sent at its beginning has been acknowledged (RFC 6675 §5, Linux
//!   `high_seq`), and so all that was lost has been repaired. A retransmission that is lost again belongs
//!   to the recovery, too.
//!
//! After a timeout QUIC's rule is too early: it would be over with the first packet of many that have to
//! be sent again. Then TCP's holds for both (Linux `TCP_CA_Loss`).
//!
//! Controllers see transmissions, not sequence numbers; but hosts send lost data before new data. So
//! what leaves while lost data waits is a retransmission, and the repair is complete when as much as was
//! lost has been sent again and the packet that completed it is acknowledged.

use super::undo::Undo;
use crate::controller::{AckEvent, LossEvent, PacketSent, Transport};
use crate::units::{Bytes, Time};

/// Runs of retransmissions that are remembered. A lost one is found a round trip after its sending;
/// within that time there are few.
const RUNS: usize = 4;

/// The numbers of the newest retransmissions, as runs without gaps.
#[derive(Clone, Copy, Debug)]
struct Retransmissions {
    /// First number, and one more than the last.
    runs: [(u64, u64); RUNS],
    newest: usize,
}

impl Retransmissions {
    fn insert(&mut self, number: u64) {
        if self.runs[self.newest].1 == number {
            self.runs[self.newest].1 = number.saturating_add(1);
        } else {
            self.newest = (self.newest + 1) % RUNS;
            self.runs[self.newest] = (number, number.saturating_add(1));
        }
    }

    fn contains(&self, number: u64) -> bool {
        self.runs
            .iter()
            .any(|(from, to)| (*from..*to).contains(&number))
    }
}

/// Tells the first loss of an epoch from those that follow. Packets are told apart by number, which
/// unlike the time of sending is unique.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryEpoch {
    transport: Transport,
    /// One more than the newest packet's number.
    next_number: u64,
    /// The packets below belong to the last recovery or to the time before it.
    began_at: u64,
    active: bool,
    /// Lost, and not sent again yet.
    to_resend: Bytes,
    /// The packet that brought `to_resend` to zero.
    resent_by: u64,
    resent: Retransmissions,
    /// A timeout came in this recovery: it lasts until the losses are repaired.
    after_timeout: bool,
    /// `began_at` from before a timeout.
    undo: Undo<u64>,
    /// Every loss is one of its own.
    each_loss: bool,
}

impl RecoveryEpoch {
    /// None yet, by the rules of this transport.
    #[must_use]
    pub const fn new(transport: Transport) -> Self {
        Self {
            transport,
            next_number: 0,
            began_at: 0,
            active: false,
            to_resend: Bytes::ZERO,
            resent_by: 0,
            resent: Retransmissions {
                runs: [(0, 0); RUNS],
                newest: 0,
            },
            after_timeout: false,
            undo: Undo::new(),
            each_loss: false,
        }
    }

    /// No epochs: each loss event is a congestion event of its own, and is over at once. ns-3's QUIC
    /// module runs TCP's controllers so, because their packets never move the number that ends a
    /// recovery (signetlabdei/quic c1ac573, `QuicSocketBase::OnReceivedAckFrame`).
    #[must_use]
    pub const fn with_each_loss(self) -> Self {
        Self {
            each_loss: true,
            ..self
        }
    }

    /// A packet has left.
    #[inline]
    pub fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.next_number = self.next_number.max(sent.number.saturating_add(1));
        if !self.to_resend.is_zero() {
            self.to_resend -= sent.bytes;
            self.resent_by = sent.number;
            self.resent.insert(sent.number);
        }
    }

    /// Packets were lost; true when that opens a recovery.
    #[inline]
    pub fn on_loss(&mut self, loss: &LossEvent<'_>) -> bool {
        if self.each_loss {
            return true;
        }
        self.to_resend += loss.bytes_lost;
        let belongs = |number| {
            let again = self.active && self.resent.contains(number);
            number < self.began_at || (again && self.transport == Transport::Tcp)
        };
        let opens = !loss.packets.iter().all(|p| belongs(p.number));
        if opens {
            self.undo.before_reduction(loss.now, self.began_at);
            self.restart();
        }
        opens
    }

    /// Opens a recovery for another reason than a loss: a mark (RFC 9002 §7.3.2; RFC 3168 §6.1.2 for TCP).
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

    /// Does what [`on_timeout`](Self::on_timeout) does, for a controller that begins anew instead
    /// of recovering.
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
        let is_early = self.transport == Transport::Quic && !self.after_timeout;
        let ends = self.active && newest >= self.began_at && (is_repaired || is_early);
        if ends {
            self.active = false;
            self.after_timeout = false;
        }
        ends
    }

    /// Whether an acknowledgment covers data that was sent again.
    pub(crate) fn is_repaired_by(&self, ack: &AckEvent<'_>) -> bool {
        ack.packets.iter().any(|p| self.resent.contains(p.number))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{MSS, ack, loss, lost, packet, sent};
    use crate::units::Duration;

    /// An epoch, driven by packet numbers.
    struct Played(RecoveryEpoch);

    impl Played {
        fn new(transport: Transport, sent: u64) -> Self {
            let mut played = Self(RecoveryEpoch::new(transport));
            for number in 0..sent {
                played.send(number);
            }
            played
        }

        fn send(&mut self, number: u64) {
            self.0.on_packet_sent(&sent(Time::ZERO, number, MSS));
        }

        fn lose(&mut self, number: u64) -> bool {
            let lost = [lost(number, Time::ZERO)];
            self.0.on_loss(&loss(Time::ZERO, &lost, MSS))
        }

        fn ack(&mut self, number: u64) -> bool {
            let packets = [packet(number, Time::ZERO)];
            self.0.on_ack(&ack(Time::ZERO, Duration::ZERO, &packets))
        }
    }

    #[test]
    fn over_tcp_it_lasts_until_all_is_repaired_and_over_quic_for_a_round_trip() {
        for (transport, lasts) in [(Transport::Tcp, true), (Transport::Quic, false)] {
            let mut epoch = Played::new(transport, 10);
            assert!(epoch.lose(3));
            // The retransmission, then new data; a second loss is found, and sent again.
            (10..13).for_each(|number| epoch.send(number));
            assert!(!epoch.lose(7), "belongs to it");
            epoch.send(13);
            let ends = [10, 12, 13].map(|number| epoch.ack(number));
            assert_eq!(ends, [!lasts, false, lasts], "{transport:?}");
            assert!(!epoch.0.is_active());
        }
    }

    #[test]
    fn over_tcp_a_lost_retransmission_belongs_to_it_and_lost_new_data_does_not() {
        let mut epoch = Played::new(Transport::Tcp, 10);
        assert!(epoch.lose(3));
        (10..13).for_each(|number| epoch.send(number));
        assert!(!epoch.lose(10), "the retransmission");
        assert!(!epoch.ack(11), "which waits to be sent once more");
        epoch.send(13);
        assert!(epoch.lose(12), "new data");
        epoch.send(14);
        assert!(!epoch.ack(13));
        assert!(epoch.ack(14));

        let mut epoch = Played::new(Transport::Quic, 10);
        assert!(epoch.lose(3));
        epoch.send(10);
        assert!(epoch.lose(10), "RFC 9002 goes by the time of sending");
    }
}
