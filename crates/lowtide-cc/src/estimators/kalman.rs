//! Scalar Kalman filter that estimates its own noise.

use super::noise::{Belief, Noise, bounded_share, bounded_state, bounded_variance};

/// No variance goes below the square of this share of the state. It keeps the gain defined (not
/// 0/0) and the filter awake while measurements do not change at all; real noise is far above.
const SMALLEST_DEVIATION: f64 = 1e-9;

/// The adaptive Kalman filter of RBBR (Haile et al. 2022, Table 1 and Eqs. 8, 9; after Akhlaghi,
/// Zhou and Huang 2017): a random walk observed with noise, both variances of which are learnt
/// from innovations and residuals.
///
/// ```text
/// p⁻ = p + Q        d = y − x        K = p⁻/(p⁻ + R)
/// x ← x + K·d       p = (1 − K)·p⁻   ε = y − x
/// R ← α·R + (1 − α)(ε² + p⁻)         Q ← α·Q + (1 − α)(K·d)²
/// ```
///
/// (Eq. 7 of the paper prints p⁻ + K·C·p⁻ for the new p.) The unit of the state is the caller's;
/// variances are in its square. Everything stays finite, variances stay positive and the gain
/// within `0..=1`, for any input: measurements that are not finite are ignored, those beyond
/// ±1e100 count as ±1e100, and no variance falls below (1e-9·x)² or 1e-200.
///
/// ```
/// use lowtide_cc::estimators::{AdaptiveKalman, Noise};
///
/// let noise = Noise { state_variance: 1.0, process: 0.1, measurement: 1.0 };
/// let mut rate = AdaptiveKalman::new(10.0, noise, 0.6);
/// for _ in 0..50 {
///     rate.update(12.0);
/// }
/// assert!((rate.state() - 12.0).abs() < 0.01);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveKalman {
    belief: Belief,
    forgetting: f64,
}

impl AdaptiveKalman {
    /// A filter that starts at `state`, customarily the first measurement.
    ///
    /// `forgetting` is α, `0..=1`: how much of the old noise estimates a step keeps. 0.6 in the
    /// paper; at 1 the noise stays as given and this is a plain Kalman filter. Values outside are
    /// cut to the range, NaN counts as 1.
    #[must_use]
    pub fn new(state: f64, noise: Noise, forgetting: f64) -> Self {
        let mut filter = Self {
            belief: Belief::new(state, noise),
            forgetting: bounded_share(forgetting),
        };
        filter.bound_variances();
        filter
    }

    /// Takes a measurement and returns the new state.
    pub fn update(&mut self, measurement: f64) -> f64 {
        let b = self.belief;
        if !measurement.is_finite() {
            return b.state;
        }
        let predicted_variance = b.variance + b.process_noise;
        let innovation_variance = predicted_variance + b.measurement_noise;
        let innovation = bounded_state(measurement) - b.state;
        let gain = predicted_variance / innovation_variance;
        let step = gain * innovation;
        // (1 − K) = R/(p⁻ + R), without the loss of digits where K is close to 1.
        let rest = b.measurement_noise / innovation_variance;
        let residual = rest * innovation;
        let mix = |old: f64, new: f64| self.forgetting * old + (1.0 - self.forgetting) * new;
        self.belief = Belief {
            state: bounded_state(b.state + step),
            variance: rest * predicted_variance,
            process_noise: mix(b.process_noise, step * step), // Eq. 9
            measurement_noise: mix(
                b.measurement_noise,
                residual * residual + predicted_variance, // Eq. 8
            ),
            gain,
            innovation,
        };
        self.bound_variances();
        self.belief.state
    }

    fn bound_variances(&mut self) {
        let deviation = SMALLEST_DEVIATION * self.belief.state;
        for variance in self.belief.variances() {
            *variance = bounded_variance(variance.max(deviation * deviation));
        }
    }

    /// The estimate x.
    #[must_use]
    pub const fn state(&self) -> f64 {
        self.belief.state
    }

    /// All that it knows.
    #[must_use]
    pub const fn belief(&self) -> &Belief {
        &self.belief
    }
}
