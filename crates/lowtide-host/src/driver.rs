//! A controller with what its host must keep for it.

use lowtide_cc::Controller;
use lowtide_cc::controller::{
    AckEvent, AckedPacket, Feedback, LossEvent, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::{DeliveryRateSampler, PacketRateState};
use lowtide_cc::units::{Bytes, Duration, Time};
use smallvec::SmallVec;

use crate::observer::{AckSeen, ExtensionSeen, LossSeen, Observation};

/// Wake-ups made up for at once: ten seconds of BBR-S's steps. A controller that asks for more must
/// not hold up its connection.
const MAX_WAKEUPS: u32 = 1_000;

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// The controller's number for it.
    pub number: u64,
    /// The packet's size.
    pub bytes: Bytes,
    /// When it left.
    pub sent_at: Time,
    /// The sampler's note of that moment.
    pub rate_state: PacketRateState,
}

/// The transport's view of the round-trip time after an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    /// The sample that the acknowledgment gave, not corrected for the peer's delay.
    pub sample: Option<Duration>,
    /// Smoothed RTT (RFC 9002 §5.3); zero before the first sample.
    pub smoothed: Duration,
    /// The smallest sample of the connection; [`Duration::MAX`] before the first.
    pub min: Duration,
}

/// The one place where a controller's events are assembled, for real transports and simulated
/// ones. The host notes what became of its packets, in any order, and settles that: the driver
/// tells the controller in the order of its contract.
///
/// ```text
/// packet leaves      on_sent
/// ACK                note_acked …, note_lost …, note_marked, settle
/// loss timer         note_lost …, note_timeout, settle
/// ```
///
/// What the same acknowledgment covers is out of flight when its losses are reported. Nothing here
/// allocates per packet.
#[derive(Debug)]
pub struct Driver {
    controller: Box<dyn Controller>,
    sampler: DeliveryRateSampler,
    inflight: Bytes,
    /// Bytes in flight before what has been noted and not reported.
    prior_inflight: Bytes,
    /// An acknowledgment mostly covers two at most.
    acked: SmallVec<[AckedPacket; 2]>,
    /// `acked` is not in the order of numbers: TCP acknowledges data, whose transmissions may have
    /// gone in another order.
    acked_out_of_order: bool,
    bytes_acked: Bytes,
    lost: Vec<LostPacket>,
    bytes_lost: Bytes,
    bytes_lost_since_ack: Bytes,
    timeout: Option<TimeoutKind>,
    /// Packets noted as marked.
    marked: u64,
    extension: ExtensionSeen,
}

impl Driver {
    /// A controller that has sent nothing.
    #[must_use]
    pub fn new(controller: Box<dyn Controller>) -> Self {
        Self {
            controller,
            sampler: DeliveryRateSampler::new(),
            inflight: Bytes::ZERO,
            prior_inflight: Bytes::ZERO,
            acked: SmallVec::new(),
            acked_out_of_order: false,
            bytes_acked: Bytes::ZERO,
            lost: Vec::new(),
            bytes_lost: Bytes::ZERO,
            bytes_lost_since_ack: Bytes::ZERO,
            timeout: None,
            marked: 0,
            extension: ExtensionSeen::default(),
        }
    }

    /// The controller.
    #[inline]
    #[must_use]
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    /// Bytes sent and neither acknowledged, lost nor discarded.
    #[inline]
    #[must_use]
    pub fn inflight(&self) -> Bytes {
        self.inflight
    }

    /// Packet `number` of `bytes` leaves. Returns what the controller is told and what the host must
    /// keep with its record of the packet.
    #[inline]
    pub fn on_sent(
        &mut self,
        now: Time,
        number: u64,
        bytes: Bytes,
    ) -> (PacketSent, PacketRateState) {
        let app_limited = self.sampler.is_app_limited();
        let rate_state = self.sampler.on_packet_sent(now, bytes, self.inflight);
        self.inflight += bytes;
        let sent = PacketSent {
            now,
            number,
            bytes,
            inflight: self.inflight,
            app_limited,
        };
        self.controller.on_packet_sent(&sent);
        (sent, rate_state)
    }

    /// Does what [`on_sent`](Self::on_sent) does, for a packet that does not count as in flight
    /// (RFC 9002 §2): the controller is not told.
    #[inline]
    pub fn on_sent_uncounted(&mut self, now: Time) -> PacketRateState {
        self.sampler.on_packet_sent(now, Bytes::ZERO, self.inflight)
    }

    /// The application has nothing more to send although it may.
    #[inline]
    pub fn on_app_limited(&mut self) {
        self.sampler.on_app_limited(self.inflight);
    }

    /// The acknowledgment under way newly covers this packet. `received_at`: as in
    /// [`AckedPacket::received_at`].
    #[inline]
    pub fn note_acked(&mut self, now: Time, packet: &SentPacket, received_at: Option<Time>) {
        self.begin();
        self.inflight -= packet.bytes;
        self.acknowledge(now, packet, received_at);
    }

    /// Does what [`note_acked`](Self::note_acked) does, for a packet that was declared lost before
    /// and is no longer in flight.
    #[inline]
    pub fn note_late_ack(&mut self, now: Time, packet: &SentPacket, received_at: Option<Time>) {
        self.begin();
        self.acknowledge(now, packet, received_at);
    }

    #[inline]
    fn acknowledge(&mut self, now: Time, packet: &SentPacket, received_at: Option<Time>) {
        self.sampler
            .on_packet_acked(now, packet.bytes, packet.sent_at, &packet.rate_state);
        self.bytes_acked += packet.bytes;
        let newest = self.acked.last().map_or(0, |p| p.number);
        self.acked_out_of_order |= packet.number < newest;
        self.acked.push(AckedPacket {
            number: packet.number,
            bytes: packet.bytes,
            sent_at: packet.sent_at,
            received_at,
        });
    }

    /// This packet was declared lost.
    #[inline]
    pub fn note_lost(&mut self, packet: &SentPacket) {
        self.begin();
        self.inflight -= packet.bytes;
        self.bytes_lost += packet.bytes;
        let lost = self
            .sampler
            .on_packet_lost(packet.bytes, &packet.rate_state);
        self.lost.push(LostPacket {
            number: packet.number,
            bytes: packet.bytes,
            sent_at: packet.sent_at,
            sent_inflight: packet.rate_state.inflight,
            lost,
            app_limited: packet.rate_state.app_limited,
        });
    }

    /// Notes that what is lost amounts to a timeout of this kind.
    #[inline]
    pub fn note_timeout(&mut self, kind: TimeoutKind) {
        self.timeout = Some(kind);
    }

    /// The peer reports so many packets newly marked ECN-CE. The controller is told with the next
    /// acknowledgment of packets in flight, mostly that which reports them.
    #[inline]
    pub fn note_marked(&mut self, packets: u64) {
        self.marked = self.marked.saturating_add(packets);
    }

    #[inline]
    fn begin(&mut self) {
        if self.acked.is_empty() && self.lost.is_empty() {
            self.prior_inflight = self.inflight;
        }
    }

    /// Whether the acknowledgment under way newly covers anything.
    #[inline]
    #[must_use]
    pub fn has_acked(&self) -> bool {
        !self.acked.is_empty()
    }

    /// Whether packets were noted as lost that the controller has not been told of.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Bytes leave the flight that are neither acknowledged nor lost: keys were discarded, or another
    /// copy of their data arrived.
    #[inline]
    pub fn on_discarded(&mut self, bytes: Bytes) {
        self.inflight -= bytes;
    }

    /// Bytes that were declared lost are in flight after all (RFC 3522).
    #[inline]
    pub fn on_revived(&mut self, bytes: Bytes) {
        self.inflight += bytes;
    }

    /// Tells the controller what has been noted: losses and what they amount to, then marks, then
    /// the acknowledgment. `seen` is called after each of the three that there is. `rtt`: the
    /// transport's view after the acknowledgment; not used without one.
    #[inline]
    pub fn settle(&mut self, now: Time, rtt: RoundTrip, mut seen: impl FnMut(Observation<'_>)) {
        self.report_losses(now, &mut seen);
        if self.acked.is_empty() {
            return;
        }
        if self.marked > 0 {
            self.report_marks(now);
            seen(Observation::Marked(now, std::mem::take(&mut self.marked)));
        }
        self.report_ack(now, rtt, seen);
    }

    /// The first part of [`settle`](Self::settle), for a host with events of its own between losses
    /// and the acknowledgment that showed them.
    #[inline]
    pub(crate) fn report_losses(&mut self, now: Time, seen: impl FnMut(Observation<'_>)) {
        if self.has_lost() || self.timeout.is_some() {
            self.report_lost(now, seen);
        }
    }

    fn report_lost(&mut self, now: Time, mut seen: impl FnMut(Observation<'_>)) {
        let bytes = std::mem::take(&mut self.bytes_lost);
        self.bytes_lost_since_ack += bytes;
        if self.has_lost() {
            if !self.lost.is_sorted_by_key(|p| p.number) {
                self.lost.sort_unstable_by_key(|p| p.number);
            }
            self.controller.on_loss(&LossEvent {
                now,
                packets: &self.lost,
                bytes_lost: bytes,
                inflight: self.inflight,
            });
        }
        if let Some(kind) = self.timeout.take() {
            self.controller.on_timeout(&TimeoutEvent {
                now,
                kind,
                inflight: self.inflight,
            });
        }
        if self.has_lost() {
            seen(Observation::Loss(LossSeen {
                now,
                packets: &self.lost,
                bytes,
                inflight: self.inflight,
            }));
            self.lost.clear();
        }
    }

    fn report_marks(&mut self, now: Time) {
        let newest = self.acked.iter().map(|p| p.sent_at).max();
        let sent_at = newest.unwrap_or(now);
        self.controller.on_ecn_ce(now, sent_at, self.marked);
    }

    #[inline]
    fn report_ack(&mut self, now: Time, rtt: RoundTrip, mut seen: impl FnMut(Observation<'_>)) {
        if std::mem::take(&mut self.acked_out_of_order) {
            self.acked.sort_unstable_by_key(|p| p.number);
        }
        self.controller.on_ack(&AckEvent {
            now,
            packets: &self.acked,
            bytes_acked: std::mem::take(&mut self.bytes_acked),
            bytes_lost: std::mem::take(&mut self.bytes_lost_since_ack),
            rtt: rtt.sample,
            prior_inflight: self.prior_inflight,
            inflight: self.inflight,
            rate_sample: self.sampler.sample(rtt.min),
        });
        seen(Observation::Ack(AckSeen {
            now,
            rtt: rtt.sample,
            packets: &self.acked,
            smoothed_rtt: rtt.smoothed,
            inflight: self.inflight,
            extension: self.extension,
            controller: Some(&*self.controller),
        }));
        self.acked.clear();
    }

    /// The last timeout was spurious, and what it gave up counts as lost no more; to be called after
    /// [`on_revived`](Self::on_revived) and before the acknowledgment that shows it is settled.
    pub fn on_spurious_timeout(&mut self, now: Time) {
        self.bytes_lost_since_ack = Bytes::ZERO;
        self.controller.on_spurious_timeout(now);
    }

    /// Makes the wake-ups that are due, each at its own time but not before `since`, when the last
    /// event was: BBR-S counts the steps of a silence, and one for all of them would make it believe
    /// in the old rate after an outage.
    #[inline]
    pub fn wake(&mut self, since: Time, now: Time) {
        if self.controller.next_wakeup().is_some_and(|at| at <= now) {
            self.make_wakeups(since, now);
        }
    }

    fn make_wakeups(&mut self, since: Time, now: Time) {
        for _ in 0..MAX_WAKEUPS {
            match self.controller.next_wakeup() {
                Some(at) if at <= now => self.controller.on_wakeup(at.max(since)),
                _ => return,
            }
        }
        self.controller.on_wakeup(now);
    }

    /// The peer's estimator sent feedback.
    #[inline]
    pub fn on_feedback(&mut self, feedback: &Feedback) {
        self.extension.reports += 1;
        self.extension.newest = Some(*feedback);
        self.controller.on_feedback(feedback);
    }

    /// Whether both ends speak RBBR's extension, for observers.
    #[inline]
    pub fn set_negotiated(&mut self, negotiated: bool) {
        self.extension.negotiated = Some(negotiated);
    }

    /// The path carries packets of another size.
    pub fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.controller.on_mtu_change(max_datagram);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lowtide_cc::{Config, registry};

    use super::*;
    use crate::contract;

    /// What the controller is told of at 40 ms.
    fn settle(driver: &mut Driver) -> Vec<(&'static str, u64)> {
        let rtt = RoundTrip {
            sample: None,
            smoothed: Duration::ZERO,
            min: Duration::MAX,
        };
        let mut told = Vec::new();
        driver.settle(Time::from_nanos(40_000_000), rtt, |seen| {
            told.push(match seen {
                Observation::Loss(loss) => ("lost", loss.packets.len() as u64),
                Observation::Marked(_, packets) => ("marked", packets),
                Observation::Ack(ack) => ("acked", ack.packets.len() as u64),
            });
        });
        told
    }

    #[test]
    fn what_was_noted_in_any_order_is_told_in_that_of_the_contract() {
        let spec = registry::parse("newreno").unwrap();
        let (make, notes) = contract::recorded(Arc::new(move |config| spec.build(config)));
        let mut driver = Driver::new(make(&Config::default()));
        let bytes = Bytes::new(1200);
        let sent: Vec<SentPacket> = (0..5)
            .map(|number| SentPacket {
                number,
                bytes,
                sent_at: Time::ZERO,
                rate_state: driver.on_sent(Time::ZERO, number, bytes).1,
            })
            .collect();
        driver.note_marked(1);
        driver.note_acked(Time::from_nanos(40_000_000), &sent[3], None);
        driver.note_lost(&sent[1]);
        driver.note_acked(Time::from_nanos(40_000_000), &sent[2], None);
        driver.note_lost(&sent[0]);
        assert_eq!(
            settle(&mut driver),
            [("lost", 2), ("marked", 1), ("acked", 2)]
        );
        driver.note_marked(2);
        assert_eq!(settle(&mut driver), [], "marks wait");
        driver.note_late_ack(Time::from_nanos(40_000_000), &sent[0], None);
        assert_eq!(settle(&mut driver), [("marked", 2), ("acked", 1)]);
        assert_eq!(driver.inflight(), bytes);
        let breaches = notes.lock().unwrap().breaches.clone();
        assert_eq!(breaches, Vec::<String>::new());
    }
}
