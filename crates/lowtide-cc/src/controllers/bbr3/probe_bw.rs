//! ProbeBW: DOWN → CRUISE → REFILL → UP and again (§5.3.3.9, where no other section is named).

use super::Bbr3;
use super::phase::Phase;
use crate::controller::AckEvent;
use crate::delivery_rate::RateSample;
use crate::units::{Bytes, Rate, Time};

/// What the acknowledgments that arrive now tell of (`ack_phase`): they lag a round behind what is
/// sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    /// No probe.
    Idle,
    Refilling,
    /// UP has begun, its acknowledgments have not.
    ProbeStarting,
    ProbeFeedback,
    /// UP is over, its acknowledgments are not.
    ProbeStopping,
}

/// Where the cycle is, beside its phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// Packets of a probe are being acknowledged or lost, and none has shown too much in flight
    /// (`is_bw_probe_sample`).
    probe_samples: bool,
    /// The last probe lost too much (`prev_probe_too_high`).
    pub(super) too_high: bool,
    /// This probe stopped for caution where the last one had failed (`prev_probe_precautionary`).
    precautionary: bool,
}

impl Cycle {
    pub(super) fn new() -> Self {
        Self {
            ack_phase: AckPhase::Idle,
            probe_samples: false,
            too_high: false,
            precautionary: false,
        }
    }

    pub(super) fn has_probe_samples(&self) -> bool {
        self.probe_samples
    }

    /// The probe has put too much in flight; it is said once a probe.
    pub(super) fn set_too_high(&mut self) {
        self.too_high = true;
        self.probe_samples = false;
    }

    /// The samples of ProbeRTT end those of a probe.
    pub(super) fn on_probe_rtt(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

impl Bbr3 {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: Time) {
        self.short_term.reset_signals();
        self.long_term.stop_growth();
        self.probe_wait.restart(now, &mut self.rng);
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.model.rounds.restart();
        self.enter(Phase::Down);
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.short_term.reset_bounds();
        self.long_term.restart_growth();
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.model.rounds.restart();
        self.enter(Phase::Refill);
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, sample: Option<&RateSample>) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.model.rounds.restart();
        self.full_bandwidth
            .restart(sample.map_or(Rate::ZERO, |s| s.delivery_rate));
        self.enter(Phase::Up);
        self.long_term.steepen(&self.model);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &AckEvent<'_>, sample: Option<&RateSample>) {
        if !self.model.full_pipe || self.follow_probe(ack, sample) {
            return;
        }
        let phase = self.model.phase;
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(ack.inflight) => self.enter(Phase::Cruise),
            Phase::Refill if self.model.rounds.starts_now() => {
                self.cycle.probe_samples = true;
                self.start_up(sample);
            }
            Phase::Up if self.is_time_to_go_down(ack, sample) => {
                // Its acknowledgments are still to come.
                self.cycle.too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    /// `AdaptLongTermModel`; true when it has chosen the phase.
    fn follow_probe(&mut self, ack: &AckEvent<'_>, sample: Option<&RateSample>) -> bool {
        if self.model.rounds.starts_now() {
            match self.cycle.ack_phase {
                AckPhase::ProbeStarting => self.cycle.ack_phase = AckPhase::ProbeFeedback,
                AckPhase::ProbeStopping => {
                    self.cycle.probe_samples = false;
                    self.cycle.ack_phase = AckPhase::Idle;
                    if self.model.phase.is_probe_bw() {
                        if sample.is_some_and(|s| !s.app_limited) {
                            self.max_bandwidth.advance();
                        }
                        // The level that was too high before has now been borne for a moment: dare
                        // to stay there (§5.3.3.6, acceleration).
                        if self.cycle.precautionary && !self.cycle.too_high {
                            self.start_refill();
                            return true;
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(sample) = sample {
            let is_used_up = self.window_use.is_limited();
            self.long_term
                .raise(ack.bytes_acked, sample, is_used_up, &self.model);
        }
        false
    }

    /// `IsTimeToProbeBW` (§5.3.3.8.3).
    fn is_time_to_probe(&self, now: Time) -> bool {
        let target = self.model.target_inflight();
        self.probe_wait
            .is_over(now, target, self.model.max_datagram)
    }

    /// `IsTimeToCruise`: the queue is gone and headroom is free.
    fn is_time_to_cruise(&self, inflight: Bytes) -> bool {
        inflight <= self.long_term.with_headroom(&self.model)
            && inflight <= self.model.drained_inflight(self.model.max_bandwidth)
    }

    /// `IsTimeToGoDown` (§5.3.3.7).
    fn is_time_to_go_down(&mut self, ack: &AckEvent<'_>, sample: Option<&RateSample>) -> bool {
        let bound = self.long_term.inflight;
        // The window ends at the bound, so that the flight may fall short of it by less than a
        // packet, and is largest just before an acknowledgment (Linux `bbr_update_cycle_phase`
        // takes `prior_in_flight`).
        if self.cycle.too_high && ack.prior_inflight + self.model.max_datagram > bound {
            // §5.3.3.6, deceleration.
            self.cycle.precautionary = true;
            return true;
        }
        if self.window_use.is_limited() && self.model.cwnd >= bound {
            // The bound, not the path, keeps the rate from growing.
            self.full_bandwidth
                .restart(sample.map_or(Rate::ZERO, |s| s.delivery_rate));
            return false;
        }
        self.full_bandwidth.is_reached
    }
}
