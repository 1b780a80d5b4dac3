//! The host: turns what noq tells a congestion controller into the core's events.
//!
//! noq names each packet when it is sent, acknowledged and lost, but numbers the packets of three spaces
//! alike without saying which is meant: packets are found by the time they were sent, too. What else
//! differs from the core's order is [`Deferred`]'s business.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::units::{Bytes, Time};
use lowtide_host::{Deferred, Factory};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use crate::exchange::Exchange;

#[derive(Debug)]
struct Inner {
    on: Deferred,
    max_datagram: Bytes,
    /// The newest packet of the acknowledgment under way, by noq's number.
    newest_wire_number: Option<u64>,
}

/// A core's controller on one path of a noq connection.
#[derive(Debug)]
pub struct Host {
    factory: Factory,
    exchange: Arc<Exchange>,
    initial_window: u64,
    // noq asks for the window through a shared reference, and that may release a held
    // acknowledgment. Never contended.
    inner: Mutex<Inner>,
}

impl Host {
    pub(crate) fn new(factory: Factory, exchange: Arc<Exchange>, max_datagram_size: u16) -> Self {
        let max_datagram = Bytes::new(u64::from(max_datagram_size).max(1));
        let mut path = factory.path(max_datagram);
        path.set_observer(factory.observer(None));
        Self {
            factory,
            exchange,
            initial_window: path.core().cwnd().get(),
            inner: Mutex::new(Inner {
                on: Deferred::new(path),
                max_datagram,
                newest_wire_number: None,
            }),
        }
    }

    pub(crate) fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    /// The estimator for peers that send with RBBR.
    pub(crate) fn receiver(&self) -> ReceiverConfig {
        self.factory.receiver()
    }

    /// A new controller for the same connection: noq copies one when the peer's port changes, and
    /// the new port may mean a new path. Extensions keep their hold on the copy.
    pub(crate) fn renewed(&self) -> Self {
        let size = u16::try_from(self.lock().max_datagram.get()).unwrap_or(u16::MAX);
        Self::new(self.factory.clone(), self.exchange.clone(), size)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state without locking, and the exchange.
    fn parts(&mut self) -> (&mut Inner, &Exchange) {
        let inner = self.inner.get_mut();
        (
            inner.unwrap_or_else(PoisonError::into_inner),
            &self.exchange,
        )
    }
}

impl Inner {
    /// Tells the controller what has been held back.
    fn settle(&mut self, exchange: &Exchange) {
        if self.on.is_held() {
            self.on.path.set_negotiated(exchange.is_spoken());
        }
        if let Some(now) = self.on.settle(|now| exchange.take_feedback(now)) {
            self.publish(now, exchange, Bytes::ZERO);
        }
    }

    fn publish(&self, now: Time, exchange: &Exchange, sent: Bytes) {
        let signal = self.on.path.peer_signal(self.on.is_app_limited());
        exchange.set_signal(now, signal, sent, self.on.smoothed_rtt, self.max_datagram);
    }
}

impl Controller for Host {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let (inner, exchange) = self.parts();
        inner.settle(exchange);
        let now = inner.on.clock.now(now);
        inner.on.path.advance(now, exchange.take_feedback(now));
        let bytes = Bytes::new(bytes.into());
        let sent = inner.on.path.on_sent(now, Some(pn), bytes);
        inner.on.flight.push(sent);
        inner.publish(now, exchange, bytes);
    }

    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        _bytes: u64,
        pn: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let (inner, exchange) = self.parts();
        if inner.on.is_held() {
            inner.settle(exchange);
        }
        let sent_at = inner.on.clock.time(sent);
        // From before this acknowledgment, which is good enough for logs and repetitions.
        inner.on.smoothed_rtt = rtt.get().into();
        if let Some(sent) = inner.on.flight.settle_sent(sent_at, pn) {
            inner.newest_wire_number = inner.newest_wire_number.max(Some(pn));
            inner.on.note_acked(sent);
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        let (inner, _) = self.parts();
        let newest = inner.newest_wire_number.take();
        let is_newest = newest == largest_packet_num_acked;
        let in_flight = Bytes::new(in_flight);
        inner.on.hold(now, in_flight, app_limited, is_newest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let (inner, exchange) = self.parts();
        if is_ecn {
            // noq counts the marks and says only that there are more.
            inner.on.path.on_marked(1);
            return;
        }
        if is_persistent_congestion {
            inner.on.path.on_persistent_congestion();
        }
        if inner.on.is_held() {
            // Marks of the same acknowledgment may follow.
            return;
        }
        inner.settle(exchange);
        let now = inner.on.clock.now(now);
        inner.publish(now, exchange, Bytes::ZERO);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        let (inner, _) = self.parts();
        let now = inner.on.clock.now(now);
        let bytes = Bytes::new(lost_bytes.into());
        if let Some(sent) = inner.on.flight.settle_numbered(pn, bytes) {
            inner.on.path.on_lost(now, &sent);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let (inner, _) = self.parts();
        inner.max_datagram = Bytes::new(u64::from(new_mtu).max(1));
        inner.on.path.on_mtu_change(inner.max_datagram);
    }

    fn window(&self) -> u64 {
        let mut inner = self.lock();
        inner.settle(&self.exchange);
        inner.on.path.core().cwnd().get()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut inner = self.lock();
        inner.settle(&self.exchange);
        let core = inner.on.path.core();
        let snapshot = core.snapshot();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = core.cwnd().get();
        metrics.ssthresh = snapshot.ssthresh.map(Bytes::get);
        metrics.pacing_rate = core
            .pacing_rate()
            .map(|rate| rate.as_bytes_per_sec().max(1));
        metrics.send_quantum = Some(core.send_quantum().get());
        metrics.bandwidth_estimate = snapshot
            .bandwidth
            .map(|rate| rate.as_bytes_per_sec().saturating_mul(8));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.renewed())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
