//! s2n-quic's own controllers, watched.

use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Rate};
use lowtide_host::{Make, Mirror, Stock};
use lowtide_sim::SenderKind;
use lowtide_sim::stack::{self, Error};
use num_rational::Ratio;
use s2n_quic::provider::congestion_controller::{
    CongestionController, Endpoint, PathInfo, Publisher, RandomGenerator, RttEstimator, Timestamp,
};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::recovery::CubicCongestionController;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::bbr::BbrCongestionController;

use crate::controllers::Controllers;
use crate::host::{self, Host};

/// Controllers of s2n-quic's own.
pub static STOCK: &[Stock] = &[
    Stock {
        name: BBR,
        summary: "s2n-quic's BBR, version 2",
        source: SOURCE,
    },
    Stock {
        name: CUBIC,
        summary: "s2n-quic's CUBIC with HyStart++, its default",
        source: SOURCE,
    },
];

const SOURCE: &str = "s2n-quic 1.91.0";
const BBR: &str = "s2n/bbr";
const CUBIC: &str = "s2n/cubic";

/// Phases that these controllers show.
const PHASES: &[State] = &[
    State::new("SlowStart", StateKind::Start),
    State::new("CongestionAvoidance", StateKind::Steady),
    State::new("Startup", StateKind::Start),
    State::new("Drain", StateKind::Drain),
    State::new("ProbeBW_DOWN", StateKind::Down),
    State::new("ProbeBW_CRUISE", StateKind::Steady),
    State::new("ProbeBW_REFILL", StateKind::Refill),
    State::new("ProbeBW_UP", StateKind::Up),
    State::new("ProbeRTT", StateKind::ProbeRtt),
];

/// Controller that decides at an endpoint.
#[derive(Clone)]
pub(super) struct Choice {
    /// Lowtide's controller, or what is shown of s2n-quic's.
    pub(super) make: Make,
    /// The name of s2n-quic's, and what shows it.
    stock: Option<(&'static str, Mirror)>,
}

impl Choice {
    /// A flow's.
    pub(super) fn of(sender: &SenderKind) -> Result<Self, Error> {
        match (stack::stock_of(sender, STOCK)?, sender) {
            (Some(name), _) => Ok(Self::stock(name)),
            (None, SenderKind::Controlled { controller, .. }) => Ok(Self {
                make: controller.clone(),
                stock: None,
            }),
            (None, _) => Err(Error::Bound),
        }
    }

    fn stock(name: &'static str) -> Self {
        let mirror = Mirror::with_phases(PHASES);
        // s2n-quic marks what it sends, whatever its controller.
        mirror.update(|shown| shown.ecn = Ecn::Ect0);
        let shown = mirror.clone();
        Self {
            make: Arc::new(move |_| Box::new(shown.clone())),
            stock: Some((name, mirror)),
        }
    }

    /// Choice for the flow's receiver, which sends next to nothing.
    pub(super) fn of_receiver(&self) -> Self {
        match self.stock {
            Some(_) => Self::stock(CUBIC),
            None => self.clone(),
        }
    }

    /// With the controllers that are made of it.
    pub(super) fn senders(self, controllers: Controllers) -> Senders {
        Senders {
            controllers,
            stock: self.stock,
        }
    }
}

/// Gives an endpoint a controller of s2n-quic's, or else Lowtide's: one type for both, because
/// s2n-quic is compiled for each type of controller.
#[derive(Debug)]
pub(super) struct Senders {
    /// Lowtide's, or those that tell of s2n-quic's.
    controllers: Controllers,
    stock: Option<(&'static str, Mirror)>,
}

impl Endpoint for Senders {
    type CongestionController = Sender;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Sender {
        let max_datagram = path.max_datagram_size;
        let host = self.controllers.new_congestion_controller(path);
        let watched = self.stock.clone().map(|(name, mirror)| {
            let (own, phase) = if name == BBR {
                let bbr = BbrCongestionController::new(max_datagram, Default::default());
                (Own::Bbr(bbr), "Startup")
            } else {
                let cubic = CubicCongestionController::new(max_datagram, Default::default());
                (Own::Cubic(cubic), "SlowStart")
            };
            mirror.update(|shown| shown.snapshot.phase = phase);
            let watched = Watched { own, mirror };
            watched.show();
            watched
        });
        Sender { host, watched }
    }
}

/// One of s2n-quic's controllers.
// There are as many as connections, which are larger.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Own {
    Bbr(BbrCongestionController),
    Cubic(CubicCongestionController),
}

#[derive(Clone, Debug)]
struct Watched {
    own: Own,
    mirror: Mirror,
}

impl Watched {
    fn show(&self) {
        let cwnd = match &self.own {
            Own::Bbr(bbr) => bbr.congestion_window(),
            Own::Cubic(cubic) => cubic.congestion_window(),
        };
        let cwnd = Bytes::new(u64::from(cwnd));
        self.mirror.update(|shown| shown.cwnd = cwnd);
    }
}

/// A path's controller: Lowtide's host, or one of s2n-quic's, which decides; then the host is told the
/// same and tells the observer.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    host: Host,
    watched: Option<Watched>,
}

/// Finds a packet again: in the host, and in s2n-quic's BBR. Its CUBIC has nothing to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketInfo {
    host: host::PacketInfo,
    bbr: Option<<BbrCongestionController as CongestionController>::PacketInfo>,
}

/// Shows what a controller says of itself, and hands it on.
struct Heard<'a, Pub> {
    mirror: &'a Mirror,
    publisher: &'a mut Pub,
}

impl<Pub: Publisher> Publisher for Heard<'_, Pub> {
    fn on_slow_start_exited(&mut self, cause: SlowStartExitCause, congestion_window: u32) {
        let phase = "CongestionAvoidance";
        self.mirror.update(|shown| shown.snapshot.phase = phase);
        self.publisher
            .on_slow_start_exited(cause, congestion_window);
    }

    fn on_delivery_rate_sampled(&mut self, sample: RateSample) {
        self.publisher.on_delivery_rate_sampled(sample);
    }

    fn on_pacing_rate_updated(&mut self, rate: Bandwidth, burst: u32, gain: Ratio<u64>) {
        self.mirror.update(|shown| {
            shown.pacing_rate = Some(Rate::from_bytes_per_sec(rate.as_bytes_per_second()));
            let gain = *gain.numer() as f64 / *gain.denom() as f64;
            shown.snapshot.pacing_gain = Some(gain);
        });
        self.publisher.on_pacing_rate_updated(rate, burst, gain);
    }

    fn on_bbr_state_changed(&mut self, state: BbrState) {
        let phase = match state {
            BbrState::Startup => "Startup",
            BbrState::Drain => "Drain",
            BbrState::ProbeBwDown => "ProbeBW_DOWN",
            BbrState::ProbeBwCruise => "ProbeBW_CRUISE",
            BbrState::ProbeBwRefill => "ProbeBW_REFILL",
            BbrState::ProbeBwUp => "ProbeBW_UP",
            BbrState::ProbeRtt => "ProbeRTT",
        };
        self.mirror.update(|shown| shown.snapshot.phase = phase);
        self.publisher.on_bbr_state_changed(state);
    }
}

/// Asks the one that decides.
macro_rules! ask {
    ($self:ident, $decider:ident => $call:expr) => {
        match $self.watched.as_ref().map(|watched| &watched.own) {
            None => {
                let $decider = &$self.host;
                $call
            }
            Some(Own::Bbr($decider)) => $call,
            Some(Own::Cubic($decider)) => $call,
        }
    };
}

/// Tells s2n-quic's controller, if it decides, of a packet where it is of one; then the host.
macro_rules! tell {
    ($self:ident, $publisher:ident, $packet:ident, $told:ident => $call:expr) => {{
        if let Some(watched) = &mut $self.watched {
            let $publisher = &mut Heard {
                mirror: &watched.mirror,
                publisher: &mut *$publisher,
            };
            match (&mut watched.own, $packet.bbr) {
                (Own::Bbr($told), Some($packet)) => $call,
                (Own::Bbr(_), None) => {}
                (Own::Cubic($told), _) => {
                    let $packet = ();
                    $call
                }
            }
            watched.show();
        }
        let ($told, $packet) = (&mut $self.host, $packet.host);
        $call
    }};
    ($self:ident, $publisher:ident, $told:ident => $call:expr) => {{
        if let Some(watched) = &mut $self.watched {
            let $publisher = &mut Heard {
                mirror: &watched.mirror,
                publisher: &mut *$publisher,
            };
            match &mut watched.own {
                Own::Bbr($told) => $call,
                Own::Cubic($told) => $call,
            }
            watched.show();
        }
        let $told = &mut $self.host;
        $call
    }};
}

impl CongestionController for Sender {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        ask!(self, decider => decider.congestion_window())
    }

    fn bytes_in_flight(&self) -> u32 {
        ask!(self, decider => decider.bytes_in_flight())
    }

    fn is_congestion_limited(&self) -> bool {
        ask!(self, decider => decider.is_congestion_limited())
    }

    fn requires_fast_retransmission(&self) -> bool {
        ask!(self, decider => decider.requires_fast_retransmission())
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        at: Timestamp,
        bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) -> PacketInfo {
        let mut found = None;
        if let Some(watched) = &mut self.watched {
            let publisher = &mut Heard {
                mirror: &watched.mirror,
                publisher: &mut *publisher,
            };
            match &mut watched.own {
                Own::Bbr(bbr) => {
                    found = Some(bbr.on_packet_sent(at, bytes, app_limited, rtt, publisher));
                }
                Own::Cubic(cubic) => {
                    cubic.on_packet_sent(at, bytes, app_limited, rtt, publisher);
                }
            }
            watched.show();
        }
        let host = &mut self.host;
        PacketInfo {
            host: host.on_packet_sent(at, bytes, app_limited, rtt, publisher),
            bbr: found,
        }
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        now: Timestamp,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, told => told.on_rtt_update(sent, now, rtt, publisher));
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        bytes: usize,
        newest: PacketInfo,
        rtt: &RttEstimator,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, newest, told =>
            told.on_ack(sent, bytes, newest, rtt, random, now, publisher));
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        bytes: u32,
        packet: PacketInfo,
        is_persistent: bool,
        is_new_burst: bool,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, packet, told =>
            told.on_packet_lost(bytes, packet, is_persistent, is_new_burst, random, now, publisher));
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, told => told.on_explicit_congestion(ce_count, now, publisher));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, publisher: &mut Pub) {
        tell!(self, publisher, told => told.on_mtu_update(max_data_size, publisher));
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, publisher: &mut Pub) {
        tell!(self, publisher, told => told.on_packet_discarded(bytes, publisher));
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        ask!(self, decider => decider.earliest_departure_time())
    }

    fn send_quantum(&self) -> Option<usize> {
        ask!(self, decider => decider.send_quantum())
    }
}
