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
    baseline: Rate,
    rounds_without_growth: u32,
    reached: bool,
}

impl FullBandwidth {
    /// `ResetFullBW`, with the rate from which growth counts.
    pub(super) fn restart(&mut self, baseline: Rate) {
        *self = Self {
            baseline,
            ..Self::default()
        };
    }

    pub(super) fn baseline(&self) -> Rate {
        self.baseline
    }

    /// Rounds without growth since then (`full_bw_count`).
    pub(super) fn rounds(&self) -> u32 {
        self.rounds_without_growth
    }

    /// Found since the last restart (`full_bw_now`).
    pub(super) fn is_reached(&self) -> bool {
        self.reached
    }

    /// Losses have shown it.
    pub(super) fn set_reached(&mut self) {
        self.reached = true;
    }

    /// `CheckFullBWReached`, with the sample that began a round.
    pub(super) fn on_round(&mut self, sample: &RateSample) {
        if self.reached || sample.app_limited {
            return;
        }
        if sample.delivery_rate >= self.baseline.mul_f64(GROWTH) {
            self.restart(sample.delivery_rate);
            return;
        }
        self.rounds_without_growth += 1;
        self.reached = self.rounds_without_growth >= ROUNDS;
    }
}
