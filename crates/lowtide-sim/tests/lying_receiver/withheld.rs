//! A receiver that acknowledges when it likes.

use std::collections::{BTreeMap, BTreeSet};

use lowtide_cc::Controller;
use lowtide_cc::controller::{AckEvent, AckedPacket, LossEvent, LostPacket, PacketSent};
use lowtide_cc::delivery_rate::{DeliveryRateSampler, PacketRateState};
use lowtide_cc::units::{Bytes, Duration, Time};

use super::two_flows::ONE_WAY;

/// When the acknowledgment of a packet comes, which was sent at this time: asked when the packet is
/// sent, and again when an honest acknowledgment comes, with its time. `None`: not known yet.
pub(crate) type Will = fn(Time, Option<Time>) -> Option<Time>;

/// Hands a controller its acknowledgments at other times, with a window for its host that keeps in
/// flight what the controller wants with its own account of it.
#[derive(Debug)]
pub(crate) struct Withheld {
    inner: Box<dyn Controller>,
    will: Will,
    /// What the controller takes to be in flight, by number.
    flight: BTreeMap<u64, (AckedPacket, PacketRateState)>,
    inflight: Bytes,
    host_inflight: Bytes,
    /// Acknowledgments to come.
    due: BTreeSet<(Time, u64)>,
    /// Lost since the last acknowledgment, and when.
    lost: Bytes,
    lost_at: Time,
    sampler: DeliveryRateSampler,
}

impl Withheld {
    pub(crate) fn new(inner: Box<dyn Controller>, will: Will) -> Self {
        Self {
            inner,
            will,
            flight: BTreeMap::new(),
            inflight: Bytes::ZERO,
            host_inflight: Bytes::ZERO,
            due: BTreeSet::new(),
            lost: Bytes::ZERO,
            lost_at: Time::ZERO,
            sampler: DeliveryRateSampler::new(),
        }
    }

    fn release(&mut self, now: Time) {
        let before = self.inflight;
        let mut packets = Vec::new();
        while let Some(&(at, number)) = self.due.first()
            && at <= now
        {
            self.due.pop_first();
            if let Some((packet, state)) = self.flight.remove(&number) {
                self.inflight -= packet.bytes;
                self.sampler
                    .on_packet_acked(now, packet.bytes, packet.sent_at, &state);
                packets.push(packet);
            }
        }
        let Some(newest) = packets.iter().map(|p| p.sent_at).max() else {
            return;
        };
        packets.sort_by_key(|p| p.number);
        // What the same acknowledgment declares lost was in flight before it, too.
        let lost_now = if self.lost_at == now {
            self.lost
        } else {
            Bytes::ZERO
        };
        self.inner.on_ack(&AckEvent {
            now,
            packets: &packets,
            bytes_acked: before - self.inflight,
            bytes_lost: std::mem::take(&mut self.lost),
            rtt: Some(now.since(newest)),
            prior_inflight: before + lost_now,
            inflight: self.inflight,
            rate_sample: self.sampler.sample(ONE_WAY * 2),
        });
    }
}

impl lowtide_cc::Wrap for Withheld {
    type Inner = dyn Controller;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.inner
    }
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.host_inflight = sent.inflight;
        let state = self
            .sampler
            .on_packet_sent(sent.now, sent.bytes, self.inflight);
        self.inflight += sent.bytes;
        let packet = AckedPacket {
            number: sent.number,
            bytes: sent.bytes,
            sent_at: sent.now,
            received_at: None,
        };
        self.flight.insert(sent.number, (packet, state));
        if let Some(at) = (self.will)(sent.now, None) {
            self.due.insert((at, sent.number));
        }
        let inflight = self.inflight;
        self.inner.on_packet_sent(&PacketSent { inflight, ..*sent });
    }
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.host_inflight = ack.inflight;
        for packet in ack.packets {
            if let Some(at) = (self.will)(packet.sent_at, Some(ack.now)) {
                self.due.insert((at, packet.number));
            }
        }
        self.release(ack.now);
    }
    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.host_inflight = loss.inflight;
        let noticed = |p: &&LostPacket| self.flight.contains_key(&p.number);
        let packets: Vec<_> = loss.packets.iter().filter(noticed).copied().collect();
        let mut bytes_lost = Bytes::ZERO;
        for packet in &packets {
            if let Some((_, state)) = self.flight.remove(&packet.number) {
                self.sampler.on_packet_lost(packet.bytes, &state);
                bytes_lost += packet.bytes;
            }
        }
        if packets.is_empty() {
            return;
        }
        self.inflight -= bytes_lost;
        self.lost += bytes_lost;
        self.lost_at = loss.now;
        self.inner.on_loss(&LossEvent {
            packets: &packets,
            bytes_lost,
            inflight: self.inflight,
            ..*loss
        });
    }
    fn on_wakeup(&mut self, now: Time) {
        if self.inner.next_wakeup().is_some_and(|at| at <= now) {
            self.inner.on_wakeup(now);
        }
        self.release(now);
    }
    fn next_wakeup(&self) -> Option<Time> {
        let due = self.due.first().map(|(at, _)| *at);
        due.into_iter().chain(self.inner.next_wakeup()).min()
    }
    fn cwnd(&self) -> Bytes {
        (self.inner.cwnd() + self.host_inflight) - self.inflight
    }
}

/// At the next multiple of `span`.
pub(crate) fn bunched(acked_at: Time, span: Duration) -> Time {
    let spans = acked_at.as_nanos().div_ceil(span.as_nanos());
    Time::from_nanos(spans * span.as_nanos())
}
