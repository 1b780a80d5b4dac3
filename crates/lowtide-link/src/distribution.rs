//! Distributions in constant memory.

use hdrhistogram::Histogram;
use lowtide_cc::units::Duration;
use serde::Serialize;

/// Longest delay that is told apart from longer ones: an hour. Bounds the memory.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of percentiles.
const DIGITS: u8 = 2;

/// Durations from 1 ns to an hour: mean and maximum exact, percentiles to 1 %.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max: Duration,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_max(LONGEST_NS, DIGITS)
                .expect("two digits up to an hour are within the library's range"),
            sum_ns: 0,
            max: Duration::ZERO,
        }
    }
}

impl Distribution {
    /// Takes a value.
    #[inline]
    pub fn record(&mut self, value: Duration) {
        self.histogram.saturating_record(value.as_nanos());
        self.sum_ns += u128::from(value.as_nanos());
        self.max = self.max.max(value);
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The share of values that are longer than `limit`, to the histogram's precision; 0 without
    /// values.
    #[must_use]
    pub fn share_above(&self, limit: Duration) -> f64 {
        if self.histogram.is_empty() {
            return 0.0;
        }
        let up_to = self.histogram.count_between(0, limit.as_nanos());
        let above = self.histogram.len().saturating_sub(up_to);
        above as f64 / self.histogram.len() as f64
    }

    /// Mean, percentiles and maximum in milliseconds; `None` without values.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        if self.histogram.is_empty() {
            return None;
        }
        let max = self.max.as_millis_f64();
        // The histogram returns the upper end of a bin, which may lie above the maximum.
        let at = |p| (self.histogram.value_at_percentile(p) as f64 / 1e6).min(max);
        Some(Percentiles {
            mean: self.sum_ns as f64 / self.histogram.len() as f64 / 1e6,
            p50: at(50.0),
            p95: at(95.0),
            p99: at(99.0),
            max,
        })
    }
}

/// A distribution in five numbers, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_shares_are_those_of_the_values_and_absurd_ones_do_not_panic() {
        let mut d = Distribution::default();
        assert_eq!(
            (d.percentiles(), d.share_above(Duration::ZERO)),
            (None, 0.0)
        );
        for n in 1..=100 {
            d.record(Duration::from_micros(n * 100));
        }
        let p = d.percentiles().unwrap();
        assert!((p.mean - 5.05).abs() < 1e-9 && (p.max - 10.0).abs() < 1e-9);
        assert!(
            (p.p50 - 5.0).abs() < 0.06 && (p.p99 - 9.9).abs() < 0.1,
            "{p:?}"
        );
        let above = d.share_above(Duration::from_millis(9));
        assert!((above - 0.1).abs() < 0.011, "{above}");
        d.record(Duration::MAX);
        d.record(Duration::ZERO);
        assert_eq!(d.count(), 102);
        assert_eq!(d.percentiles().unwrap().max, Duration::MAX.as_millis_f64());
    }
}
