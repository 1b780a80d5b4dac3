//! Whether a push has found more (§4.3, §4.5).

use crate::units::Rate;

/// The push after one that found nothing.
pub(super) const SMALL_PUSH: f64 = 17.0 / 16.0;
/// The push after one that found something.
pub(super) const LARGE_PUSH: f64 = 5.0 / 4.0;

/// What has been found since the last evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    rate_before: Rate,
    /// How far the rate goes above the nominal one.
    pub(super) alpha: f64,
    pub(super) congested: bool,
    /// The path, not the application, was the limit of what arrived.
    pub(super) network_limited: bool,
    /// Pushes in a row that found something.
    pub(super) successes: u32,
    /// Eras in a row that did not, though the path was the limit.
    pub(super) eras_without: u32,
}

impl Growth {
    pub(super) fn new(alpha: f64) -> Self {
        Self {
            rate_before: Rate::ZERO,
            alpha,
            congested: false,
            network_limited: false,
            successes: 0,
            eras_without: 0,
        }
    }

    /// Compares `rate` with the rate of the last time. After a small push the signals decide, as what
    /// it can find is no more than noise. Eras in which the application was the limit show nothing.
    pub(super) fn evaluate(&mut self, rate: Rate) {
        let found = if self.alpha > SMALL_PUSH {
            let before = self.rate_before;
            // A quarter of what was to be found.
            rate > before.mul_f64((3.0 + self.alpha) / 4.0)
        } else {
            rate > self.rate_before && !self.congested
        };
        if found {
            self.successes = self.successes.saturating_add(1);
            self.eras_without = 0;
        } else if self.network_limited {
            self.successes = 0;
            self.eras_without = self.eras_without.saturating_add(1);
        }
    }

    /// Begins anew from `rate`, sent at by `alpha`.
    pub(super) fn restart(&mut self, rate: Rate, alpha: f64) {
        self.rate_before = rate;
        self.alpha = alpha;
        self.congested = false;
        self.network_limited = false;
    }

    /// Forgets the successes and failures of before.
    pub(super) fn forget(&mut self) {
        self.successes = 0;
        self.eras_without = 0;
    }

    /// Whether the rate is above that of the last evaluation.
    pub(super) fn grows(&self, rate: Rate) -> bool {
        rate > self.rate_before
    }
}
