//! RTT-gain BBR (Xiong 2020, §3.2 and Listing 3.1): ProbeBW's pacing follows min_rtt/rtt.
//!
//! BBR v1 paces its steady phases at the estimated bandwidth however long the queue is. Here the
//! queue slows the sender down, so that a standing queue drains within round trips; and the probing
//! phase ends as soon as it has built a queue.

pub(crate) mod entry;

use crate::controllers::bbr::{Model, Policy};

/// rtt/min_rtt at which probing ends: the gain of 1.25 has built the queue that it can build in one
/// round (Listing 3.1).
const PROBE_ENDS_AT: f64 = 1.25;

/// ProbeBW's gain by RTT.
#[derive(Clone, Copy, Debug)]
pub struct RttGain {
    alpha: f64,
}

impl RttGain {
    /// The largest of the thesis.
    pub const DEFAULT_ALPHA: f64 = 1.0;

    /// A gain of `alpha` · min_rtt / rtt; `alpha` above 0 and at most 1 (thesis: 1, 0.75, 0.5).
    /// Other values are taken as the default.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        let alpha = if alpha > 0.0 && alpha <= 1.0 {
            alpha
        } else {
            Self::DEFAULT_ALPHA
        };
        Self { alpha }
    }
}

/// rtt / min_rtt, at least 1.
fn rtt_ratio(model: &Model) -> f64 {
    let min_rtt = model.min_rtt.min(model.rtt);
    model.rtt.as_nanos() as f64 / min_rtt.as_nanos().max(1) as f64
}

impl Policy for RttGain {
    fn ends_probe(&self, model: &Model) -> bool {
        rtt_ratio(model) >= PROBE_ENDS_AT
    }

    fn steady_gain(&self, model: &Model) -> f64 {
        self.alpha / rtt_ratio(model)
    }
}
