//! Kalman filter for measurements that cannot exceed a known ceiling.

use super::noise::{Belief, Noise, bounded_share, bounded_state, bounded_variance};
use super::normal::{TobitTerms, loss};

/// How a [`TobitKalman`] learns its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// γ (BBR-S Eq. 40), `0..=1`: how much of the old estimates a step keeps in the long run; at 0
    /// only the newest sample counts, at 1 all count alike. Values outside are cut to the range,
    /// NaN counts as 1.
    pub forgetting: f64,
    /// N (BBR-S Eq. 41): over how many innovations the innovation variance is averaged,
    /// `1..=`[`Adaptation::MAX_WINDOW`]; values outside are cut to the range.
    pub window: usize,
}

impl Adaptation {
    /// The longest window of innovations.
    pub const MAX_WINDOW: usize = 64;

    /// γ 0.95, N 10. The paper prints neither.
    pub const DEFAULT: Self = Self {
        forgetting: 0.95,
        window: 10,
    };
}

/// Where a [`TobitKalman`] keeps its learnt noise: bounds of the standard deviations √Q and √R, as
/// shares of the state.
///
/// The equations alone are not stable when most measurements are censored. Such measurements
/// hardly vary, so R shrinks; all that does vary is then taken for movement of the state, so Q and
/// the gain grow until the estimate runs away. `docs/estimators.md` and `docs/algorithms/bbr-s.md`
/// have the measurements from which the defaults come and say what they cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseBounds {
    /// Least and largest √Q / |x|.
    pub process: (f64, f64),
    /// Least and largest √R / |x|.
    pub measurement: (f64, f64),
}

impl NoiseBounds {
    /// 1 % to 100 % of the state a step for its own movement, as cellular links need it; 3 % to
    /// 33 % for a measurement's noise. With more than a third no measurement, however small, would
    /// lie three deviations below the state, where SKIP looks for a drop (BBR-S Eq. 47).
    pub const DEFAULT: Self = Self {
        process: (0.01, 1.0),
        measurement: (0.03, 0.33),
    };
}

/// The state's variance never exceeds its square: without this it would grow without bound while
/// everything is censored.
const LARGEST_RELATIVE_DEVIATION: f64 = 1.0;

/// Relative bounds apply to states at least this large, so that a state of zero can be left.
const SMALLEST_SCALE: f64 = 1e-9;

/// The adaptive Tobit Kalman filter of BBR-S (Chiariotti et al. 2021, §III-B): a random walk x
/// observed with noise and cut at a known ceiling S, C = min(S, x + v). A measurement at the
/// ceiling says only that the state is probably above it; a plain Kalman filter takes it for the
/// state and ends too low.
///
/// ```text
/// Ψ⁻ = Ψ + Q     η = (S − x)/√R     P = Φ(η)     λ = −φ(η)/Φ(η)     ð = λ(λ − η)
/// E[C] = P(x + √R·λ) + (1 − P)S                  V = R(1 − ð)
/// C̃ = C − E[C]   K = min(1, P·Ψ⁻/(P²Ψ⁻ + V))
/// x ← x + K·C̃    Ψ = (1 − P·K)Ψ⁻
/// ```
///
/// and, with Γ = (1 − γ)/(1 − γᵗ) and ξ the mean of the last N values of C̃²,
///
/// ```text
/// Q ← (1 − Γ)Q + Γ(K²ξ + Ψ − Ψ_before)                          (Eq. 42)
/// R ← (1 − Γ)R + Γ(1 − K)(ξ(1 − K) + P·Ψ⁻)/(1 − ð)              (Eqs. 37, 44)
/// ```
///
/// then both cut to [`NoiseBounds`], and Ψ to x². Γ is 1 in the first step: the initial Q and R
/// serve only the first gain. Corrections to the printed equations: the sign of λ in Eq. 14, R
/// for √R in Eq. 15, the brackets of Eq. 25, and Eq. 43 in the form of Eq. 37.
///
/// The bounds are ours, and so is the limit of the gain. Without it K reaches √(Ψ⁻/V)/2 where P is
/// small: after a long time at the ceiling a single measurement below throws the state far beyond
/// that measurement, even below zero. With it, no update takes the state below both its old value
/// and the measurement, so that positive measurements keep it positive.
///
/// The unit of the state is the caller's. Everything stays finite and every variance positive,
/// for any input: a measurement that is not finite is ignored, and so is one with a ceiling of
/// NaN or −∞; magnitudes beyond 1e100 count as 1e100.
///
/// ```
/// use lowtide_cc::estimators::{Adaptation, Noise, TobitKalman};
///
/// let noise = Noise { state_variance: 1.0, process: 0.01, measurement: 1.0 };
/// let mut capacity = TobitKalman::new(8.0, noise, Adaptation::DEFAULT);
/// capacity.update(9.3, 12.5);            // below the ceiling: a measurement like any other
/// capacity.update(12.5, 12.5);           // at the ceiling: the capacity may be higher
/// capacity.update(9.8, f64::INFINITY);   // nothing was cut: a plain Kalman filter
/// assert!((8.0..12.5).contains(&capacity.state()));
/// ```
#[derive(Clone, Debug)]
pub struct TobitKalman {
    belief: Belief,
    learning: Option<Learning>,
}

/// The noise estimator's own state.
#[derive(Clone, Debug)]
struct Learning {
    forgetting: f64,
    bounds: NoiseBounds,
    /// 1 + γ + γ² + …, one term for each step: the inverse of Γ.
    weight: f64,
    squares: [f64; Adaptation::MAX_WINDOW],
    window: usize,
    filled: usize,
    next: usize,
}

impl Learning {
    fn new(adaptation: Adaptation, bounds: NoiseBounds) -> Self {
        Self {
            forgetting: bounded_share(adaptation.forgetting),
            bounds,
            weight: 0.0,
            squares: [0.0; Adaptation::MAX_WINDOW],
            window: adaptation.window.clamp(1, Adaptation::MAX_WINDOW),
            filled: 0,
            next: 0,
        }
    }

    /// Takes an innovation and returns (Γ, ξ).
    fn step(&mut self, innovation: f64) -> (f64, f64) {
        self.squares[self.next] = innovation * innovation;
        self.next = (self.next + 1) % self.window;
        self.filled = (self.filled + 1).min(self.window);
        self.weight = 1.0 + self.forgetting * self.weight;
        // Summed anew: a running sum would forget the small squares beside one large one.
        let sum: f64 = self.squares[..self.filled].iter().sum();
        (1.0 / self.weight, sum / self.filled as f64)
    }

    fn forget_innovations(&mut self) {
        self.filled = 0;
        self.next = 0;
    }
}

impl TobitKalman {
    /// A filter that learns its noise, with the default [`NoiseBounds`].
    #[must_use]
    pub fn new(state: f64, noise: Noise, adaptation: Adaptation) -> Self {
        Self::with_bounds(state, noise, adaptation, NoiseBounds::DEFAULT)
    }

    /// A filter that learns its noise within `bounds`. The initial noise is cut to them too. Where
    /// a lower bound exceeds its upper bound, the lower one wins; NaN is no bound.
    #[must_use]
    pub fn with_bounds(
        state: f64,
        noise: Noise,
        adaptation: Adaptation,
        bounds: NoiseBounds,
    ) -> Self {
        Self::build(state, noise, Some(Learning::new(adaptation, bounds)))
    }

    /// A filter that knows its noise: Q and R stay as given and unbounded.
    #[must_use]
    pub fn with_known_noise(state: f64, noise: Noise) -> Self {
        Self::build(state, noise, None)
    }

    fn build(state: f64, noise: Noise, learning: Option<Learning>) -> Self {
        let mut filter = Self {
            belief: Belief::new(state, noise),
            learning,
        };
        filter.bound_variances();
        filter
    }

    /// Takes a measurement that could not have exceeded `ceiling`, and returns the new state.
    ///
    /// With a ceiling of +∞ this is a plain Kalman filter (that learns its noise in the same way).
    /// A measurement above the ceiling is used as it is.
    pub fn update(&mut self, measurement: f64, ceiling: f64) -> f64 {
        let b = self.belief;
        if !measurement.is_finite() || ceiling.is_nan() || ceiling == f64::NEG_INFINITY {
            return b.state;
        }
        let measurement = bounded_state(measurement);
        let ceiling = if ceiling.is_finite() {
            bounded_state(ceiling)
        } else {
            ceiling
        };
        let deviation = libm::sqrt(b.measurement_noise);
        let eta = (ceiling - b.state) / deviation;
        let terms = TobitTerms::at(eta);
        let p = terms.uncensored;

        // E[C] = x − σL(η) = S − σL(−η), both equal to Eq. 14 (with the sign corrected). The one
        // that subtracts the smaller loss keeps the digits and never forms 0·∞.
        let innovation = if eta < 0.0 {
            (measurement - ceiling) + deviation * loss(-eta)
        } else {
            (measurement - b.state) + deviation * loss(eta)
        };
        let predicted = b.variance + b.process_noise; // Eq. 23
        let censored = (b.measurement_noise * terms.variance_factor).max(f64::MIN_POSITIVE); // Eq. 15
        let covariance = p * predicted; // Eq. 19
        let innovation_variance = p * covariance + censored; // Eq. 20
        let optimal = covariance / innovation_variance; // Eq. 21
        let gain = optimal.min(1.0);
        // Eq. 25. With the optimal gain 1 − P·K = V/R_CC, which is positive even where P·K rounds
        // to 1; with the cut gain it is 1 − P, and then P < 1.
        let rest = if optimal > 1.0 {
            1.0 - p
        } else {
            censored / innovation_variance
        };
        self.belief = Belief {
            state: bounded_state(b.state + gain * innovation), // Eq. 24
            variance: predicted * rest,
            gain,
            innovation,
            ..b
        };
        if let Some(learning) = &mut self.learning {
            let (share, xi) = learning.step(innovation);
            let rest = 1.0 - gain;
            let process = gain * (gain * xi) + (self.belief.variance - b.variance); // Eq. 42
            let measurement = rest * (xi * rest + covariance) / terms.variance_factor; // Eqs. 37, 38
            self.belief.process_noise = mix(b.process_noise, process, share);
            self.belief.measurement_noise = mix(b.measurement_noise, measurement, share); // Eq. 44
        }
        self.bound_variances();
        self.belief.state
    }

    /// A step without a measurement: the state is kept, its variance grows by Q.
    pub fn predict(&mut self) {
        self.belief.variance += self.belief.process_noise;
        self.bound_variances();
    }

    /// Sets the state, as SKIP does with the mean of the last few measurements when the filter has
    /// lost the link (BBR-S Alg. 1). NaN is ignored.
    ///
    /// The paper resets the mean alone. Here the variance becomes R, that of a single measurement:
    /// the old one told how sure the filter was of a state that was wrong, and the mean of a few
    /// measurements is at least as good as one. Learnt noise is kept, but cut to its bounds
    /// around the new state; the window of innovations starts anew, for they were
    /// measured from the wrong state.
    pub fn reset(&mut self, state: f64) {
        if state.is_nan() {
            return;
        }
        self.belief.state = bounded_state(state);
        if let Some(learning) = &mut self.learning {
            learning.forget_innovations();
        }
        self.bound_variances();
        self.belief.variance = self.belief.measurement_noise;
        self.bound_variances();
    }

    fn bound_variances(&mut self) {
        let b = &mut self.belief;
        if let Some(learning) = &self.learning {
            let scale = b.state.abs().max(SMALLEST_SCALE);
            let within = |variance: f64, (low, high): (f64, f64)| {
                let (low, high) = (low.max(0.0) * scale, high * scale);
                // `min` and `max` prefer a number to NaN.
                variance.min(high * high).max(low * low)
            };
            b.process_noise = within(b.process_noise, learning.bounds.process);
            b.measurement_noise = within(b.measurement_noise, learning.bounds.measurement);
            let largest = LARGEST_RELATIVE_DEVIATION * scale;
            b.variance = b.variance.min(largest * largest);
        }
        for variance in b.variances() {
            *variance = bounded_variance(*variance);
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

    /// Standard deviation that SKIP compares the next measurement with: √(Ψ⁻ + Q + R), where
    /// Ψ⁻ = Ψ + Q is the state's variance before that measurement (BBR-S Eqs. 47, 49; Alg. 1). As
    /// printed, it counts Q twice and takes no account of the ceiling.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let b = &self.belief;
        libm::sqrt(b.variance + 2.0 * b.process_noise + b.measurement_noise)
    }
}

/// (1 − share)·old + share·new; the old value where the result is no number.
fn mix(old: f64, new: f64, share: f64) -> f64 {
    let mixed = (1.0 - share) * old + share * new;
    if mixed.is_nan() { old } else { mixed }
}
