//! The standard normal distribution, with tails that neither cancel nor divide zero by zero.
//!
//! Where Φ(η) and φ(η) both vanish, their ratio does not: φ/Φ ≈ −η. Below η = −5 everything here
//! is therefore taken from Laplace's continued fraction of Mills' ratio,
//!
//! ```text
//! Φ(−z)/φ(z) = 1/(z + c),   c = 1/(z + d),   d = 2/(z + 3/(z + 4/(z + …)))
//! ```
//!
//! (Abramowitz and Stegun, 26.2.14), in whose terms λ = −(z + c) and λ − η = −c without a
//! subtraction. Relative errors are below 1e-12 for |η| ≤ 37; beyond, φ and the smaller tail
//! leave the range of normal floats and go to zero.

/// √(2π).
const SQRT_TAU: f64 = 2.506_628_274_631_000_5;

/// Below this, the continued fraction; above, the functions themselves lose at most two digits.
const TAIL: f64 = -5.0;

/// Density φ(η) = exp(−η²/2)/√(2π) of the standard normal distribution. NaN gives NaN.
#[must_use]
pub fn pdf(eta: f64) -> f64 {
    libm::exp(-0.5 * eta * eta) / SQRT_TAU
}

/// Probability Φ(η) that a standard normal variable is at most `eta`, in `0..=1`. NaN gives NaN.
#[must_use]
pub fn cdf(eta: f64) -> f64 {
    0.5 * libm::erfc(-eta * core::f64::consts::FRAC_1_SQRT_2)
}

/// Unit loss L(η) = E\[max(0, Z − η)\] = φ(η) − η·Φ(−η) of a standard normal Z: by how much a value
/// exceeds a ceiling `eta` on average, counting zero where it does not. About −η for η ≪ 0; zero
/// for η → +∞; finite even at −∞. NaN gives NaN.
#[must_use]
pub fn loss(eta: f64) -> f64 {
    if eta > -TAIL {
        let z = eta.min(f64::MAX);
        let c = mills_tail(z).0;
        pdf(z) * c / (z + c)
    } else {
        pdf(eta) - eta.max(f64::MIN) * cdf(-eta)
    }
}

/// `(c, d)` of the continued fraction, for `z` ≥ 5.
fn mills_tail(z: f64) -> (f64, f64) {
    // This number of terms gives 1e-15 at z = 5; fewer suffice further out.
    let terms = 4 + (100.0 / z) as u32;
    // The rest t of the fraction satisfies t ≈ (terms + 1)/(z + t).
    let rest = f64::from(4 * (terms + 1));
    let mut d = 0.5 * rest / (z + libm::sqrt(z * z + rest));
    for k in (2..=terms).rev() {
        d = f64::from(k) / (z + d);
    }
    (1.0 / (z + d), d)
}

/// What censoring from above at η standard deviations does to a normal variable: the terms of a
/// Tobit filter (BBR-S Eqs. 11–13, 18).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TobitTerms {
    /// Φ(η): the probability that a value is below the ceiling, so not censored. `0..=1`.
    pub uncensored: f64,
    /// 1 − ð, where ð = λ(λ − η) and λ = −φ(η)/Φ(η): the variance of the uncensored values in units of
    /// the uncut variance. About 1/η² for η ≪ 0. Above 0, up to 1.
    pub variance_factor: f64,
}

impl TobitTerms {
    /// The terms at η = (ceiling − mean)/standard deviation. Finite for every η but NaN, which
    /// gives NaN; an infinite η is its limit.
    #[must_use]
    pub fn at(eta: f64) -> Self {
        let uncensored = cdf(eta);
        let variance_factor = if eta < TAIL {
            let (c, d) = mills_tail((-eta).min(f64::MAX));
            // 1 − (z + c)c with 1 = c(z + d). It underflows at z = 1e154.
            (c * (d - c)).max(f64::MIN_POSITIVE)
        } else {
            let lambda = -pdf(eta) / uncensored;
            // φ is zero long before the largest float; 0·∞ must not be formed.
            1.0 - lambda * (lambda - eta.min(f64::MAX))
        };
        Self {
            uncensored,
            variance_factor,
        }
    }
}
