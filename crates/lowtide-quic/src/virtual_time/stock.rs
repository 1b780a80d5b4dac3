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

/// s2n-quic's own controllers.
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

/// What they show of their phases.
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

/// Who decides at an endpoint.
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

    /// The same for the flow's receiver, which sends next to nothing.
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
        match &self.stock {
            None => Sender::Lowtide(host),
            Some((BBR, mirror)) => {
                let stock = BbrCongestionController::new(max_datagram, Default::default());
                Sender::Bbr(Watched::new(stock, host, mirror, "Startup"))
            }
            Some((_, mirror)) => {
                let stock = CubicCongestionController::new(max_datagram, Default::default());
                Sender::Cubic(Watched::new(stock, host, mirror, "SlowStart"))
            }
        }
    }
}

/// What decides on a path.
// There are as many as connections, which are larger.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub(super) enum Sender {
    Lowtide(Host),
    Bbr(Watched<BbrCongestionController>),
    Cubic(Watched<CubicCongestionController>),
}

/// Finds a packet again.
#[derive(Clone, Copy, Debug)]
pub(super) enum PacketInfo {
    Lowtide(<Host as CongestionController>::PacketInfo),
    Bbr(<Watched<BbrCongestionController> as CongestionController>::PacketInfo),
    Cubic(<Watched<CubicCongestionController> as CongestionController>::PacketInfo),
}

/// One of s2n-quic's controllers, which decides, and a host of ours, which is told the same and tells
/// the observer.
#[derive(Clone, Debug)]
pub(super) struct Watched<C> {
    stock: C,
    host: Host,
    mirror: Mirror,
}

impl<C: CongestionController> Watched<C> {
    fn new(stock: C, host: Host, mirror: &Mirror, phase: &'static str) -> Self {
        let mirror = mirror.clone();
        mirror.update(|shown| shown.snapshot.phase = phase);
        let watched = Self {
            stock,
            host,
            mirror,
        };
        watched.show();
        watched
    }

    fn show(&self) {
        let cwnd = Bytes::new(u64::from(self.stock.congestion_window()));
        self.mirror.update(|shown| shown.cwnd = cwnd);
    }
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

/// Tells both, the one that decides first; what that returns.
macro_rules! tell {
    ($self:ident, $publisher:ident, $both:ident => $stock:expr, $host:expr) => {{
        let mirror = $self.mirror.clone();
        let told = {
            let $both = &mut $self.stock;
            let $publisher = &mut Heard {
                mirror: &mirror,
                publisher: &mut *$publisher,
            };
            $stock
        };
        $self.show();
        let $both = &mut $self.host;
        (told, $host)
    }};
}

impl<C: CongestionController> CongestionController for Watched<C> {
    type PacketInfo = (C::PacketInfo, host::PacketInfo);

    fn congestion_window(&self) -> u32 {
        self.stock.congestion_window()
    }

    fn bytes_in_flight(&self) -> u32 {
        self.stock.bytes_in_flight()
    }

    fn is_congestion_limited(&self) -> bool {
        self.stock.is_congestion_limited()
    }

    fn requires_fast_retransmission(&self) -> bool {
        self.stock.requires_fast_retransmission()
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) -> Self::PacketInfo {
        tell!(self, publisher, both =>
            both.on_packet_sent(time_sent, sent_bytes, app_limited, rtt, publisher),
            both.on_packet_sent(time_sent, sent_bytes, app_limited, rtt, publisher))
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, both =>
            both.on_rtt_update(time_sent, now, rtt, publisher),
            both.on_rtt_update(time_sent, now, rtt, publisher));
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        bytes: usize,
        newest: Self::PacketInfo,
        rtt: &RttEstimator,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, both =>
            both.on_ack(sent, bytes, newest.0, rtt, random, now, publisher),
            both.on_ack(sent, bytes, newest.1, rtt, random, now, publisher));
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        bytes: u32,
        packet: Self::PacketInfo,
        is_persistent: bool,
        is_new_burst: bool,
        random: &mut dyn RandomGenerator,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, both =>
            both.on_packet_lost(bytes, packet.0, is_persistent, is_new_burst, random, now, publisher),
            both.on_packet_lost(bytes, packet.1, is_persistent, is_new_burst, random, now, publisher));
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        tell!(self, publisher, both =>
            both.on_explicit_congestion(ce_count, now, publisher),
            both.on_explicit_congestion(ce_count, now, publisher));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, publisher: &mut Pub) {
        tell!(self, publisher, both =>
            both.on_mtu_update(max_data_size, publisher),
            both.on_mtu_update(max_data_size, publisher));
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, publisher: &mut Pub) {
        tell!(self, publisher, both =>
            both.on_packet_discarded(bytes, publisher),
            both.on_packet_discarded(bytes, publisher));
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.stock.earliest_departure_time()
    }

    fn send_quantum(&self) -> Option<usize> {
        self.stock.send_quantum()
    }
}

/// The same call to whichever it is.
macro_rules! each {
    ($self:ident, $sender:ident => $call:expr) => {
        match $self {
            Self::Lowtide($sender) => $call,
            Self::Bbr($sender) => $call,
            Self::Cubic($sender) => $call,
        }
    };
}

/// The same with a packet, which is one of its own: a path keeps its controller.
macro_rules! each_of {
    ($self:ident, $packet:ident, $sender:ident => $call:expr) => {
        match ($self, $packet) {
            (Self::Lowtide($sender), PacketInfo::Lowtide($packet)) => $call,
            (Self::Bbr($sender), PacketInfo::Bbr($packet)) => $call,
            (Self::Cubic($sender), PacketInfo::Cubic($packet)) => $call,
            _ => {}
        }
    };
}

impl CongestionController for Sender {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        each!(self, sender => sender.congestion_window())
    }

    fn bytes_in_flight(&self) -> u32 {
        each!(self, sender => sender.bytes_in_flight())
    }

    fn is_congestion_limited(&self) -> bool {
        each!(self, sender => sender.is_congestion_limited())
    }

    fn requires_fast_retransmission(&self) -> bool {
        each!(self, sender => sender.requires_fast_retransmission())
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        at: Timestamp,
        bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) -> PacketInfo {
        match self {
            Self::Lowtide(sender) => {
                PacketInfo::Lowtide(sender.on_packet_sent(at, bytes, app_limited, rtt, publisher))
            }
            Self::Bbr(sender) => {
                PacketInfo::Bbr(sender.on_packet_sent(at, bytes, app_limited, rtt, publisher))
            }
            Self::Cubic(sender) => {
                PacketInfo::Cubic(sender.on_packet_sent(at, bytes, app_limited, rtt, publisher))
            }
        }
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        sent: Timestamp,
        now: Timestamp,
        rtt: &RttEstimator,
        publisher: &mut Pub,
    ) {
        each!(self, sender => sender.on_rtt_update(sent, now, rtt, publisher));
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
        each_of!(self, newest, sender =>
            sender.on_ack(sent, bytes, newest, rtt, random, now, publisher));
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
        each_of!(self, packet, sender =>
            sender.on_packet_lost(bytes, packet, is_persistent, is_new_burst, random, now, publisher));
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        now: Timestamp,
        publisher: &mut Pub,
    ) {
        each!(self, sender => sender.on_explicit_congestion(ce_count, now, publisher));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, publisher: &mut Pub) {
        each!(self, sender => sender.on_mtu_update(max_data_size, publisher));
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes: usize, publisher: &mut Pub) {
        each!(self, sender => sender.on_packet_discarded(bytes, publisher));
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        each!(self, sender => sender.earliest_departure_time())
    }

    fn send_quantum(&self) -> Option<usize> {
        each!(self, sender => sender.send_quantum())
    }
}
