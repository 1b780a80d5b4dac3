//! The host: turns what quinn tells a congestion controller into the core's events.
//!
//! quinn names no single packets:
//! - those of a batch are taken to be full but for the last;
//! - one that holds an acknowledgment only is told as sent and never again: the oldest are forgotten when
//!   there are more than a window can hold;
//! - an acknowledged one is known by when it was sent, and its size;
//! - of lost ones only the sum is known, and when the newest was sent: the oldest in flight are taken.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lowtide_cc::units::{Bytes, Time};
use lowtide_host::{Deferred, Factory};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use crate::pacing::{Budget, Pacing};

/// Packets that are remembered whatever the window.
const MIN_REMEMBERED: u64 = 1024;

#[derive(Debug)]
struct Inner {
    on: Deferred,
    max_datagram: Bytes,
    budget: Budget,
}

impl Inner {
    fn settle(&mut self) {
        self.on.settle(|_| None);
    }

    /// Forgets the oldest packets beyond twice what a window can hold.
    fn forget_oldest(&mut self, now: Time) {
        let window = self.on.path.core().cwnd().get() / self.max_datagram.get();
        let most = window.saturating_mul(2).max(MIN_REMEMBERED);
        while self.on.flight.kept() as u64 > most
            && let Some(sent) = self.on.flight.settle_oldest(now)
        {
            self.on.path.on_discarded(sent.bytes);
        }
    }

    fn refill(&mut self, now: Instant) {
        let rtt = self.on.smoothed_rtt;
        let rtt = (!rtt.is_zero()).then_some(rtt);
        let now = self.on.clock.now(now);
        self.budget.refill(now, self.on.path.core(), rtt);
    }
}

/// A core's controller on one path of a quinn connection.
#[derive(Debug)]
pub struct Host {
    factory: Factory,
    pacing: Pacing,
    initial_window: u64,
    // quinn asks for the window through a shared reference, and that may release a held
    // acknowledgment. Never contended.
    inner: Mutex<Inner>,
}

impl Host {
    pub(crate) fn new(factory: Factory, pacing: Pacing, max_datagram_size: u16) -> Self {
        let max_datagram = Bytes::new(u64::from(max_datagram_size).max(1));
        let mut path = factory.path(max_datagram);
        path.set_observer(factory.observer(None));
        Self {
            factory,
            pacing,
            initial_window: path.core().cwnd().get(),
            inner: Mutex::new(Inner {
                on: Deferred::new(path),
                max_datagram,
                budget: Budget::default(),
            }),
        }
    }

    /// A new controller for the same connection: quinn copies one when the peer's address changes, and
    /// the new address may mean a new path.
    pub(crate) fn renewed(&self) -> Self {
        let size = u16::try_from(self.lock().max_datagram.get()).unwrap_or(u16::MAX);
        Self::new(self.factory.clone(), self.pacing, size)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&mut self) -> &mut Inner {
        let inner = self.inner.get_mut();
        inner.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Controller for Host {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let inner = self.inner();
        inner.settle();
        inner.refill(now);
        inner.budget.spend(Bytes::new(bytes));
        let now = inner.on.clock.now(now);
        inner.on.path.advance(now, None);
        let mut left = Bytes::new(bytes);
        while !left.is_zero() {
            let bytes = left.min(inner.max_datagram);
            let sent = inner.on.path.on_sent(now, None, bytes);
            inner.on.flight.push(sent);
            left -= bytes;
        }
        inner.forget_oldest(now);
    }

    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let inner = self.inner();
        if inner.on.is_held() {
            inner.settle();
        }
        let sent_at = inner.on.clock.time(sent);
        // From before this acknowledgment, which is good enough for logs and the budget.
        inner.on.smoothed_rtt = rtt.get().into();
        if let Some(sent) = inner.on.flight.settle_like(sent_at, Bytes::new(bytes)) {
            inner.on.note_acked(sent);
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        let inner = self.inner();
        inner.refill(now);
        // Only what is newer than all before gives a sample (RFC 9002 §5.1).
        let is_newest = inner.on.covers_newest();
        let in_flight = Bytes::new(in_flight);
        inner.on.hold(now, in_flight, app_limited, is_newest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let inner = self.inner();
        if lost_bytes == 0 {
            // quinn counts the marks and says only that there are more.
            inner.on.path.on_marked(1);
            return;
        }
        let newest = inner.on.clock.time(sent);
        let now = inner.on.clock.now(now);
        let mut missing = Bytes::new(lost_bytes);
        while !missing.is_zero()
            && let Some(lost) = inner.on.flight.settle_oldest(newest)
        {
            missing -= lost.bytes;
            inner.on.path.on_lost(now, &lost);
        }
        if is_persistent_congestion {
            inner.on.path.on_persistent_congestion();
        }
        if !inner.on.is_held() {
            inner.settle();
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        let inner = self.inner();
        inner.max_datagram = Bytes::new(u64::from(new_mtu).max(1));
        inner.on.path.on_mtu_change(inner.max_datagram);
    }

    fn window(&self) -> u64 {
        let mut inner = self.lock();
        inner.settle();
        let path = &inner.on.path;
        let cwnd = path.core().cwnd();
        let window = match self.pacing {
            Pacing::Window => {
                let inflight = path.inflight();
                inner.budget.window(cwnd, inflight, inner.max_datagram)
            }
            Pacing::Quinn => cwnd,
        };
        // quinn sends what leaves the flight below the window, the core what leaves it within.
        window.get().saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut inner = self.lock();
        inner.settle();
        let core = inner.on.path.core();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = core.cwnd().get();
        metrics.ssthresh = core.snapshot().ssthresh.map(Bytes::get);
        metrics.pacing_rate = core
            .pacing_rate()
            .map(|rate| rate.as_bytes_per_sec().max(1).saturating_mul(8));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_receiver_that_only_acknowledges_does_not_grow() {
        let factory = Factory::new("ebb").unwrap();
        let mut host = Host::new(factory, Pacing::Window, 1200);
        let window = host.window();
        let mut now = Instant::now();
        for number in 0..10_000 {
            host.on_sent(now, 40, number);
            now += Duration::from_millis(1);
        }
        let inner = host.inner();
        assert_eq!(inner.on.flight.kept() as u64, MIN_REMEMBERED);
        assert_eq!(inner.on.path.inflight().get(), 40 * MIN_REMEMBERED);
        assert_eq!(host.window(), window);
    }
}
