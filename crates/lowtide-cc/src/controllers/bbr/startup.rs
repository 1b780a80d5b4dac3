//! Startup: double the rate every round until the pipe is full.

use super::model::Model;
use crate::controller::AckEvent;
use crate::units::Rate;

/// 2/ln 2: the smallest gain that doubles the delivery rate each round (Linux `bbr_high_gain`).
pub(super) const GAIN: f64 = 2.885;
/// Growth below which a round counts as one without growth (Linux `bbr_full_bw_thresh`).
const FULL_PIPE_GROWTH: f64 = 1.25;
/// Rounds without growth after which the pipe counts as full: one could be a receiver's small
/// window, two an early queue (Linux `bbr_full_bw_cnt`).
const FULL_PIPE_ROUNDS: u32 = 3;

/// Looks for the bandwidth to stop growing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    bandwidth: Rate,
    rounds_without_growth: u32,
}

impl FullPipe {
    /// Whether the pipe has just been found full, by the estimator's `bandwidth`.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, bandwidth: Rate, model: &Model) -> bool {
        let app_limited = ack.rate_sample.is_none_or(|s| s.app_limited);
        if model.full_pipe || !model.rounds.starts_now() || app_limited {
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
        *self = Self::default();
    }
}
