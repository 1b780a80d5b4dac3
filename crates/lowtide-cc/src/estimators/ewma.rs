//! Exponentially weighted moving average.

use super::noise::bounded_share;

/// R_t = α·r_t + (1 − α)·R_{t−1} (RBBR Eq. 12); the first sample is the first average.
///
/// ```
/// use lowtide_cc::estimators::Ewma;
///
/// let mut average = Ewma::new(0.25);
/// assert_eq!(average.update(8.0), Some(8.0));
/// assert_eq!(average.update(16.0), Some(10.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ewma {
    alpha: f64,
    average: Option<f64>,
}

impl Ewma {
    /// An empty average in which a new sample weighs `alpha`, `0..=1`: at 1 the average is the
    /// newest sample, at 0 the first. Values outside are cut to the range, NaN counts as 1.
    #[must_use]
    pub const fn new(alpha: f64) -> Self {
        Self {
            alpha: bounded_share(alpha),
            average: None,
        }
    }

    /// Takes a sample and returns the average. A sample that is not finite is ignored, so that
    /// there is no average before the first finite one.
    pub fn update(&mut self, sample: f64) -> Option<f64> {
        if sample.is_finite() {
            let average = self.average.map_or(sample, |average| {
                // Rounding may carry the largest floats beyond the range.
                (self.alpha * sample + (1.0 - self.alpha) * average).clamp(f64::MIN, f64::MAX)
            });
            self.average = Some(average);
        }
        self.average
    }

    /// The average, if there was a sample.
    #[must_use]
    pub const fn get(&self) -> Option<f64> {
        self.average
    }
}
