//! Means over seeds and their confidence.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The geometric mean of values above zero; NaN without values, or where one is NaN.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> f64 {
    // Not the platform's functions: the same bytes on every machine.
    let logarithms = values.iter().map(|v| libm::log(*v));
    libm::exp(logarithms.sum::<f64>() / values.len() as f64)
}

/// The mean; NaN without values.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half the width of the 95 % confidence interval of the mean (Student's t); NaN below two values.
#[must_use]
pub fn ci95(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    match StudentsT::new(0.0, 1.0, n - 1.0) {
        Ok(t) => t.inverse_cdf(0.975) * (variance / n).sqrt(),
        Err(_) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // t(0.975, 4) = 2.7764; standard deviation of 1..5 is √2.5.
        let half = ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let expected = 2.776_445 * (2.5_f64 / 5.0).sqrt();
        assert!((half - expected).abs() < 1e-4, "{half}");
        assert!(ci95(&[1.0]).is_nan());
    }
}
