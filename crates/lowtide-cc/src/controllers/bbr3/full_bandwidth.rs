//! Has sending faster stopped to deliver faster? Ends Startup and UP (§5.3.1.2).

use crate::delivery_rate::RateSample;
use crate::units::Rate;

/// Growth below which a round counts as one without growth (§5.3.1.2).
const GROWTH: f64 = 1.25;
/// Rounds without growth that show a full pipe: fewer could be a receive window that still grows
/// (§5.3.1.2).
const ROUNDS: u32 = 3;

/// Looks for a plateau of the delivery rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    /// The rate from which growth counts (`full_bw`).
    pub(super) baseline: Rate,
    /// Since then (`full_bw_count`).
    pub(super) rounds_without_growth: u32,
    /// Found since the last restart, or shown by losses (`full_bw_now`).
    pub(super) is_reached: bool,
}

impl FullBandwidth {
    /// `ResetFullBW`, with the rate from which growth counts.
    pub(super) fn restart(&mut self, baseline: Rate) {
        *self = Self {
            baseline,
            ..Self::default()
        };
    }

    /// `CheckFullBWReached`, with the sample that began a round.
    pub(super) fn on_round(&mut self, sample: &RateSample) {
        if self.is_reached || sample.app_limited {
            return;
        }
        if sample.delivery_rate >= self.baseline.mul_f64(GROWTH) {
            self.restart(sample.delivery_rate);
            return;
        }
        self.rounds_without_growth += 1;
        self.is_reached = self.rounds_without_growth >= ROUNDS;
    }
}
