//! BBRv3, as draft-ietf-ccwg-bbr-06 (6 July 2026) specifies it. Section numbers and names in
//! `code style` that are not ours are that draft's.
//!
//! ```text
//!             ┌─────────┐  full pipe, loss  ┌───────┐  inflight ≤ BDP, 3 rounds
//!  start ───► │ Startup │ ────────────────► │ Drain │ ──────────┐
//!             └─────────┘                   └───────┘           ▼
//!                  ▲                             ┌───────► ProbeBW_DOWN ─── queue and headroom free
//!  pipe never full │                    loss, full pipe         │ ▲                  │
//!             ┌──────────┐                       │              │ │ loss             ▼
//!             │ ProbeRTT │ ◄─ 5 s          ProbeBW_UP           │ │           ProbeBW_CRUISE
//!             └──────────┘                       ▲              ▼ │                  │
//!                  │                             └─ a round ─ ProbeBW_REFILL ◄───────┘
//!                  └─► ProbeBW_CRUISE                              2–3 s, or as Reno would
//! ```
//!
//! Like BBR v1 it models the path by bandwidth and minimum RTT and paces at the bandwidth. Unlike
//! v1 it also learns from losses. In a probe, more than 2 % show how much may be in flight for long
//! (`inflight_longterm`); beside probes, any show how much may be sent now (`bw_shortterm`,
//! `inflight_shortterm`), until the next probe.
//!
//! | phase | pacing gain | cwnd gain | bounds of the window |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 | |
//! | Drain | 0.5 | 2 | short-term |
//! | DOWN | 0.9 | 2 | long-term, short-term |
//! | CRUISE | 1 | 2 | 0.85 × long-term, short-term |
//! | REFILL | 1 | 2 | long-term |
//! | UP | 1.25 | 2.25 | long-term |
//! | ProbeRTT | 1 | 0.5 | 0.85 × long-term, short-term |
//!
//! Each phase and each mechanism has its file.

pub(crate) mod entry;

mod aggregation;
mod bandwidth;
mod drain;
mod full_bandwidth;
mod long_term;
mod model;
mod pacing;
mod phase;
mod probe_bw;
mod probe_rtt;
mod probe_wait;
mod short_term;
mod startup;
mod undo;
mod variables;
mod window;
mod window_use;

use self::aggregation::Aggregation;
use self::bandwidth::MaxBandwidth;
use self::full_bandwidth::FullBandwidth;
use self::long_term::LongTerm;
use self::model::Model;
use self::pacing::Pacing;
pub use self::phase::Phase;
use self::probe_bw::Cycle;
use self::probe_rtt::MinRtt;
use self::probe_wait::ProbeWait;
use self::short_term::ShortTerm;
use self::startup::StartupLoss;
use self::undo::Undo;
use self::window::Window;
use self::window_use::WindowUse;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::delivery_rate::RateSample;
use crate::ecn::Ecn;
use crate::mechanisms::{RecoveryEpoch, SmallFlight};
use crate::rng::SeededRng;
use crate::state::State;
use crate::units::{Bytes, Duration, Rate, Time};

/// What can be chosen about BBRv3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The least that may be in flight, in send quanta (`offload_budget`): 3 for TCP with
    /// segmentation offload (§5.5.8.1), 1 for QUIC (§5.5.8.2). Matters where the BDP is smaller.
    pub offload_quanta: u64,
    /// ProbeRTT ends a cycle of the bandwidth filter. Not in the draft: there, where the RTT is so
    /// long that each UP is cut short by ProbeRTT, no cycle ends, and a maximum never expires.
    pub probe_rtt_ends_cycle: bool,
}

impl Options {
    /// The draft's choices for TCP.
    pub const DEFAULT: Self = Self {
        offload_quanta: 3,
        probe_rtt_ends_cycle: false,
    };
}

/// BBRv3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    options: Options,
    model: Model,
    max_bandwidth: MaxBandwidth,
    min_rtt: MinRtt,
    full_bandwidth: FullBandwidth,
    startup_loss: StartupLoss,
    /// In rounds (`drain_start_round`).
    drain_began_at_round: u64,
    cycle: Cycle,
    probe_wait: ProbeWait,
    probe_rtt: SmallFlight,
    long_term: LongTerm,
    short_term: ShortTerm,
    aggregation: Aggregation,
    pacing: Pacing,
    window: Window,
    window_use: WindowUse,
    recovery: RecoveryEpoch,
    undo: Undo,
    /// The flow sends again after idleness and has had no acknowledgment yet.
    idle_restart: bool,
    /// The newest sample, for congestion that comes without one (CE marks).
    last_sample: Option<RateSample>,
    rng: SeededRng,
}

impl Bbr3 {
    /// A flow in Startup.
    #[must_use]
    pub fn new(config: &Config, options: Options) -> Self {
        let mut model = Model::new(config, options.offload_quanta);
        Self {
            options,
            pacing: Pacing::new(&mut model),
            model,
            max_bandwidth: MaxBandwidth::new(),
            min_rtt: MinRtt::new(config.now),
            full_bandwidth: FullBandwidth::default(),
            startup_loss: StartupLoss::default(),
            drain_began_at_round: 0,
            cycle: Cycle::new(),
            probe_wait: ProbeWait::new(config.now),
            probe_rtt: SmallFlight::default(),
            long_term: LongTerm::new(),
            short_term: ShortTerm::new(),
            aggregation: Aggregation::new(config.now),
            window: Window::default(),
            window_use: WindowUse::default(),
            recovery: RecoveryEpoch::new(config.transport),
            undo: Undo::default(),
            idle_restart: false,
            last_sample: None,
            rng: SeededRng::new(config.seed),
        }
    }

    /// Goes over to another phase, which must be one that may follow.
    fn enter(&mut self, phase: Phase) {
        debug_assert!(self.model.phase.may_lead_to(phase));
        self.model.phase = phase;
    }

    /// `UpdateLatestDeliverySignals`, `UpdateCongestionSignals` (§5.5.10.3).
    fn update_signals(&mut self, ack: &AckEvent<'_>, sample: Option<&RateSample>) {
        self.model.rounds.on_ack(ack);
        if self.model.rounds.starts_now() {
            self.probe_wait.on_round();
            self.window_use.on_round();
        }
        let delivered = self.model.rounds.delivered();
        self.short_term.on_ack(ack.now, sample, delivered);
        if let Some(sample) = sample {
            self.model.max_bandwidth = self.max_bandwidth.on_sample(sample);
        }
        self.short_term.adapt(&self.model);
    }

    /// `CheckFullBWReached` (§5.3.1.2).
    fn check_full_bandwidth(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && self.model.rounds.starts_now()
        {
            self.full_bandwidth.on_round(sample);
            self.model.full_pipe |= self.full_bandwidth.is_reached;
        }
    }

    /// Remembers window and state before losses change them (`OnEnterFastRecovery`, §5.6.4.4).
    /// A recovery that is under way goes on.
    fn save_before_recovery(&mut self, in_recovery: bool) {
        self.window.save(in_recovery, &self.model);
        if !in_recovery {
            self.save_state();
        }
    }
}

impl Controller for Bbr3 {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
        self.window_use
            .on_packet_sent(sent, self.model.cwnd, self.model.max_datagram);
        let was_idle = sent.inflight <= sent.bytes;
        if was_idle && sent.app_limited {
            // `HandleRestartFromIdle` (§5.4.1).
            self.idle_restart = true;
            self.aggregation.restart(sent.now);
            if self.model.phase.is_probe_bw() {
                self.pacing.follow(1.0, &mut self.model);
            } else if self.model.phase == Phase::ProbeRtt && self.probe_rtt.has_stayed(sent.now) {
                self.leave_probe_rtt(sent.now);
            }
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let sample = ack.rate_sample.map(|sample| RateSample {
            app_limited: sample.app_limited || self.probe_rtt.contains(&sample),
            ..sample
        });
        self.last_sample = sample.or(self.last_sample);
        let sample = sample.as_ref();
        if self.undo.on_ack(ack) {
            self.undo_spurious_loss();
        }
        if self.recovery.on_ack(ack) {
            self.window.restore(&mut self.model);
        }
        // `UpdateModelAndState` (§5.2.3).
        self.update_signals(ack, sample);
        self.aggregation.on_ack(ack, &self.model);
        self.check_full_bandwidth(sample);
        self.check_startup_done(sample);
        self.check_drain_done(ack.now, ack.inflight);
        self.update_cycle(ack, sample);
        self.model.min_rtt = self.min_rtt.on_ack(ack);
        self.check_probe_rtt(ack);
        self.short_term.advance(sample);
        self.model.bandwidth = self.model.max_bandwidth.min(self.short_term.bandwidth);
        // `UpdateControlParameters` (§5.2.3).
        self.pacing.update(ack.rtt, &mut self.model);
        Window::update(
            ack.bytes_acked,
            self.aggregation.extra_acked(),
            self.short_term.inflight,
            &self.long_term,
            &mut self.model,
        );
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let in_recovery = self.recovery.is_active();
        if self.recovery.on_loss(loss) {
            self.save_before_recovery(in_recovery);
        }
        self.undo.on_loss(loss);
        self.startup_loss.on_loss(loss);
        for packet in loss.packets {
            let delivered = self.model.rounds.delivered();
            self.short_term.on_loss(loss.now, delivered);
            self.judge_probe_by_loss(loss.now, packet);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        // Its losses have just been reported, and have opened a recovery if none was under way;
        // what was saved then is from before the timeout too.
        self.save_before_recovery(self.recovery.is_active());
        self.recovery.on_timeout(timeout.now);
        Window::on_timeout(timeout, &mut self.model);
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.recovery.on_spurious_timeout();
        self.undo_spurious_loss();
    }

    /// The draft demands that marks count as congestion and leaves open how (§3.7). Here a mark is
    /// a loss that needs no threshold: it ends Startup and probes, and beside them lowers the
    /// short-term bounds once a round.
    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, marked_packets: u64) {
        if marked_packets == 0 {
            return;
        }
        let delivered = self.model.rounds.delivered();
        self.short_term.on_loss(now, delivered);
        self.startup_loss.on_mark();
        if self.cycle.has_probe_samples()
            && let Some(sample) = self.last_sample
        {
            self.on_inflight_too_high(now, sample.sent_inflight, sample.app_limited);
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.model.max_datagram = max_datagram.max(Bytes::new(1));
        self.pacing.set_quantum(&mut self.model);
    }

    fn cwnd(&self) -> Bytes {
        self.model.cwnd.max(self.model.max_datagram)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing.rate())
    }

    fn send_quantum(&self) -> Bytes {
        self.model.send_quantum
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.model.phase.name(),
            bandwidth: (!self.model.bandwidth.is_zero()).then_some(self.model.bandwidth),
            min_rtt: Some(self.model.min_rtt).filter(|rtt| *rtt != Duration::MAX),
            pacing_gain: Some(self.model.phase.pacing_gain()),
            cwnd_gain: Some(self.model.phase.cwnd_gain()),
            in_recovery: self.recovery.is_active(),
            ..Snapshot::default()
        }
    }

    fn variables(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.tell_variables(visit);
    }

    fn phases(&self) -> &'static [State] {
        Phase::STATES
    }
}
