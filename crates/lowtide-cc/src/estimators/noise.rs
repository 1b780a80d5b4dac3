//! Noise variances, what a Kalman filter knows, and the range in which it keeps its numbers.

/// States and measurements are cut to ±this, so that no square of them overflows.
const LARGEST: f64 = 1e100;
const LARGEST_VARIANCE: f64 = LARGEST * LARGEST;

/// What a Kalman filter assumes at its start, in squared units of the state.
///
/// Zero, negative and NaN count as the smallest positive variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// How far the initial state may be off: its variance (p in RBBR, Ψ in BBR-S).
    pub state_variance: f64,
    /// Q: variance of the state's change from one step to the next.
    pub process: f64,
    /// R: variance of a measurement around the state.
    pub measurement: f64,
}

/// What a Kalman filter knows after its last update.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// The estimate x.
    pub state: f64,
    /// Variance of the estimate: p in RBBR, Ψ in BBR-S.
    pub variance: f64,
    /// The present estimate Q of the process noise.
    pub process_noise: f64,
    /// The present estimate R of the measurement noise.
    pub measurement_noise: f64,
    /// The gain K of the last update, `0..=1`; 0 before the first.
    pub gain: f64,
    /// The innovation of the last update: the measurement minus what was expected of it; 0 before the
    /// first.
    pub innovation: f64,
}

impl Belief {
    pub(super) fn new(state: f64, noise: Noise) -> Self {
        Self {
            state: bounded_state(state),
            variance: noise.state_variance,
            process_noise: noise.process,
            measurement_noise: noise.measurement,
            gain: 0.0,
            innovation: 0.0,
        }
    }

    pub(super) fn variances(&mut self) -> [&mut f64; 3] {
        [
            &mut self.variance,
            &mut self.process_noise,
            &mut self.measurement_noise,
        ]
    }
}

/// A share of 1: cut to `0..=1`, and 1 for NaN.
pub(super) const fn bounded_share(share: f64) -> f64 {
    if share.is_nan() {
        1.0
    } else {
        share.clamp(0.0, 1.0)
    }
}

/// A state within the range; 0 for NaN.
pub(super) fn bounded_state(state: f64) -> f64 {
    if state.is_nan() {
        0.0
    } else {
        state.clamp(-LARGEST, LARGEST)
    }
}

/// A positive variance within the range; the smallest for NaN.
pub(super) fn bounded_variance(variance: f64) -> f64 {
    let smallest = 1.0 / LARGEST_VARIANCE;
    if variance.is_nan() {
        smallest
    } else {
        variance.clamp(smallest, LARGEST_VARIANCE)
    }
}
