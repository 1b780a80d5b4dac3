//! Proportional Rate Reduction: how a window comes down to its new size in a recovery (RFC 9937, Linux
//! `tcp_cwnd_reduction`).
//!
//! A window that is cut at once leaves more in flight than it allows, and nothing may be sent until the
//! rest is acknowledged: not even what was lost. Linux's TCP lets the lost data leave at once and then
//! sends in proportion to what arrives, so that the flight has the new size when the recovery ends.

use super::recovery::RecoveryEpoch;
use crate::controller::{AckEvent, LossEvent, PacketSent, Transport};
use crate::units::{Bytes, Time};

/// A window on its way down, over TCP; nothing while there is none, and over QUIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProportionalReduction {
    transport: Transport,
    under_way: Option<Reduction>,
}

#[derive(Clone, Copy, Debug)]
struct Reduction {
    began_at: Time,
    /// The window before it, as in Linux (`prior_cwnd`); RFC 9937 §6.1 has the flight (`RecoverFS`).
    prior: Bytes,
    /// Acknowledged since (`prr_delivered`).
    delivered: Bytes,
    /// Sent since (`prr_out`).
    out: Bytes,
    /// What may be in flight now.
    window: Bytes,
}

impl ProportionalReduction {
    /// None under way.
    pub(crate) const fn new(transport: Transport) -> Self {
        Self {
            transport,
            under_way: None,
        }
    }

    /// A loss reduces a window of `prior`. One packet may leave: what was lost.
    pub(crate) fn begin_at_loss(&mut self, loss: &LossEvent<'_>, prior: Bytes, packet: Bytes) {
        // Where a timer found the loss, no acknowledgment follows, and Linux counts one packet as
        // delivered (`tcp_rack_reo_timeout`).
        self.begin(loss.now, prior, packet, loss.inflight + packet);
    }

    /// A mark reduces a window of `prior`. The acknowledgment that brought it follows.
    pub(crate) fn begin_at_mark(&mut self, now: Time, prior: Bytes) {
        self.begin(now, prior, Bytes::ZERO, prior);
    }

    fn begin(&mut self, now: Time, prior: Bytes, delivered: Bytes, window: Bytes) {
        self.under_way = (self.transport == Transport::Tcp).then(|| Reduction {
            began_at: now,
            prior: prior.max(Bytes::new(1)),
            delivered,
            out: Bytes::ZERO,
            window,
        });
    }

    /// A packet has left.
    #[inline]
    pub(crate) fn on_packet_sent(&mut self, sent: &PacketSent) {
        if let Some(reduction) = &mut self.under_way {
            reduction.out += sent.bytes;
        }
    }

    /// Data was acknowledged; the window comes down to `target`. SND.UNA, which controllers do not see,
    /// is taken to move when data that was sent again in `recovery` is acknowledged.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: &AckEvent<'_>,
        target: Bytes,
        packet: Bytes,
        recovery: &RecoveryEpoch,
    ) {
        if let Some(reduction) = &mut self.under_way {
            reduction.on_ack(ack, target, packet, recovery.is_repaired_by(ack));
        }
    }

    /// The recovery is over, and the window is the target (RFC 9937 §6.4); or a timeout ends it.
    pub(crate) fn end(&mut self) {
        self.under_way = None;
    }

    /// The window, while it comes down.
    #[inline]
    pub(crate) fn window(&self) -> Option<Bytes> {
        self.under_way.map(|reduction| reduction.window)
    }
}

impl Reduction {
    /// RFC 9937 §6.2.
    fn on_ack(&mut self, ack: &AckEvent<'_>, target: Bytes, packet: Bytes, repairs: bool) {
        if ack.now == self.began_at && self.out.is_zero() {
            self.delivered = Bytes::ZERO;
        }
        self.delivered += ack.bytes_acked;
        let room = target - ack.inflight;
        let mut send = if room.is_zero() {
            self.share(target, packet) - self.out
        } else {
            // Below the target: as much as arrives, and a packet more where nothing else is lost (`SafeACK`).
            let conserved = (self.delivered - self.out).max(ack.bytes_acked);
            let is_safe = repairs && ack.bytes_lost.is_zero();
            let more = if is_safe { packet } else { Bytes::ZERO };
            room.min(conserved + more)
        };
        // The fast retransmit leaves in any case (§6.2).
        if self.out.is_zero() {
            send = send.max(packet);
        }
        // Never so small that nothing could leave an empty flight: data may come in less than packets.
        self.window = (ack.inflight + send).max(packet);
    }

    /// What may be sent for `delivered`: the target's share of it, in whole packets as Linux counts.
    fn share(&self, target: Bytes, packet: Bytes) -> Bytes {
        let packet = u128::from(packet.get().max(1));
        let product = u128::from(target.get()) * u128::from(self.delivered.get());
        let packets = product.div_ceil(u128::from(self.prior.get()) * packet);
        Bytes::new(u64::try_from(packets * packet).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::events::{MSS, ack, at, loss, packet, sent};
    use crate::units::Duration;

    /// A recovery of a flow that always has data to send; volumes in packets.
    struct Recovery {
        prr: ProportionalReduction,
        target: u64,
        inflight: u64,
    }

    impl Recovery {
        /// `lost` packets of a window and flight of `prior` are found lost.
        fn of(prior: u64, target: u64, inflight: u64) -> Self {
            let mut prr = ProportionalReduction::new(Transport::Tcp);
            let loss = LossEvent {
                bytes_lost: MSS,
                ..loss(Time::ZERO, &[], MSS * inflight)
            };
            prr.begin_at_loss(&loss, MSS * prior, MSS);
            Self {
                prr,
                target,
                inflight,
            }
        }

        /// One packet was acknowledged. Returns how many leave.
        fn ack(&mut self, ms: u64, repairs: bool) -> u64 {
            self.inflight -= u64::from(ms > 0);
            let inflight = MSS * self.inflight;
            let packets = [packet(0, Time::ZERO)];
            let ack = AckEvent {
                bytes_lost: if ms == 0 { MSS } else { Bytes::ZERO },
                prior_inflight: inflight,
                inflight,
                ..ack(at(ms), Duration::ZERO, &packets)
            };
            let reduction = self.prr.under_way.as_mut().unwrap();
            reduction.on_ack(&ack, MSS * self.target, MSS, repairs);
            self.send()
        }

        fn send(&mut self) -> u64 {
            let mut count = 0;
            while MSS * (self.inflight + 1) <= self.prr.window().unwrap() {
                self.inflight += 1;
                count += 1;
                let inflight = MSS * self.inflight;
                self.prr.on_packet_sent(&sent(Time::ZERO, 0, inflight));
            }
            count
        }
    }

    #[test]
    fn half_a_window_sends_a_packet_for_every_second_that_arrives() {
        // 26 in flight; the third SACK shows a loss and takes three out of the flight, so 22 are left.
        let mut recovery = Recovery::of(24, 12, 22);
        assert_eq!(recovery.ack(0, false), 1, "what was lost, at once");
        let sends: Vec<u64> = (1..9).map(|ms| recovery.ack(ms, false)).collect();
        // A kernel 6.18 with Reno: at the second acknowledgment after the retransmission, then every
        // second one.
        assert_eq!(sends, [0, 1, 0, 1, 0, 1, 0, 1]);
        // In flight: 22 + 1 + 4 − 8.
        assert_eq!(recovery.inflight, 19);
    }

    #[test]
    fn seven_tenths_send_seven_packets_for_ten_that_arrive() {
        let mut recovery = Recovery::of(100, 70, 96);
        assert_eq!(recovery.ack(0, false), 1);
        let sends: u64 = (1..11).map(|ms| recovery.ack(ms, false)).sum();
        // 0.7 of the eleven delivered, rounded up to 8, less the retransmission.
        assert_eq!(sends, 7);
    }

    #[test]
    fn below_the_target_as_much_leaves_as_arrives_and_twice_that_once_gaps_close() {
        // Half a window was lost: 20 sent, 10 lost, 3 SACKed.
        let mut recovery = Recovery::of(20, 10, 7);
        let sends: Vec<u64> = (0..7).map(|ms| recovery.ack(ms, false)).collect();
        assert_eq!(sends, [1; 7]);
        assert_eq!(recovery.ack(8, true), 2, "the first gap is closed");
        // Up to the target and no further: 10 less what is in flight.
        let sends: Vec<u64> = (9..12).map(|ms| recovery.ack(ms, true)).collect();
        assert_eq!((sends, recovery.inflight), (std::vec![2, 1, 1], 10));
    }

    #[test]
    fn a_loss_that_a_timer_finds_lets_one_packet_leave_without_an_acknowledgment() {
        let mut recovery = Recovery::of(20, 10, 19);
        assert_eq!(recovery.send(), 1);
        // Linux counts the timer as one packet delivered: the next one is the second.
        assert_eq!((recovery.ack(5, false), recovery.ack(6, false)), (0, 1));
    }

    #[test]
    fn a_window_that_nothing_reduces_is_nobodys() {
        let mut prr = ProportionalReduction::new(Transport::Tcp);
        assert_eq!(prr.window(), None);
        prr.begin_at_mark(Time::ZERO, MSS * 20);
        assert_eq!(prr.window(), Some(MSS * 20));
        prr.end();
        assert_eq!(prr.window(), None);
        let mut over_quic = ProportionalReduction::new(Transport::Quic);
        over_quic.begin_at_mark(Time::ZERO, MSS * 20);
        assert_eq!(over_quic.window(), None);
    }
}
