//! BBRx: BBR's bandwidth estimate, corrected by the RTT.
//!
//! Chung et al. (NetDev 0x12, 2018) correct the output of BBR's maximum filter by a term that
//! depends on the distance of the RTT from its minimum. Their exact law is not in the papers at
//! hand; this one is **Lowtide's own**, with their two parameters as BBR-S's paper prints them
//! (Tab. 2: gain β = 0.2, RTT parameter K = 1.25):
//!
//! ```text
//! x̂ = m · (1 + β · (K·min_rtt − rtt) / rtt),   m = maximum of 10 rounds
//! ```
//!
//! The correction is β·(K − 1) = +5 % without a queue, nothing at rtt = K·min_rtt, and tends to
//! −β = −20 % as the queue grows.

pub(crate) mod entry;

use crate::controller::AckEvent;
use crate::controllers::bbr::{BandwidthEstimator, MaxBandwidth, Model};
use crate::units::Rate;

/// The maximum filter with the correction.
#[derive(Clone, Copy, Debug)]
pub struct CorrectedMax {
    max: MaxBandwidth,
    beta: f64,
    k: f64,
    factor: f64,
}

impl CorrectedMax {
    /// β as BBR-S's paper prints it.
    pub const DEFAULT_BETA: f64 = 0.2;
    /// K as BBR-S's paper prints it.
    pub const DEFAULT_K: f64 = 1.25;

    /// Gain `beta`, 0 to 1, and RTT parameter `k`, 1 to 10; clamped to these ranges, NaN to the
    /// defaults.
    #[must_use]
    pub fn new(beta: f64, k: f64) -> Self {
        let within = |x: f64, low: f64, high: f64, default: f64| {
            if x.is_nan() {
                default
            } else {
                x.clamp(low, high)
            }
        };
        Self {
            max: MaxBandwidth::default(),
            beta: within(beta, 0.0, 1.0, Self::DEFAULT_BETA),
            k: within(k, 1.0, 10.0, Self::DEFAULT_K),
            factor: 1.0,
        }
    }
}

impl BandwidthEstimator for CorrectedMax {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        self.max.on_ack(ack, model);
        let rtt = model.rtt.as_nanos() as f64;
        let min_rtt = model.min_rtt.min(model.rtt).as_nanos() as f64;
        self.factor = 1.0 + self.beta * (self.k * min_rtt - rtt) / rtt;
    }

    fn bandwidth(&self) -> Rate {
        self.max.bandwidth().mul_f64(self.factor)
    }
}
