//! C4 (Huitema; draft-huitema-ccwg-c4-spec-00 and private-octopus/c4 of November 2025, which wins
//! where they differ), for media over Wi-Fi. Section numbers are the draft's.
//!
//! ```text
//!            ┌─────────┐  no growth   ┌──────────┐   an era    ┌────────┐  1 or 4 eras  ┌──────┐
//!  start ──► │ Initial │ ───────────► │ Recovery │ ──────────► │ Cruise │ ────────────► │ Push │
//!            └─────────┘              └──────────┘ ◄────────── └────────┘               └──────┘
//!                 ▲   successful pushes     │ ▲    congestion            an era or congestion │
//!                 └─────────────────────────┘ └───────────────────────────────────────────────┘
//! ```
//!
//! The flow keeps two numbers, the *nominal rate*, the highest seen since congestion lowered it last,
//! and the *nominal maximum RTT*, the longest seen while it did not push: jitter is part of the path.
//! It paces at α × rate and keeps α × rate × maximum RTT in flight. An *era* lasts until the first packet
//! sent in it is acknowledged.

pub(crate) mod entry;

mod growth;
mod loss;
mod phase;
mod rtts;
mod sensitivity;

use self::growth::{Growth, LARGE_PUSH, SMALL_PUSH};
use self::loss::LossAverage;
use self::phase::Phase;
use self::rtts::Rtts;
use self::sensitivity::{delay_threshold, loss_reduction, loss_threshold};
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::mechanisms::RoundsByNumber;
use crate::state::State;
use crate::units::{Bytes, Duration, Rate, Time};

// α by state: §4.1.
const INITIAL_ALPHA: f64 = 2.0;
const RECOVERY_ALPHA: f64 = 15.0 / 16.0;
const CRUISE_ALPHA: f64 = 1.0;

/// Initial paces so much faster, for packets that come in bunches (the code).
const INITIAL_PACING: f64 = 1.25;
/// Eras without growth that end Initial, and those after which a long RTT ends it (§4.2).
const INITIAL_ERAS: u32 = 3;
const INITIAL_ERAS_DELAYED: u32 = 2;
/// Fewer packets say nothing of losses (§4.2).
const INITIAL_PACKETS: u64 = 20;
/// Eras from push to push (§4.4), unless the last one found something (the code).
const CRUISE_ERAS: u32 = 4;
/// The most by which a signal lowers the rate (§5.5). By marks it does so always: §5.4 leaves them open.
const MAX_REDUCTION: f64 = 0.25;
/// RTT assumed before the first sample, as BBR does.
const NOMINAL_RTT: Duration = Duration::from_millis(1);
const MIN_WINDOW_PACKETS: u64 = 2;
const MAX_QUANTUM: Bytes = Bytes::new(65_536);

/// When a long RTT counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelaySignal {
    /// In an era of Push: it only ends the push (the code).
    Pushing,
    /// Outside of a recovery that congestion began: it lowers the rate (the text).
    Always,
}

/// Where text and code differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When a long RTT counts.
    pub delay: DelaySignal,
    /// Successful pushes in a row after which Initial returns; `None`: it never does.
    pub restart: Option<u32>,
}

impl Options {
    /// The choices of the authors' code.
    pub const DEFAULT: Self = Self {
        delay: DelaySignal::Pushing,
        restart: None,
    };
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Signal {
    /// By which part of the threshold the RTT is above it.
    Delay(f64),
    Loss,
    Ecn,
}

/// C4.
#[derive(Clone, Debug)]
pub struct C4 {
    options: Options,
    phase: Phase,
    alpha: f64,
    /// α when the era began, as the code sets it: Recovery's also in the first era of Cruise.
    era_alpha: f64,
    rate: Rate,
    rtts: Rtts,
    era: RoundsByNumber,
    growth: Growth,
    losses: LossAverage,
    /// Packets acknowledged or lost in Initial.
    initial_packets: u64,
    cruise_eras: u32,
    /// The recovery under way has not seen a signal.
    recovers_from_push: bool,
    has_restarted: bool,
    max_datagram: Bytes,
    initial_window: Bytes,
}

impl C4 {
    /// A flow that knows nothing.
    #[must_use]
    pub fn new(config: &Config, options: Options) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        Self {
            options,
            phase: Phase::Initial,
            alpha: INITIAL_ALPHA,
            era_alpha: INITIAL_ALPHA,
            rate: Rate::ZERO,
            rtts: Rtts::new(),
            era: RoundsByNumber::default(),
            growth: Growth::new(INITIAL_ALPHA),
            losses: LossAverage::default(),
            initial_packets: 0,
            cruise_eras: 0,
            recovers_from_push: false,
            has_restarted: false,
            max_datagram,
            initial_window: config.initial_window.max(max_datagram),
        }
    }

    fn enter(&mut self, phase: Phase, alpha: f64) {
        debug_assert!(self.phase.may_lead_to(phase));
        self.phase = phase;
        self.alpha = alpha;
    }

    fn begin_era(&mut self) {
        self.era.restart();
        self.rtts.begin_era();
        self.era_alpha = self.alpha;
    }

    fn enter_initial(&mut self) {
        self.enter(Phase::Initial, INITIAL_ALPHA);
        self.initial_packets = 0;
        self.begin_era();
        self.growth.forget();
        self.growth.restart(self.rate, self.alpha);
    }

    fn exit_initial(&mut self) {
        self.growth.forget();
        self.enter(Phase::Recovery, RECOVERY_ALPHA);
        self.growth.restart(self.rate, self.alpha);
        self.recovers_from_push = true;
        self.begin_era();
    }

    fn enter_recovery(&mut self, after_signal: bool) {
        self.recovers_from_push = !after_signal;
        if self.phase != Phase::Recovery {
            self.enter(Phase::Recovery, RECOVERY_ALPHA);
            self.begin_era();
        }
    }

    fn exit_recovery(&mut self) {
        self.growth.evaluate(self.rate);
        self.growth.restart(self.rate, self.alpha);
        self.losses.restart();
        let successes = self.growth.successes;
        if self.options.restart.is_some_and(|n| successes >= n) {
            return self.enter_initial();
        }
        // Its first era still sees the packets of Recovery.
        self.begin_era();
        self.enter(Phase::Cruise, CRUISE_ALPHA);
        self.cruise_eras = if successes > 0 { 0 } else { CRUISE_ERAS };
    }

    fn enter_push(&mut self) {
        let found = self.growth.successes > 0;
        self.enter(Phase::Push, if found { LARGE_PUSH } else { SMALL_PUSH });
        self.growth.alpha = self.alpha;
        if self.options.restart.is_none() {
            // The code counts the last push only.
            self.growth.successes = 0;
        }
        self.begin_era();
    }

    /// How far the RTT is above what counts as none, in thresholds; 0 where it is not.
    fn delay_excess(&self, rtt: Duration) -> f64 {
        let Some(max) = self.rtts.max else {
            return 0.0;
        };
        let threshold = delay_threshold(self.rate, max);
        let excess = rtt - (max + threshold);
        if excess.is_zero() {
            0.0
        } else {
            excess.ratio(threshold.max(Duration::from_nanos(1)))
        }
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.rtts.on_sample(rtt);
        let excess = self.delay_excess(rtt);
        if excess <= 0.0 {
            return;
        }
        if self.phase == Phase::Initial {
            let stopped = self.growth.eras_without >= INITIAL_ERAS_DELAYED;
            if stopped && !self.growth.grows(self.rate) {
                self.exit_initial();
            }
        } else if self.era_alpha > 1.0 || self.options.delay == DelaySignal::Always {
            self.on_signal(Signal::Delay(excess));
        }
    }

    /// The nominal rate (§3.1).
    fn on_sample(&mut self, rate: Rate, delivered: Bytes) {
        let frozen = self.phase == Phase::Recovery && self.growth.congested;
        if rate > self.rate && !frozen {
            self.growth.network_limited = true;
            self.rate = rate;
        } else if self.rtts.min != Duration::MAX && delivered > self.rate.volume_in(self.rtts.min) {
            // It did not grow, and not for want of data.
            self.growth.network_limited = true;
        }
    }

    fn on_era_end(&mut self, app_limited: bool) {
        if self.phase == Phase::Initial {
            self.growth.evaluate(self.rate);
            self.begin_era();
            if self.growth.eras_without >= INITIAL_ERAS {
                self.exit_initial();
            } else {
                self.growth.restart(self.rate, self.alpha);
            }
            return;
        }
        self.rtts.on_era_end(self.era_alpha);
        if !self.has_restarted && self.rtts.vary_much() {
            self.has_restarted = true;
            return self.enter_initial();
        }
        match self.phase {
            Phase::Recovery => self.exit_recovery(),
            Phase::Push => self.enter_recovery(false),
            Phase::Initial | Phase::Cruise => {
                self.cruise_eras = self.cruise_eras.saturating_sub(1);
                self.begin_era();
                if self.cruise_eras == 0 && !app_limited {
                    self.enter_push();
                }
            }
        }
    }

    /// §5, and §4.5 for those in Push.
    fn on_signal(&mut self, signal: Signal) {
        self.growth.congested = true;
        let is_delay = matches!(signal, Signal::Delay(_));
        if self.phase == Phase::Recovery && !(is_delay && self.recovers_from_push) {
            return;
        }
        if self.phase == Phase::Push {
            // It has failed, and need not lower the rate.
            self.growth.successes = 0;
        } else {
            let reduction = match signal {
                Signal::Delay(excess) => excess.min(MAX_REDUCTION),
                Signal::Loss => loss_reduction(self.rate),
                Signal::Ecn => MAX_REDUCTION,
            };
            self.rate = self.rate.mul_f64(1.0 - reduction);
            if signal == Signal::Loss {
                self.rtts.lower_max(1.0 - reduction);
            }
        }
        self.enter_recovery(true);
    }

    /// Losses or marks in Initial end it once they can be told from chance.
    fn on_initial_signal(&mut self) {
        self.initial_packets = self.initial_packets.saturating_add(1);
        if self.initial_packets > INITIAL_PACKETS {
            self.exit_initial();
        }
    }

    /// α × the nominal rate.
    fn base_rate(&self) -> Rate {
        self.rate.mul_f64(self.alpha)
    }
}

impl Controller for C4 {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.era.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        if let Some(sample) = &ack.rate_sample {
            self.on_sample(sample.delivery_rate, sample.delivered);
        }
        if self.phase == Phase::Initial {
            let packets = self.initial_packets;
            self.initial_packets = packets.saturating_add(ack.packets.len() as u64);
        }
        if self.era.on_ack(ack) {
            self.on_era_end(ack.rate_sample.is_none_or(|s| s.app_limited));
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        for packet in loss.packets {
            if self.phase == Phase::Recovery && self.era.is_after(packet.number) {
                // Of what the recovery is about.
                continue;
            }
            if self.losses.on_loss(packet.number) > loss_threshold(self.rate) {
                if self.phase == Phase::Initial {
                    self.on_initial_signal();
                } else {
                    self.on_signal(Signal::Loss);
                }
            }
        }
    }

    /// No more than the losses that it declares (§5.3.1).
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, _marked_packets: u64) {
        if self.phase == Phase::Initial {
            self.on_initial_signal();
        } else {
            self.on_signal(Signal::Ecn);
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram.max(Bytes::new(1));
    }

    fn cwnd(&self) -> Bytes {
        let least = self.max_datagram * MIN_WINDOW_PACKETS;
        let (Some(max_rtt), false) = (self.rtts.max, self.rate.is_zero()) else {
            return self.initial_window.max(least);
        };
        let window = self.base_rate().volume_in(max_rtt);
        let window = match self.phase {
            Phase::Initial => window.max(self.initial_window),
            // At least a packet more than in Cruise.
            Phase::Push => window.max(self.rate.volume_in(max_rtt) + self.max_datagram),
            Phase::Recovery | Phase::Cruise => window,
        };
        window.max(least)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rate = if self.rate.is_zero() {
            Rate::from_volume(self.initial_window, NOMINAL_RTT)
        } else {
            self.base_rate()
        };
        let rate = match self.phase {
            Phase::Initial => rate.mul_f64(INITIAL_PACING),
            Phase::Recovery | Phase::Cruise | Phase::Push => rate,
        };
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        let least = self.max_datagram * 2;
        Bytes::new(self.cwnd().get() / 4)
            .min(MAX_QUANTUM)
            .max(least)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.phase.name(),
            bandwidth: (!self.rate.is_zero()).then_some(self.rate),
            min_rtt: Some(self.rtts.min).filter(|rtt| *rtt != Duration::MAX),
            pacing_gain: Some(self.alpha),
            in_recovery: self.phase == Phase::Recovery && self.growth.congested,
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        Phase::STATES
    }
}
