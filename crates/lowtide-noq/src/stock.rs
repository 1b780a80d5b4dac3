//! noq's own controllers, watched.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lowtide_cc::units::Rate;
use lowtide_host::{Factory, Mirror, Observer, Stock};
use noq_proto::RttEstimator;
use noq_proto::congestion::{
    Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};

use crate::exchange::Exchange;
use crate::host::Host;

/// Controllers of noq's own.
pub static STOCK: &[Stock] = &[
    Stock {
        name: "noq/bbr3",
        summary: "noq's BBR version 3; when it probes for bandwidth differs from run to run, whatever the seed",
        source: SOURCE,
    },
    Stock {
        name: "noq/cubic",
        summary: "noq's CUBIC, its default",
        source: SOURCE,
    },
    Stock {
        name: "noq/newreno",
        summary: "noq's NewReno",
        source: SOURCE,
    },
];

const SOURCE: &str = "noq-proto 1.4.0";

/// Gives a transport configuration one of noq's own controllers, and tells an observer what becomes of
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
            "noq/bbr3" => Arc::new(Bbr3Config::default()),
            "noq/cubic" => Arc::new(CubicConfig::default()),
            "noq/newreno" => Arc::new(NewRenoConfig::default()),
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
            host: Host::new(factory, Arc::new(Exchange::default()), current_mtu),
        };
        watched.show();
        Box::new(watched)
    }
}

/// One of noq's controllers, which decides, and a host of ours, which is told the same and tells the
/// observer.
#[derive(Debug)]
struct Watched {
    stock: Box<dyn Controller>,
    mirror: Mirror,
    host: Host,
}

impl Watched {
    fn show(&self) {
        let metrics = self.stock.metrics();
        self.mirror
            .show_window(metrics.congestion_window, metrics.ssthresh);
        self.mirror.update(|shown| {
            shown.pacing_rate = metrics.pacing_rate.map(Rate::from_bytes_per_sec);
            let bits = metrics.bandwidth_estimate;
            shown.snapshot.bandwidth = bits.map(|bits| Rate::from_bytes_per_sec(bits / 8));
        });
    }
}

/// Tells both, the one that decides first.
macro_rules! tell {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) {
            self.stock.$name($($argument),*);
            self.show();
            self.host.$name($($argument),*);
        })*
    };
}

impl Controller for Watched {
    tell! {
        on_sent(now: Instant, bytes: u64, largest_pn: u64);
        on_packet_sent(now: Instant, bytes: u16, pn: u64);
        on_cwnd_limited();
        on_end_acks(now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>);
        on_packet_lost(lost_bytes: u16, pn: u64, now: Instant);
        on_spurious_congestion_event();
        on_mtu_update(new_mtu: u16);
        on_ack_frequency_update(ack_eliciting_threshold: u64, requested_max_ack_delay: Duration);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.stock.on_ack(now, sent, bytes, pn, app_limited, rtt);
        self.host.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        let (stock, host) = (&mut self.stock, &mut self.host);
        stock.on_congestion_event(
            now,
            sent,
            is_persistent,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
        host.on_congestion_event(
            now,
            sent,
            is_persistent,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
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
