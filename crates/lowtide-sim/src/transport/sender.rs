//! The sending end: what QUIC and TCP have in common.
//!
//! A sender takes data from its source, lends it to the network as the controller allows, and
//! turns acknowledgments into the controller's events. What differs between the protocols stands
//! in `quic.rs` and `tcp.rs`.

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, Feedback, LossEvent, LostPacket, PacketSent, PeerSignal,
    TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::DeliveryRateSampler;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::flight::{Fate, Flight, Segments, Transmission};
use super::loss_detection::LossDetection;
use super::pacer::Pacer;
use super::ranges::{Range, RangeSet};
use super::receiver::Ack;
use super::rtt::RttEstimator;
use super::{Pacing, TransportConfig};
use crate::probe::{AckSeen, LossSeen, Probe};
use crate::source::Source;

/// Pacing of algorithms that do not pace themselves: N × cwnd / srtt (RFC 9002 §7.7).
const WINDOW_PACING_FACTOR: f64 = 1.25;

/// Timers double at each expiry in vain, up to this many times.
const MAX_BACKOFF: u32 = 16;

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) number: u64,
    pub(crate) segment: u64,
    pub(crate) bytes: Bytes,
    pub(crate) retransmission: bool,
    /// What the controller tells the receiver's estimator with it.
    pub(crate) signal: Option<PeerSignal>,
}

/// Who decides when to send.
#[derive(Debug)]
pub(crate) enum Driver {
    Controller(Box<dyn Controller>),
    /// The next slot of the bottleneck that this flow holds: when to send for it.
    Oracle {
        next: Option<Time>,
    },
}

/// Where the oracle's slots come from.
pub(crate) trait SlotSource {
    /// When the next packet of `bytes` must be sent; not before `now`.
    fn claim(&mut self, now: Time, bytes: Bytes) -> Time;
}

#[derive(Debug)]
pub(super) enum Protocol {
    Quic(super::quic::QuicState),
    Tcp(super::tcp::TcpState),
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub(super) flow: usize,
    pub(super) protocol: Protocol,
    pub(super) driver: Driver,
    pub(super) flight: Flight,
    pub(super) segments: Segments,
    sampler: DeliveryRateSampler,
    pub(super) rtt: RttEstimator,
    pub(super) detection: LossDetection,
    pacer: Pacer,
    source: Source,
    packet_size: Bytes,
    start: Time,
    stop: Time,
    /// What the peer has acknowledged: packet numbers (QUIC) or segments (TCP).
    known: RangeSet,
    /// Expiries of the retransmission timer since the last progress.
    pub(super) backoff: u32,
    pub(super) last_sent_at: Time,
    /// When data was last newly acknowledged, or sent into an empty pipe.
    pub(super) last_progress_at: Time,
    /// The pacer holds a packet until then.
    paced_until: Option<Time>,
    waits_for_data: bool,
    complete: bool,
    /// Reported by `on_loss` and, since the last acknowledgment, not taken back.
    pub(super) bytes_lost_since_ack: Bytes,
    // Reused from event to event, so that none allocates.
    pub(super) newly_acked: Vec<AckedPacket>,
    pub(super) lost: Vec<u64>,
    lost_packets: Vec<LostPacket>,
    new_ranges: Vec<Range>,
}

/// What a sender needs to start.
pub(crate) struct SenderSetup {
    pub(crate) flow: usize,
    pub(crate) transport: TransportConfig,
    pub(crate) pacing: Pacing,
    pub(crate) driver: Driver,
    pub(crate) source: Source,
    pub(crate) packet_size: Bytes,
    pub(crate) start: Time,
    pub(crate) stop: Time,
}

impl Sender {
    pub(crate) fn new(setup: SenderSetup) -> Self {
        let (protocol, detection) = match setup.transport {
            TransportConfig::Quic { max_ack_delay, .. } => (
                Protocol::Quic(super::quic::QuicState::new(max_ack_delay)),
                LossDetection::quic(),
            ),
            TransportConfig::Tcp {
                min_rto,
                delayed_ack,
                ..
            } => (
                Protocol::Tcp(super::tcp::TcpState::new(min_rto, delayed_ack)),
                LossDetection::rack(),
            ),
        };
        Self {
            flow: setup.flow,
            protocol,
            driver: setup.driver,
            flight: Flight::default(),
            segments: Segments::default(),
            sampler: DeliveryRateSampler::new(),
            rtt: RttEstimator::new(),
            detection,
            pacer: Pacer::new(setup.pacing),
            source: setup.source,
            packet_size: setup.packet_size,
            start: setup.start,
            stop: setup.stop,
            known: RangeSet::default(),
            backoff: 0,
            last_sent_at: setup.start,
            last_progress_at: setup.start,
            paced_until: None,
            waits_for_data: false,
            complete: false,
            bytes_lost_since_ack: Bytes::ZERO,
            newly_acked: Vec::new(),
            lost: Vec::new(),
            lost_packets: Vec::new(),
            new_ranges: Vec::new(),
        }
    }

    /// When the sender next wants [`on_timer`](Self::on_timer), without new acknowledgments.
    #[inline]
    pub(crate) fn next_event(&self, now: Time) -> Option<Time> {
        if now < self.start {
            return Some(self.start);
        }
        if now >= self.stop {
            return None;
        }
        let mut next = self.paced_until.unwrap_or(Time::MAX);
        if !self.flight.inflight().is_zero() {
            if let Some(deadline) = self.detection.deadline() {
                next = next.min(deadline);
            } else if !self.holds_slot() {
                next = next.min(self.timeout_at());
            }
        }
        if self.waits_for_data
            && let Some(write) = self.source.next_write()
        {
            next = next.min(write);
        }
        match &self.driver {
            Driver::Controller(cc) => next = next.min(cc.next_wakeup().unwrap_or(Time::MAX)),
            Driver::Oracle { next: slot } => next = next.min(slot.unwrap_or(Time::MAX)),
        }
        (next != Time::MAX).then_some(next)
    }

    /// Whether this is the oracle with a slot to come. It then needs no retransmission timer: the
    /// packet in that slot makes the peer acknowledge. A probe in between would be one packet more
    /// than a link that is always busy can carry, and would stand in its queue for ever.
    fn holds_slot(&self) -> bool {
        matches!(self.driver, Driver::Oracle { next: Some(_) })
    }

    fn timeout_at(&self) -> Time {
        match &self.protocol {
            Protocol::Quic(quic) => self.quic_timeout_at(quic),
            Protocol::Tcp(tcp) => self.tcp_timeout_at(tcp),
        }
    }

    /// Some timer may be due.
    pub(crate) fn on_timer<P: Probe>(
        &mut self,
        now: Time,
        slots: &mut impl SlotSource,
        out: &mut Vec<Outgoing>,
        probe: &mut P,
    ) {
        if now < self.start || now >= self.stop {
            return;
        }
        if let Driver::Controller(cc) = &mut self.driver
            && cc.next_wakeup().is_some_and(|t| t <= now)
        {
            cc.on_wakeup(now);
        }
        if !self.flight.inflight().is_zero() {
            if let Some(deadline) = self.detection.deadline() {
                if deadline <= now {
                    self.find_losses(now, probe);
                    self.forget_settled();
                }
            } else if !self.holds_slot() && self.timeout_at() <= now {
                probe.on_timeout(self.flow, now);
                match &self.protocol {
                    Protocol::Quic(_) => self.quic_probe(now, out),
                    Protocol::Tcp(_) => self.tcp_timeout(now, out, probe),
                }
            }
        }
        self.pump(now, slots, out);
    }

    /// An acknowledgment arrived.
    pub(crate) fn on_ack<P: Probe>(
        &mut self,
        now: Time,
        ack: &Ack,
        slots: &mut impl SlotSource,
        out: &mut Vec<Outgoing>,
        probe: &mut P,
    ) {
        if let (Some(rate), Driver::Controller(cc)) = (ack.feedback, &mut self.driver) {
            let carrier = ack.number;
            cc.on_feedback(&Feedback { now, carrier, rate });
        }
        let prior_inflight = self.flight.inflight();
        let oldest_known = match &self.protocol {
            Protocol::Quic(_) => self.flight.base(),
            Protocol::Tcp(_) => self.segments.base(),
        };
        let mut new_ranges = std::mem::take(&mut self.new_ranges);
        new_ranges.clear();
        self.known.forget_below(oldest_known);
        for range in ack.ranges.iter().rev() {
            let start = range.start.max(oldest_known);
            self.known.insert_range(
                Range {
                    start,
                    end: range.end,
                },
                |gap| new_ranges.push(gap),
            );
        }
        self.newly_acked.clear();
        let rtt = match &self.protocol {
            Protocol::Quic(_) => self.quic_ack(now, ack, &new_ranges),
            Protocol::Tcp(_) => self.tcp_ack(now, ack, &new_ranges),
        };
        self.new_ranges = new_ranges;
        if self.newly_acked.is_empty() {
            return;
        }
        self.last_progress_at = now;
        self.backoff = 0;
        self.find_losses(now, probe);
        let rate_sample = self.sampler.sample(self.rtt.min());
        if let Driver::Controller(cc) = &mut self.driver {
            cc.on_ack(&AckEvent {
                now,
                packets: &self.newly_acked,
                bytes_acked: self.newly_acked.iter().map(|p| p.bytes).sum(),
                bytes_lost: self.bytes_lost_since_ack,
                rtt,
                prior_inflight,
                inflight: self.flight.inflight(),
                rate_sample,
            });
        }
        self.bytes_lost_since_ack = Bytes::ZERO;
        self.pacer.on_ack();
        self.forget_settled();
        probe.on_ack(&AckSeen {
            flow: self.flow,
            now,
            packets: &self.newly_acked,
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            inflight: self.flight.inflight(),
            controller: match &self.driver {
                Driver::Controller(cc) => Some(&**cc),
                Driver::Oracle { .. } => None,
            },
        });
        if !self.complete && self.segments.all_acked() && self.source.is_finished() {
            self.complete = true;
            probe.on_flow_complete(self.flow, now);
        }
        if now < self.stop {
            self.pump(now, slots, out);
        }
    }

    /// Books a transmission as delivered; its record if it had not been.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time, number: u64) -> Option<Transmission> {
        let t = self.deliver_undated(now, number)?;
        self.detection
            .on_delivered(now, number, t.sent_at, t.retransmission, &self.rtt);
        Some(t)
    }

    /// As [`deliver`](Self::deliver), but says nothing of when it was: another transmission of the
    /// same data may have arrived in its place.
    #[inline]
    pub(super) fn deliver_undated(&mut self, now: Time, number: u64) -> Option<Transmission> {
        let (t, before) = self.flight.settle(number, Fate::Acked)?;
        if before == Fate::Acked {
            return None;
        }
        self.segments.ack(t.segment);
        self.sampler
            .on_packet_acked(now, t.bytes, t.sent_at, &t.rate_state);
        self.newly_acked.push(AckedPacket {
            number,
            bytes: t.bytes,
            sent_at: t.sent_at,
        });
        Some(t)
    }

    /// Runs loss detection and reports what it finds.
    fn find_losses<P: Probe>(&mut self, now: Time, probe: &mut P) {
        self.lost.clear();
        let hurry = self.tcp_hurries();
        self.detection
            .detect(now, &self.flight, &self.rtt, hurry, &mut self.lost);
        if self.lost.is_empty() {
            return;
        }
        let is_persistent = self.is_persistent_congestion();
        self.report_losses(now, probe);
        if is_persistent {
            self.report_timeout(now, TimeoutKind::PersistentCongestion);
        }
    }

    /// Takes the transmissions in `self.lost` out of flight, queues their data again and tells the
    /// controller.
    pub(super) fn report_losses<P: Probe>(&mut self, now: Time, probe: &mut P) {
        self.lost_packets.clear();
        let mut bytes_lost = Bytes::ZERO;
        for &number in &self.lost {
            if let Some((t, Fate::InFlight)) = self.flight.settle(number, Fate::Lost) {
                let lost = self.sampler.on_packet_lost(t.bytes, &t.rate_state);
                self.segments.retransmit_later(t.segment);
                bytes_lost += t.bytes;
                self.lost_packets.push(LostPacket {
                    number,
                    bytes: t.bytes,
                    sent_at: t.sent_at,
                    sent_inflight: t.rate_state.inflight,
                    lost,
                    app_limited: t.rate_state.app_limited,
                });
            }
        }
        if self.lost_packets.is_empty() {
            return;
        }
        self.tcp_enter_recovery();
        self.bytes_lost_since_ack += bytes_lost;
        self.pacer.on_loss();
        probe.on_loss(&LossSeen {
            flow: self.flow,
            now,
            packets: &self.lost_packets,
            bytes: bytes_lost,
            inflight: self.flight.inflight(),
        });
        if let Driver::Controller(cc) = &mut self.driver {
            cc.on_loss(&LossEvent {
                now,
                packets: &self.lost_packets,
                bytes_lost,
                inflight: self.flight.inflight(),
            });
        }
    }

    pub(super) fn report_timeout(&mut self, now: Time, kind: TimeoutKind) {
        if let Driver::Controller(cc) = &mut self.driver {
            cc.on_timeout(&TimeoutEvent {
                now,
                kind,
                inflight: self.flight.inflight(),
            });
        }
    }

    /// Sends what may be sent.
    pub(crate) fn pump(&mut self, now: Time, slots: &mut impl SlotSource, out: &mut Vec<Outgoing>) {
        self.paced_until = None;
        self.waits_for_data = false;
        loop {
            let Some(bytes) = self.next_bytes(now) else {
                if self.segments.fill_receive_window() {
                    return;
                }
                self.waits_for_data = true;
                self.note_app_limited();
                return;
            };
            match &mut self.driver {
                Driver::Controller(cc) => {
                    let cwnd = cc.cwnd();
                    if self.flight.inflight() + bytes > cwnd {
                        self.pacer.on_window_full();
                        return;
                    }
                    let rate = match cc.pacing_rate() {
                        Some(rate) => Some(rate),
                        None => self.window_pacing_rate(cwnd),
                    };
                    if let Some(rate) = rate {
                        let quantum = match &self.driver {
                            Driver::Controller(cc) => cc.send_quantum(),
                            Driver::Oracle { .. } => Bytes::ZERO,
                        };
                        if let Err(until) = self.pacer.release(now, bytes, rate, quantum) {
                            self.paced_until = Some(until);
                            return;
                        }
                        self.pacer.on_sent(bytes, rate);
                    }
                }
                Driver::Oracle { next } => {
                    let slot = *next.get_or_insert_with(|| slots.claim(now, bytes));
                    if slot > now {
                        return;
                    }
                    *next = None;
                }
            }
            self.transmit_next(now, out);
        }
    }

    /// Size of the next packet to send; `None` when there is nothing to send.
    #[inline]
    fn next_bytes(&mut self, now: Time) -> Option<Bytes> {
        if let Some((_, bytes)) = self.segments.next_retransmission() {
            return Some(bytes);
        }
        if self.segments.fill_receive_window() {
            return None;
        }
        let available = self.source.available(now);
        (!available.is_zero()).then(|| available.min(self.packet_size))
    }

    #[inline]
    fn window_pacing_rate(&self, cwnd: Bytes) -> Option<Rate> {
        let paces = matches!(self.protocol, Protocol::Quic(_)) && self.rtt.has_sample();
        paces.then(|| {
            let rate = Rate::from_volume(cwnd, self.rtt.smoothed().max(Duration::from_nanos(1)));
            rate.mul_f64(WINDOW_PACING_FACTOR)
                .max(Rate::from_bytes_per_sec(1))
        })
    }

    fn note_app_limited(&mut self) {
        let has_room = match &self.driver {
            Driver::Controller(cc) => self.flight.inflight() < cc.cwnd(),
            Driver::Oracle { .. } => true,
        };
        if has_room {
            self.sampler.on_app_limited(self.flight.inflight());
        }
    }

    /// Sends the lowest lost data, or else new data that the source must have.
    #[inline]
    fn transmit_next(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        if let Some((segment, bytes)) = self.segments.next_retransmission() {
            self.segments.take_retransmission();
            self.transmit(now, Some(segment), bytes, out);
        } else {
            let bytes = self.source.available(now).min(self.packet_size);
            self.source.take(bytes);
            self.transmit(now, None, bytes, out);
        }
    }

    /// Sends a packet whatever window and pacer say: lost data, new data, or what `fallback` names.
    pub(super) fn transmit_probe(
        &mut self,
        now: Time,
        fallback: Option<(u64, Bytes)>,
        out: &mut Vec<Outgoing>,
    ) {
        if self.next_bytes(now).is_some() {
            self.transmit_next(now, out);
        } else if let Some((segment, bytes)) = fallback {
            self.transmit(now, Some(segment), bytes, out);
        }
    }

    /// Puts one packet on the wire; `segment`: old data, otherwise new.
    pub(super) fn transmit(
        &mut self,
        now: Time,
        segment: Option<u64>,
        bytes: Bytes,
        out: &mut Vec<Outgoing>,
    ) {
        let number = self.flight.next_number();
        let inflight = self.flight.inflight();
        let app_limited = self.sampler.is_app_limited();
        let rate_state = self.sampler.on_packet_sent(now, bytes, inflight);
        let retransmission = segment.is_some();
        let segment = match segment {
            Some(segment) => {
                self.segments.set_newest_transmission(segment, number);
                segment
            }
            None => self.segments.push(bytes, number),
        };
        self.flight.push(Transmission {
            sent_at: now,
            segment,
            bytes,
            fate: Fate::InFlight,
            retransmission,
            rate_state,
        });
        if inflight.is_zero() {
            self.last_progress_at = now;
        }
        self.last_sent_at = now;
        let mut signal = None;
        if let Driver::Controller(cc) = &mut self.driver {
            let inflight = self.flight.inflight();
            cc.on_packet_sent(&PacketSent {
                now,
                number,
                bytes,
                inflight,
                app_limited,
            });
            signal = cc.peer_signal();
        }
        out.push(Outgoing {
            number,
            segment,
            bytes,
            retransmission,
            signal,
        });
    }

    /// `timeout` doubled for each expiry in vain.
    pub(super) fn backed_off(&self, timeout: Duration) -> Duration {
        timeout * (1_u64 << self.backoff.min(MAX_BACKOFF))
    }

    fn forget_settled(&mut self) {
        let judging = match &self.protocol {
            Protocol::Quic(_) => false,
            Protocol::Tcp(tcp) => tcp.judges_timeout(),
        };
        if !judging {
            self.flight.forget_settled(&self.segments);
        }
    }
}
