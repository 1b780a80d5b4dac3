//! Noise variances, and the range in which the Kalman filters keep their numbers.

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
