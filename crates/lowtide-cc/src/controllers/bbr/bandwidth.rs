//! BBR v1's bandwidth estimate: the highest delivery rate of the last 10 rounds.

use super::estimator::BandwidthEstimator;
use super::model::Model;
use crate::controller::AckEvent;
use crate::estimators::{Maximum, Windowed};
use crate::units::Rate;

/// Rounds that a sample counts: long enough to contain one probing phase of an eight-phase cycle
/// (Linux `bbr_bw_rtts`).
const WINDOW_ROUNDS: u64 = 10;

/// Windowed maximum of delivery-rate samples.
#[derive(Clone, Copy, Debug)]
pub struct MaxBandwidth {
    filter: Windowed<Rate, Maximum>,
}

impl Default for MaxBandwidth {
    fn default() -> Self {
        Self {
            filter: Windowed::new(WINDOW_ROUNDS),
        }
    }
}

impl BandwidthEstimator for MaxBandwidth {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        let Some(sample) = ack.rate_sample else {
            return;
        };
        // An application-limited sample shows less than the path can do, and so counts only where
        // it shows more than is known.
        if !sample.app_limited || sample.delivery_rate >= self.bandwidth() {
            self.filter
                .update(model.rounds.count(), sample.delivery_rate);
        }
    }

    fn on_new_path(&mut self) {
        self.filter.clear();
    }

    #[inline]
    fn bandwidth(&self) -> Rate {
        self.filter.get().unwrap_or(Rate::ZERO)
    }
}
