//! The host: turns what noq tells a congestion controller into the core's events.
//!
//! noq names each packet when it is sent, acknowledged and lost, but
//! - reports acknowledgments before losses and those before marks, where the core expects losses and marks
//!   first: an acknowledgment is kept until they are known and noq asks for the window;
//! - numbers the packets of three spaces alike without saying which is meant: packets are found by
//!   the time they were sent, too;
//! - says nothing when it drops the packets of a handshake or loses an MTU probe: what is in flight
//!   is corrected at each acknowledgment.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_host::{Factory, Flight, Path, Sent};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use crate::clock::Clock;
use crate::exchange::Exchange;

/// An acknowledgment that the controller has not been told of; its packets are in `Inner::acked`.
#[derive(Clone, Copy, Debug)]
struct Held {
    now: Time,
    rtt: Option<Duration>,
    app_limited: bool,
}

#[derive(Debug)]
struct Inner {
    path: Path,
    clock: Clock,
    flight: Flight,
    max_datagram: Bytes,
    smoothed_rtt: Duration,
    is_app_limited: bool,
    held: Option<Held>,
    acked: Vec<Sent>,
    newest_wire_number: u64,
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
                path,
                clock: Clock::default(),
                flight: Flight::default(),
                max_datagram,
                smoothed_rtt: Duration::ZERO,
                is_app_limited: false,
                held: None,
                acked: Vec::new(),
                newest_wire_number: 0,
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
        let Some(held) = self.held.take() else {
            self.path.report_losses();
            return;
        };
        if held.app_limited {
            self.path.on_app_limited();
        }
        self.is_app_limited = held.app_limited;
        if let Some(rtt) = held.rtt {
            self.path.on_rtt(rtt, self.smoothed_rtt);
        }
        self.path.set_negotiated(exchange.is_spoken());
        let feedback = exchange.take_feedback(held.now);
        self.path
            .on_acked(held.now, &self.acked, held.rtt, feedback, None);
        self.acked.clear();
        self.publish(held.now, exchange, Bytes::ZERO);
    }

    fn publish(&self, now: Time, exchange: &Exchange, sent: Bytes) {
        let signal = self.path.peer_signal(self.is_app_limited);
        exchange.set_signal(now, signal, sent, self.smoothed_rtt, self.max_datagram);
    }

    /// Packets that noq no longer tracks are no longer in flight.
    fn correct_inflight(&mut self, inflight: Bytes) {
        let acked: Bytes = self.acked.iter().map(|s| s.bytes).sum();
        let surplus = self.path.inflight() - acked - inflight;
        if !surplus.is_zero() {
            let left = self.flight.discard(surplus);
            self.path.on_discarded(surplus - left);
        }
    }
}

impl Controller for Host {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let (inner, exchange) = self.parts();
        inner.settle(exchange);
        let now = inner.clock.now(now);
        inner.path.advance(now, exchange.take_feedback(now));
        let bytes = Bytes::new(bytes.into());
        let sent = inner.path.on_sent(now, Some(pn), bytes);
        inner.flight.push(sent);
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
        if inner.held.is_some() {
            inner.settle(exchange);
        }
        let sent_at = inner.clock.time(sent);
        // From before this acknowledgment, which is good enough for logs and repetitions.
        inner.smoothed_rtt = rtt.get().into();
        if let Some(sent) = inner.flight.settle_sent(sent_at, pn) {
            if inner.acked.is_empty() || pn > inner.newest_wire_number {
                inner.newest_wire_number = pn;
            }
            inner.acked.push(sent);
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
        if inner.acked.is_empty() {
            return;
        }
        let arrived = inner.clock.time(now);
        let now = inner.clock.now(now);
        inner.correct_inflight(Bytes::new(in_flight));
        inner.acked.sort_unstable_by_key(|s| s.number);
        let is_newest = largest_packet_num_acked == Some(inner.newest_wire_number);
        let newest = inner.acked.iter().map(|s| s.at).max();
        let rtt = newest.filter(|_| is_newest).map(|at| arrived.since(at));
        inner.held = Some(Held {
            now,
            rtt,
            app_limited,
        });
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
            inner.path.on_marked(1);
            return;
        }
        if is_persistent_congestion {
            inner.path.on_persistent_congestion();
        }
        if inner.held.is_some() {
            // Marks of the same acknowledgment may follow.
            return;
        }
        inner.settle(exchange);
        let now = inner.clock.now(now);
        inner.publish(now, exchange, Bytes::ZERO);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        let (inner, _) = self.parts();
        let now = inner.clock.now(now);
        let bytes = Bytes::new(lost_bytes.into());
        if let Some(sent) = inner.flight.settle_numbered(pn, bytes) {
            inner.path.on_lost(now, &sent);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let (inner, _) = self.parts();
        inner.max_datagram = Bytes::new(u64::from(new_mtu).max(1));
        inner.path.on_mtu_change(inner.max_datagram);
    }

    fn window(&self) -> u64 {
        let mut inner = self.lock();
        inner.settle(&self.exchange);
        inner.path.core().cwnd().get()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut inner = self.lock();
        inner.settle(&self.exchange);
        let core = inner.path.core();
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
