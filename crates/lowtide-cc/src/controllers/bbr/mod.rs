//! BBR v1 (Cardwell et al. 2016; Linux `tcp_bbr`; draft-cardwell-iccrg-bbr-congestion-control-00)
//! as a state machine with replaceable parts.
//!
//! ```text
//!             ┌─────────┐  pipe full   ┌───────┐  inflight ≤ BDP   ┌─────────┐
//!  start ───► │ Startup │ ───────────► │ Drain │ ────────────────► │ ProbeBW │ ◄─┐
//!             └─────────┘              └───────┘                   └─────────┘   │
//!                  ▲                                                    │        │
//!                  │ pipe never full   ┌──────────┐  10 s without a     │        │
//!                  └────────────────── │ ProbeRTT │ ◄── new min_rtt ────┘        │
//!                                      └──────────┘ ── 200 ms and a round ───────┘
//! ```
//!
//! BBR models the path by two numbers, the bottleneck's bandwidth (maximum delivery rate of 10
//! rounds) and the minimum RTT (of 10 s). It paces at `pacing_gain × bandwidth` and keeps at most
//! `cwnd_gain × bandwidth × min_rtt` in flight:
//!
//! | phase | pacing gain | cwnd gain | ends |
//! |---|---|---|---|
//! | Startup | 2.885 | 2.885 | three rounds with less than 25 % growth |
//! | Drain | 1/2.885 | 2.885 | inflight ≤ BDP |
//! | ProbeBW | 1.25, 0.75, 6 × 1 | 2 | 10 s without a new min_rtt |
//! | ProbeRTT | 1 | 1, at most 4 packets | 200 ms and a round |
//!
//! Each phase has its file, with its gains and the ways out of it, and so has each mechanism. A
//! derivative replaces the estimate (`estimator.rs`), some of the decisions (`policy.rs`), or both.

pub(crate) mod entry;

mod aggregation;
mod bandwidth;
mod drain;
mod estimator;
mod marks;
mod model;
mod pacing;
mod phase;
mod policer;
mod policy;
mod prime;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

use self::aggregation::Aggregation;
pub use self::bandwidth::MaxBandwidth;
pub use self::estimator::BandwidthEstimator;
use self::marks::MarkCap;
use self::model::HIGH_GAIN;
pub use self::model::Model;
use self::pacing::Pacing;
pub use self::phase::Phase;
use self::policer::Policer;
pub use self::policy::{Policy, RecoveryStart, V1, follow_target};
use self::probe_bw::Cycle;
use self::probe_rtt::MinRtt;
use self::startup::FullPipe;
use self::window::Window;
use crate::controller::{
    AckEvent, Config, Controller, Feedback, LossEvent, PacketSent, PeerSignal, Snapshot,
    TimeoutEvent,
};
use crate::delivery_rate::RateSample;
use crate::ecn::Ecn;
pub use crate::mechanisms::Rounds;
use crate::mechanisms::{RecoveryEpoch, SmallFlight};
use crate::rng::SeededRng;
use crate::state::State;
use crate::units::{Bytes, Duration, Rate, Time};

/// Which of BBR's mechanisms are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compensate ACK aggregation (RBBR's paper compares BBR with and without).
    pub aggregation: bool,
    /// Recognise policers by long-term sampling.
    pub policer: bool,
    /// Packets of a burst; `None`: about a millisecond's worth, as in Linux. The window's allowance
    /// for bursts follows it.
    pub burst_packets: Option<u64>,
    /// Be ECN-capable and answer marks.
    pub ecn: bool,
    /// Be BBR′ for ns-3.27 (Claypool et al. 2018) in what it does otherwise: see `prime.rs`.
    pub prime: bool,
}

impl Options {
    /// The options that Linux has.
    pub const DEFAULT: Self = Self {
        aggregation: true,
        policer: true,
        burst_packets: None,
        ecn: false,
        prime: false,
    };
}

/// BBR with the estimator `E` and the policy `P`; by default the original.
#[derive(Debug)]
pub struct Bbr<E: BandwidthEstimator = MaxBandwidth, P: Policy = V1> {
    model: Model,
    estimator: E,
    policy: P,
    options: Options,
    full_pipe: FullPipe,
    cycle: Cycle,
    min_rtt: MinRtt,
    probe_rtt: SmallFlight,
    /// The ProbeRTT under way came because the minimum RTT had expired, and not because of a loss (eBCC),
    /// which replaces no minimum that the path may have outgrown.
    renews_min_rtt: bool,
    aggregation: Aggregation,
    policer: Policer,
    recovery: RecoveryEpoch,
    pacing: Pacing,
    window: Window,
    marks: MarkCap,
    /// Until when Drain lasts at most (BBR′).
    drain_until: Option<Time>,
    /// The flow sends again after idleness and has had no acknowledgment yet.
    idle_restart: bool,
    rng: SeededRng,
}

impl Bbr {
    /// BBR v1.
    #[must_use]
    pub fn v1(config: &Config, options: Options) -> Self {
        Self::new(config, options, MaxBandwidth::default(), V1)
    }
}

impl<E: BandwidthEstimator, P: Policy> Bbr<E, P> {
    /// BBR with this estimator and this policy.
    #[must_use]
    pub fn new(config: &Config, options: Options, estimator: E, policy: P) -> Self {
        let mut model = Model::new(config);
        let pacing = Pacing::new(&mut model, &options);
        Self {
            estimator,
            policy,
            options,
            full_pipe: FullPipe::new(options.prime.then(|| prime::Timer::new(config.now))),
            cycle: Cycle::new(config.now),
            min_rtt: MinRtt::new(config.now, options.prime),
            probe_rtt: SmallFlight::default(),
            renews_min_rtt: false,
            aggregation: Aggregation::new(config.now),
            policer: Policer::default(),
            recovery: RecoveryEpoch::new(config.transport),
            pacing,
            window: Window::new(&model),
            marks: MarkCap::new(),
            drain_until: None,
            idle_restart: false,
            rng: SeededRng::new(config.seed),
            model,
        }
    }

    /// Goes over to another phase, which must be one that may follow.
    fn enter(&mut self, phase: Phase) {
        debug_assert!(self.model.phase.may_lead_to(phase));
        self.model.phase = phase;
        self.model.probing = phase == Phase::ProbeBw && self.cycle.is_probing();
        self.estimator.on_phase(phase);
        self.policy.on_phase(phase);
    }

    /// Linux `bbr_update_bw`.
    fn update_bandwidth(&mut self, ack: &AckEvent<'_>) {
        self.model.rounds.on_ack(ack);
        if self.model.rounds.starts_now() {
            self.window.on_round_start();
        }
        if self.options.policer
            && let Some(sample) = &ack.rate_sample
        {
            let round_starts = self.model.rounds.starts_now();
            if self
                .policer
                .on_ack(ack, sample, round_starts, self.model.phase)
            {
                self.enter_probe_bw(ack.now);
            }
        }
        self.estimator.on_ack(ack, &self.model);
        self.use_estimate();
    }

    fn use_estimate(&mut self) {
        self.model.bandwidth = self
            .policer
            .rate()
            .unwrap_or_else(|| self.estimator.bandwidth());
    }

    /// The estimate changed without an acknowledgment.
    fn follow_estimate(&mut self) {
        self.use_estimate();
        self.model.bandwidth = self.policy.bandwidth(&self.model);
        self.pacing.follow(self.model.pacing_gain, &mut self.model);
    }

    /// Startup → Drain → ProbeBW, and the gain cycle. They go by what the path has shown, even while
    /// a policer's rate is sent at (Linux `bbr_max_bw` here, `bbr_bw` for rate and window).
    fn update_phase(&mut self, ack: &AckEvent<'_>) {
        let bandwidth = self.estimator.bandwidth();
        self.update_cycle(ack, bandwidth);
        self.check_startup_done(ack, bandwidth);
        self.check_drain_done(ack, bandwidth);
    }

    fn update_gains(&mut self) {
        let (pacing, cwnd) = match self.model.phase {
            Phase::Startup => (HIGH_GAIN, HIGH_GAIN),
            Phase::Drain => (drain::GAIN, HIGH_GAIN),
            Phase::ProbeBw => {
                // A policer's rate is known; probing above it only loses packets.
                let gain = match self.policer.rate() {
                    Some(_) => 1.0,
                    None => self.cycle.pacing_gain(&self.model, &self.policy),
                };
                (gain, probe_bw::CWND_GAIN)
            }
            Phase::ProbeRtt => (1.0, 1.0),
        };
        self.model.pacing_gain = pacing;
        self.model.cwnd_gain = self.policy.cwnd_gain(cwnd);
    }
}

impl<E: BandwidthEstimator, P: Policy> Controller for Bbr<E, P> {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
        self.model.app_limited = sent.app_limited;
        // A probe of the host ends a silence that a full window made.
        self.model.window_held = self.window.limits_sender() || sent.inflight > self.window.get();
        self.estimator.on_packet_sent(sent, &self.model);
        let was_idle = sent.inflight <= sent.bytes;
        if was_idle && sent.app_limited {
            // The pipe is empty: no queue to probe for or to drain (Linux `bbr_cwnd_event`).
            self.idle_restart = true;
            self.aggregation.on_idle_restart(sent.now);
            if self.model.phase == Phase::ProbeBw {
                self.pacing.follow(1.0, &mut self.model);
            } else if self.model.phase == Phase::ProbeRtt && self.probe_rtt.has_stayed(sent.now) {
                self.leave_probe_rtt(sent.now);
            }
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let marked;
        let ack = match ack.rate_sample {
            Some(sample) if self.probe_rtt.contains(&sample) => {
                let sample = RateSample {
                    app_limited: true,
                    ..sample
                };
                marked = AckEvent {
                    rate_sample: Some(sample),
                    ..*ack
                };
                &marked
            }
            _ => ack,
        };
        if self.recovery.on_ack(ack) {
            self.window.on_recovery_end();
        }
        if let Some(rtt) = ack.rtt {
            // A zero would make gains and windows endless.
            self.model.rtt = rtt.max(Duration::from_nanos(1));
        }
        self.update_bandwidth(ack);
        self.policy.on_ack(ack, &self.model);
        if self.options.aggregation {
            self.aggregation.on_ack(ack, &self.model, self.window.get());
        }
        self.update_phase(ack);
        self.check_probe_rtt(ack);
        self.update_gains();
        let allowance = self.aggregation.allowance(&self.model);
        let floor = self.probe_rtt_window();
        self.model.bandwidth = self.policy.bandwidth(&self.model);
        self.pacing.update(ack, self.window.get(), &mut self.model);
        self.window
            .update(ack, &mut self.model, allowance, floor, &mut self.policy);
        let round_starts = self.model.rounds.starts_now();
        let packet = self.model.max_datagram;
        self.marks
            .on_ack(ack, round_starts, self.window.get(), packet);
        self.model.window_held = self.window.limits_sender();
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let was_active = self.recovery.is_active();
        if self.recovery.on_loss(loss) {
            self.window
                .save(was_active || self.model.phase == Phase::ProbeRtt);
            self.window.on_recovery_start();
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        if !self.recovery.is_active() {
            self.window.save(self.model.phase == Phase::ProbeRtt);
        }
        self.recovery.on_timeout(timeout.now);
        self.window.on_timeout(self.model.max_datagram);
        self.model.window_held = self.window.limits_sender();
        // The path may have changed; Startup must find the pipe full again (Linux
        // `bbr_set_state`).
        self.full_pipe.reset();
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.recovery.on_spurious_timeout();
        self.window.on_undo();
        self.model.window_held = self.window.limits_sender();
        self.policer.reset();
        self.full_pipe.reset();
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, marked_packets: u64) {
        if self.options.ecn && marked_packets > 0 {
            self.marks.on_marks();
        }
    }

    fn ecn(&self) -> Ecn {
        if self.options.ecn {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.model.max_datagram = max_datagram.max(Bytes::new(1));
        self.pacing.on_mtu_change(&mut self.model);
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.estimator.on_feedback(feedback, &self.model);
        self.follow_estimate();
    }

    fn on_wakeup(&mut self, now: Time) {
        self.estimator.on_wakeup(now, &self.model);
        self.follow_estimate();
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.estimator.next_wakeup()
    }

    fn cwnd(&self) -> Bytes {
        let window = self.window.get().min(self.marks.get());
        window.max(self.model.max_datagram)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.model.pacing_rate)
    }

    fn send_quantum(&self) -> Bytes {
        self.model.send_quantum
    }

    fn peer_signal(&self) -> Option<PeerSignal> {
        self.estimator.peer_signal(&self.model)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.model.phase.name(),
            bandwidth: (!self.model.bandwidth.is_zero()).then_some(self.model.bandwidth),
            min_rtt: Some(self.model.min_rtt).filter(|rtt| *rtt != Duration::MAX),
            pacing_gain: Some(self.model.pacing_gain),
            cwnd_gain: Some(self.model.cwnd_gain),
            ssthresh: None,
            in_recovery: self.recovery.is_active() || self.window.is_held(),
            filter: self.estimator.filter(),
            feedback: self.estimator.feedback(),
        }
    }

    fn phases(&self) -> &'static [State] {
        Phase::STATES
    }

    fn filter_modes(&self) -> &'static [State] {
        self.estimator.modes()
    }
}
