//! The host: turns what s2n-quic tells a congestion controller into the core's events.

use lowtide_cc::controller::{Feedback, PeerSignal};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::{Factory, Flight, Path, Sent, Token, signal_repetition, window_pacing_rate};
use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};

use crate::clock::{Clock, since};
use crate::connection::Link;
use crate::pacer::Pacer;

/// Below this RTT algorithms that do not pace themselves are not paced: s2n-quic's timers count milliseconds, so that waiting for one
/// takes longer than the window takes to be acknowledged (4 % of the throughput on loopback).
const MIN_PACED_RTT: Duration = Duration::from_millis(2);

/// With at most this many packets in flight and nothing more to send, nothing is held back: pacing
/// an endpoint that sends little but acknowledgments would only delay the peer's samples.
const UNPACED_PACKETS: u64 = 2;

/// Finds a packet in its [`Host`] again.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    token: Token,
    /// 1-RTT; otherwise Initial or Handshake.
    is_application: bool,
}

/// A core's controller on one path of an s2n-quic connection.
#[derive(Debug)]
pub struct Host {
    factory: Factory,
    link: Link,
    path: Path,
    clock: Clock,
    pacer: Pacer,
    /// Initial and Handshake packets, whose numbers overlap with those of 1-RTT packets.
    handshake: Flight,
    application: Flight,
    max_datagram: Bytes,
    window: Bytes,
    /// The sample of the acknowledgment under way and when that arrived. An acknowledgment of nothing in
    /// flight gives a sample, too, and no `on_ack`.
    rtt: Option<(Time, Duration)>,
    /// The last packet that left was the last there was to send.
    is_app_limited: bool,
    /// What the peer's estimator should know, what a packet last said, and when.
    signal: Option<PeerSignal>,
    signal_written: Option<(Option<PeerSignal>, Time)>,
    // Reused from event to event.
    acked: Vec<Sent>,
}

impl Host {
    pub(crate) fn new(factory: Factory, link: Link, max_datagram_size: u16) -> Self {
        let max_datagram = Bytes::new(u64::from(max_datagram_size).max(1));
        let path = factory.path(max_datagram);
        let window = path.core().cwnd();
        if let Some(connection) = link.get() {
            connection.set_ecn(path.core().ecn());
        }
        Self {
            factory,
            link,
            path,
            clock: Clock::default(),
            pacer: Pacer::default(),
            handshake: Flight::default(),
            application: Flight::default(),
            max_datagram,
            window,
            rtt: None,
            is_app_limited: false,
            signal: None,
            signal_written: None,
            acked: Vec::new(),
        }
    }

    /// Feedback that arrived since the last event.
    #[inline]
    fn take_feedback(&self, now: Time) -> Option<Feedback> {
        let received = self.link.get().and_then(|c| c.take_feedback())?;
        Some(Feedback {
            now,
            carrier: received.carrier,
            rate: received.rate,
        })
    }

    /// Time passes: losses are reported, feedback taken, wake-ups made.
    #[inline]
    fn advance(&mut self, now: Time) {
        let feedback = self.take_feedback(now);
        self.path.advance(now, feedback);
    }

    /// Makes the controller's decisions known.
    #[inline]
    fn publish(&mut self, now: Time) {
        self.window = self.path.core().cwnd();
        let Some(connection) = self.link.get() else {
            return;
        };
        connection.set_ecn(self.path.core().ecn());
        self.signal = self.path.peer_signal(self.is_app_limited);
        let due = match self.signal_written {
            Some((written, at)) => {
                written != self.signal
                    || now.since(at) >= signal_repetition(self.path.smoothed_rtt())
            }
            None => true,
        };
        connection.set_signal(self.signal, due);
    }

    fn rate(&self) -> Option<Rate> {
        let floor = Rate::from_bytes_per_sec(1);
        self.path
            .core()
            .pacing_rate()
            .map(|r| r.max(floor))
            .or_else(|| {
                let smoothed_rtt = self.path.smoothed_rtt();
                (smoothed_rtt >= MIN_PACED_RTT)
                    .then(|| window_pacing_rate(self.window, smoothed_rtt))
            })
    }

    fn flight(&mut self, is_application: bool) -> &mut Flight {
        if is_application {
            &mut self.application
        } else {
            &mut self.handshake
        }
    }
}

impl Clone for Host {
    /// A new controller for the same path. s2n-quic copies a controller before its first packet, when
    /// it puts the path into its list, and never later.
    fn clone(&self) -> Self {
        let size = u16::try_from(self.max_datagram.get()).unwrap_or(u16::MAX);
        Self::new(self.factory.clone(), self.link.clone(), size)
    }
}

fn saturate(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

impl CongestionController for Host {
    type PacketInfo = PacketInfo;

    #[inline]
    fn congestion_window(&self) -> u32 {
        saturate(self.window)
    }

    #[inline]
    fn bytes_in_flight(&self) -> u32 {
        saturate(self.path.inflight())
    }

    #[inline]
    fn is_congestion_limited(&self) -> bool {
        self.path.inflight() + self.max_datagram > self.window
    }

    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    #[inline]
    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> PacketInfo {
        let now = self.clock.time(time_sent);
        let bytes = Bytes::new(sent_bytes as u64);
        // Only 1-RTT packets know whether the application is the limit.
        let is_application = app_limited.is_some();
        let mut wire_number = None;
        if is_application && let Some(connection) = self.link.get() {
            wire_number = connection.take_leaving();
            if connection.take_signal_written() {
                self.signal_written = Some((self.signal, now));
            }
        }
        self.advance(now);
        if self.path.is_unused() {
            // The connection is known by now.
            let id = self.link.get().map(|c| c.id());
            self.path.set_observer(self.factory.observer(id));
        }
        let sent = self.path.on_sent(now, wire_number, bytes);
        let token = self.flight(is_application).push(sent);
        if !bytes.is_zero() {
            self.is_app_limited = app_limited.unwrap_or(true);
            if self.is_app_limited {
                self.path.on_app_limited();
            }
            if let Some(rate) = self.rate() {
                self.pacer.on_sent(now, bytes, rate);
            }
        }
        self.publish(now);
        PacketInfo {
            token,
            is_application,
        }
    }

    #[inline]
    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
        let rtt = since(now, time_sent);
        self.rtt = Some((self.clock.time(now), rtt));
        self.path.on_rtt(rtt, rtt_estimator.smoothed_rtt().into());
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: PacketInfo,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.clock.time(ack_receive_time);
        let PacketInfo {
            token,
            is_application,
        } = newest_acked_packet_info;
        let bytes = Bytes::new(bytes_acknowledged as u64);
        self.acked.clear();
        match self.link.get().filter(|_| is_application) {
            Some(connection) => connection.with_acked_ranges(|ranges| {
                self.application
                    .acknowledge(token, bytes, ranges, &mut self.acked);
            }),
            None => {
                let acked = &mut self.acked;
                let flight = if is_application {
                    &mut self.application
                } else {
                    &mut self.handshake
                };
                flight.acknowledge(token, bytes, &[], acked);
            }
        }
        let rtt = self.rtt.take().filter(|(at, _)| *at == now);
        let rtt = rtt.map(|(_, rtt)| rtt);
        let negotiated = self.link.get().is_some_and(|c| c.is_negotiated());
        self.path.set_negotiated(negotiated);
        let feedback = self.take_feedback(now);
        let (path, acked) = (&mut self.path, &self.acked);
        match self.link.get().filter(|_| is_application) {
            Some(connection) => connection.with_reported(|arrivals| {
                path.on_acked(now, acked, rtt, feedback, arrivals);
            }),
            None => path.on_acked(now, acked, rtt, feedback, None),
        }
        if !self.acked.is_empty() {
            self.publish(now);
        }
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: PacketInfo,
        persistent_congestion: bool,
        _new_loss_burst: bool,
        _random_generator: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.clock.time(timestamp);
        let PacketInfo {
            token,
            is_application,
        } = packet_info;
        let bytes = Bytes::new(u64::from(lost_bytes));
        let Some(sent) = self.flight(is_application).lose(token, bytes) else {
            return;
        };
        self.path.on_lost(now, &sent);
        if persistent_congestion {
            self.path.on_persistent_congestion();
        }
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        _event_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.path.on_marked(ce_count);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        self.max_datagram = Bytes::new(u64::from(max_data_size).max(1));
        self.path.on_mtu_change(self.max_datagram);
        self.window = self.path.core().cwnd();
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        let bytes = Bytes::new(bytes_sent as u64);
        let left = self.handshake.discard(bytes);
        let left = self.application.discard(left);
        self.path.on_discarded(bytes - left);
    }

    #[inline]
    fn earliest_departure_time(&self) -> Option<Timestamp> {
        if self.is_app_limited && self.path.inflight() <= self.max_datagram * UNPACED_PACKETS {
            return None;
        }
        self.clock.timestamp(self.pacer.departure())
    }

    #[inline]
    fn send_quantum(&self) -> Option<usize> {
        usize::try_from(self.path.core().send_quantum().get()).ok()
    }
}
