//! quinn's own controllers, watched.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use lowtide_host::{Factory, Mirror, Observer, Stock};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};

use crate::host::Host;
use crate::pacing::Pacing;

/// Controllers of quinn's own.
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

/// Gives a transport configuration one of quinn's own controllers, and tells an observer what becomes of
/// it as of one of Lowtide's.
#[derive(Clone)]
pub struct StockControllers {
    stock: Arc<dyn ControllerFactory + Send + Sync>,
    observer: Arc<dyn Observer>,
}

impl StockControllers {
    /// The controller of [`STOCK`] that has this name, if there is one.
    #[must_use]
    pub fn new(name: &str, observer: Arc<dyn Observer>) -> Option<Self> {
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
        let watched = Watched {
            stock: self.stock.clone().build(now, current_mtu),
            mirror,
            host: Host::new(factory, Pacing::Quinn, current_mtu),
        };
        watched.show();
        Box::new(watched)
    }
}

/// One of quinn's controllers, which decides, and a host of ours, which is told the same and tells the
/// observer.
struct Watched {
    stock: Box<dyn Controller>,
    mirror: Mirror,
    host: Host,
}

impl Watched {
    // quinn shows the rate of its BBR for logs and does not pace at it.
    fn show(&self) {
        let metrics = self.stock.metrics();
        self.mirror
            .show_window(metrics.congestion_window, metrics.ssthresh);
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.stock.on_sent(now, bytes, last_packet_number);
        self.host.on_sent(now, bytes, last_packet_number);
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
        self.host.on_ack(now, sent, bytes, app_limited, rtt);
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
        self.host.on_end_acks(now, in_flight, app_limited, largest);
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
        self.host
            .on_congestion_event(now, sent, is_persistent, lost_bytes);
        self.show();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.stock.on_mtu_update(new_mtu);
        self.host.on_mtu_update(new_mtu);
        self.show();
    }

    fn window(&self) -> u64 {
        // Asked for the window, the host tells what it has held back.
        self.host.window();
        self.stock.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.stock.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            stock: self.stock.clone_box(),
            mirror: self.mirror.clone(),
            host: self.host.renewed(),
        })
    }

    fn initial_window(&self) -> u64 {
        self.stock.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
