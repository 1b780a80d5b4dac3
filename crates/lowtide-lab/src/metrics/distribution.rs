//! Distributions of delays in constant memory.

use lowtide_cc::units::Duration;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;

/// Delays: mean and maximum exact, percentiles to a microsecond or 0.1 %, whichever is more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Delays {
    /// In microseconds.
    histogram: Histogram<u32>,
    sum_ns: u128,
    count: u64,
    max: Duration,
}

impl Delays {
    /// Takes a delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        self.histogram.record(delay.as_micros(), 1);
        self.sum_ns += u128::from(delay.as_nanos());
        self.count += 1;
        self.max = self.max.max(delay);
    }

    /// Takes all delays of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// Mean, percentiles and maximum in milliseconds, each less `offset`; NaN when there are no
    /// delays.
    #[must_use]
    pub fn summary_above(&self, offset: Duration) -> DelaySummary {
        let Some(percentiles) = self.histogram.percentiles([50.0, 95.0, 99.0]) else {
            let nan = f64::NAN;
            return DelaySummary {
                mean: nan,
                p50: nan,
                p95: nan,
                p99: nan,
                max: nan,
            };
        };
        let offset = offset.as_millis_f64();
        let [p50, p95, p99] = percentiles.map(|us| {
            // The upper end of a bin may lie above the maximum.
            ((us as f64 / 1e3).min(self.max.as_millis_f64()) - offset).max(0.0)
        });
        DelaySummary {
            mean: (self.sum_ns as f64 / self.count as f64 / 1e6 - offset).max(0.0),
            p50,
            p95,
            p99,
            max: self.max.as_millis_f64() - offset,
        }
    }

    /// Cumulative distribution for plots: (milliseconds, share of delays up to it).
    #[must_use]
    pub fn cdf(&self) -> Vec<(f64, f64)> {
        let mut seen = 0_u64;
        self.histogram
            .bins()
            .map(|(us, count)| {
                seen += count;
                (us as f64 / 1e3, seen as f64 / self.count as f64)
            })
            .collect()
    }
}

/// A distribution in five numbers, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySummary {
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
