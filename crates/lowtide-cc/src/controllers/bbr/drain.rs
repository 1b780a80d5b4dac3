//! Drain: send slower than the bottleneck until the queue of Startup is gone.

use super::Bbr;
use super::estimator::BandwidthEstimator;
use super::model::HIGH_GAIN;
use super::phase::Phase;
use super::policy::Policy;
use crate::controller::AckEvent;
use crate::units::Rate;

/// The inverse of Startup's gain: removes the queue in one round (Linux `bbr_drain_gain`).
pub(super) const GAIN: f64 = 1.0 / HIGH_GAIN;

impl<E: BandwidthEstimator, P: Policy> Bbr<E, P> {
    /// Ends once no more than the BDP at `bandwidth` is left in flight (Linux `bbr_check_drain`).
    pub(super) fn check_drain_done(&mut self, ack: &AckEvent<'_>, bandwidth: Rate) {
        if self.model.phase == Phase::Drain
            && (ack.inflight <= self.model.inflight_at(bandwidth, 1.0)
                || self.drain_until.is_some_and(|until| ack.now >= until))
        {
            self.enter_probe_bw(ack.now);
        }
    }
}
