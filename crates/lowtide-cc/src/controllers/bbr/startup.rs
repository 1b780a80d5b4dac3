//! Startup: double the rate every round until the pipe is full.

use super::Bbr;
use super::estimator::BandwidthEstimator;
use super::model::Model;
use super::phase::Phase;
use super::policy::Policy;
use super::prime::{Timer, drain_until};
use crate::controller::AckEvent;
use crate::units::Rate;

/// Growth below which a round counts as one without growth (Linux `bbr_full_bw_thresh`).
const FULL_PIPE_GROWTH: f64 = 1.25;
/// Rounds without growth after which the pipe counts as full: one could be a receiver's small
/// window, two an early queue (Linux `bbr_full_bw_cnt`).
const FULL_PIPE_ROUNDS: u32 = 3;

/// Looks for the bandwidth to stop growing.
#[derive(Clone, Copy, Debug)]
pub(super) struct FullPipe {
    bandwidth: Rate,
    rounds_without_growth: u32,
    /// What counts as a round in BBR′.
    timer: Option<Timer>,
}

impl FullPipe {
    pub(super) fn new(timer: Option<Timer>) -> Self {
        Self {
            bandwidth: Rate::ZERO,
            rounds_without_growth: 0,
            timer,
        }
    }

    /// Whether the pipe has just been found full, by the estimator's `bandwidth`.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, bandwidth: Rate, model: &Model) -> bool {
        let app_limited = ack.rate_sample.is_none_or(|s| s.app_limited);
        let round_starts = match &mut self.timer {
            Some(timer) => timer.fires(ack.now, model.min_rtt),
            None => model.rounds.starts_now(),
        };
        if model.full_pipe || !round_starts || app_limited {
            return false;
        }
        if bandwidth >= self.bandwidth.mul_f64(FULL_PIPE_GROWTH) {
            self.bandwidth = bandwidth;
            self.rounds_without_growth = 0;
            return false;
        }
        self.rounds_without_growth += 1;
        self.rounds_without_growth >= FULL_PIPE_ROUNDS
    }

    /// After a timeout the path may have changed.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.timer);
    }
}

impl<E: BandwidthEstimator, P: Policy> Bbr<E, P> {
    /// Linux `bbr_check_full_bw_reached` and the first half of `bbr_check_drain`. A full pipe is
    /// looked for in other phases too: ProbeRTT goes back to Startup where none was found.
    pub(super) fn check_startup_done(&mut self, ack: &AckEvent<'_>, bandwidth: Rate) {
        self.model.full_pipe |= self.full_pipe.on_ack(ack, bandwidth, &self.model);
        if self.model.phase != Phase::Startup {
            return;
        }
        self.model.full_pipe |= self.policy.ends_startup(ack, &self.model);
        if self.model.full_pipe {
            self.enter(Phase::Drain);
            self.drain_until = self
                .options
                .prime
                .then(|| drain_until(ack.now, self.model.min_rtt));
        }
    }
}
