//! quinn's own controllers, watched.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_host::{Factory, Flight, Mirror, Observer, Path, Sent, Stock};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};

/// quinn's own controllers.
pub static STOCK: &[Stock] = &[
    Stock {
        name: "quinn/bbr",
        summary: "quinn's BBR, version 1, whose rate quinn does not pace at",
        source: SOURCE,
    },
    Stock {
        name: "quinn/cubic",
        summary: "quinn's CUBIC, its default",
        source: SOURCE,
    },
    Stock {
        name: "quinn/newreno",
        summary: "quinn's NewReno",
        source: SOURCE,
    },
];

const SOURCE: &str = "quinn-proto 0.11.19";

/// Makes the controller of [`STOCK`] that has a name, and tells an observer what becomes of it.
pub(super) struct StockControllers {
    stock: Arc<dyn ControllerFactory + Send + Sync>,
    observer: Arc<dyn Observer>,
}

impl StockControllers {
    pub(super) fn new(name: &str, observer: Arc<dyn Observer>) -> Option<Self> {
        let stock: Arc<dyn ControllerFactory + Send + Sync> = match name {
            "quinn/bbr" => Arc::new(BbrConfig::default()),
            "quinn/cubic" => Arc::new(CubicConfig::default()),
            "quinn/newreno" => Arc::new(NewRenoConfig::default()),
            _ => return None,
        };
        Some(Self { stock, observer })
    }
}

impl ControllerFactory for StockControllers {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let mirror = Mirror::default();
        let shown = mirror.clone();
        let factory = Factory::with_controller("stock", Arc::new(move |_| Box::new(shown.clone())))
            .with_observer(self.observer.clone());
        let stock = self.stock.clone().build(now, current_mtu);
        Box::new(Watched::new(stock, mirror, factory, current_mtu))
    }
}

/// One of quinn's controllers, which decides, and what tells the observer.
struct Watched {
    stock: Box<dyn Controller>,
    // Never locked but through an exclusive reference; quinn asks that controllers can be shared.
    reporter: Mutex<Reporter>,
}

/// What a controller is told in the terms of observers. quinn names no single packets: those of a batch
/// are taken to be full but for the last, an acknowledged one is known by when it was sent, and of lost
/// ones only the sum is known, for which the oldest in flight are taken.
struct Reporter {
    mirror: Mirror,
    factory: Factory,
    path: Path,
    flight: Flight,
    mtu: u16,
    /// The first instant that it saw.
    origin: Option<Instant>,
    /// The packets of the acknowledgment under way.
    acked: Vec<Sent>,
    /// The newest packet that was acknowledged before.
    newest: Option<u64>,
}

impl Watched {
    fn new(stock: Box<dyn Controller>, mirror: Mirror, factory: Factory, mtu: u16) -> Self {
        let reporter = Mutex::new(Reporter::new(mirror, factory, mtu));
        let mut watched = Self { stock, reporter };
        watched.show();
        watched
    }

    fn reporter(&mut self) -> &mut Reporter {
        let reporter = self.reporter.get_mut();
        reporter.unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&mut self) {
        let metrics = self.stock.metrics();
        let (cwnd, ssthresh) = (metrics.congestion_window, metrics.ssthresh);
        self.reporter().mirror.show_window(cwnd, ssthresh);
    }
}

impl Reporter {
    fn new(mirror: Mirror, factory: Factory, mtu: u16) -> Self {
        let mut path = factory.path(Bytes::new(mtu.into()));
        path.set_observer(factory.observer(None));
        Self {
            mirror,
            factory,
            path,
            flight: Flight::default(),
            mtu,
            origin: None,
            acked: Vec::new(),
            newest: None,
        }
    }

    fn time(&mut self, instant: Instant) -> Time {
        let origin = *self.origin.get_or_insert(instant);
        Time::ZERO + instant.saturating_duration_since(origin).into()
    }

    fn on_sent(&mut self, now: Instant, bytes: u64) {
        let now = self.time(now);
        let full = u64::from(self.mtu).max(1);
        let mut left = bytes;
        while left > 0 {
            let bytes = Bytes::new(left.min(full));
            let sent = self.path.on_sent(now, None, bytes);
            self.flight.push(sent);
            left -= bytes.get();
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, smoothed_rtt: Duration) {
        let (now, sent_at) = (self.time(now), self.time(sent));
        self.path.on_rtt(now.since(sent_at), smoothed_rtt);
        let found = self.flight.settle_like(sent_at, Bytes::new(bytes));
        self.acked.extend(found);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64) {
        let now = self.time(now);
        self.acked.sort_unstable_by_key(|sent| sent.number);
        let Some(last) = self.acked.last() else {
            return;
        };
        // Only what is newer than all before gives a sample (RFC 9002 §5.1).
        let is_newest = self.newest.is_none_or(|newest| last.number > newest);
        let rtt = is_newest.then(|| now.since(last.at));
        self.newest = self.newest.max(Some(last.number));
        let acked: Bytes = self.acked.iter().map(|sent| sent.bytes).sum();
        // What quinn no longer tracks, or never did, such as lone acknowledgments.
        let surplus = self.path.inflight() - acked - Bytes::new(in_flight);
        if !surplus.is_zero() {
            let left = self.flight.discard(surplus);
            self.path.on_discarded(surplus - left);
        }
        self.path.on_acked(now, &self.acked, rtt, None, None);
        self.acked.clear();
    }

    fn on_lost(&mut self, now: Instant, newest: Instant, bytes: u64, is_persistent: bool) {
        let (now, newest) = (self.time(now), self.time(newest));
        let mut missing = Bytes::new(bytes);
        while !missing.is_zero()
            && let Some(lost) = self.flight.settle_oldest(newest)
        {
            missing -= lost.bytes;
            self.path.on_lost(now, &lost);
        }
        if is_persistent {
            self.path.on_persistent_congestion();
        }
        self.path.report_losses();
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.stock.on_sent(now, bytes, last_packet_number);
        self.reporter().on_sent(now, bytes);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.stock.on_ack(now, sent, bytes, app_limited, rtt);
        self.reporter().on_ack(now, sent, bytes, rtt.get().into());
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest: Option<u64>,
    ) {
        self.stock.on_end_acks(now, in_flight, app_limited, largest);
        self.show();
        self.reporter().on_end_acks(now, in_flight);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        lost_bytes: u64,
    ) {
        self.stock
            .on_congestion_event(now, sent, is_persistent, lost_bytes);
        self.show();
        if lost_bytes == 0 {
            // quinn counts the marks and says only that there are more.
            self.reporter().path.on_marked(1);
        } else {
            self.reporter()
                .on_lost(now, sent, lost_bytes, is_persistent);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.stock.on_mtu_update(new_mtu);
        self.reporter().mtu = new_mtu;
        self.show();
    }

    fn window(&self) -> u64 {
        self.stock.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.stock.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let reporter = self.reporter.lock().unwrap_or_else(PoisonError::into_inner);
        let (mirror, factory) = (reporter.mirror.clone(), reporter.factory.clone());
        Box::new(Self::new(
            self.stock.clone_box(),
            mirror,
            factory,
            reporter.mtu,
        ))
    }

    fn initial_window(&self) -> u64 {
        self.stock.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
