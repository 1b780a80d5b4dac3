//! Distributions of delays in constant memory.

use hdrhistogram::Histogram;
use lowtide_cc::units::Duration;

/// Significant decimal digits of percentiles.
const DIGITS: u8 = 3;

pub(super) const RESIZES: &str = "a histogram that resizes itself takes every value";

/// Delays: mean and maximum exact, percentiles to a microsecond or 0.1 %, whichever is more.
#[derive(Clone, Debug)]
pub struct Delays {
    /// In microseconds.
    histogram: Histogram<u32>,
    sum_ns: u128,
    count: u64,
    max: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            histogram: new_histogram(),
            sum_ns: 0,
            count: 0,
            max: Duration::ZERO,
        }
    }
}

/// An empty histogram that grows with the largest value.
pub(super) fn new_histogram<C: hdrhistogram::Counter>() -> Histogram<C> {
    Histogram::new(DIGITS).expect("three digits are within the library's range of 0 to 5")
}

impl Delays {
    /// Takes a delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        self.histogram.record(delay.as_micros()).expect(RESIZES);
        self.sum_ns += u128::from(delay.as_nanos());
        self.count += 1;
        self.max = self.max.max(delay);
    }

    /// Takes all delays of another distribution.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect(RESIZES);
        self.sum_ns += other.sum_ns;
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// Mean, percentiles and maximum in milliseconds, each less `offset`; NaN when there are no
    /// delays.
    #[must_use]
    pub fn summary_above(&self, offset: Duration) -> DelaySummary {
        if self.count == 0 {
            let nan = f64::NAN;
            return DelaySummary {
                mean: nan,
                p50: nan,
                p95: nan,
                p99: nan,
                max: nan,
            };
        }
        let offset = offset.as_millis_f64();
        let percentile = |p| {
            // The histogram returns the upper end of a bin, which may lie above the maximum.
            let ms = self.histogram.value_at_percentile(p) as f64 / 1e3;
            (ms.min(self.max.as_millis_f64()) - offset).max(0.0)
        };
        DelaySummary {
            mean: (self.sum_ns as f64 / self.count as f64 / 1e6 - offset).max(0.0),
            p50: percentile(50.0),
            p95: percentile(95.0),
            p99: percentile(99.0),
            max: self.max.as_millis_f64() - offset,
        }
    }

    /// Cumulative distribution for plots: (milliseconds, share of delays up to it).
    #[must_use]
    pub fn cdf(&self) -> Vec<(f64, f64)> {
        let mut seen = 0_u64;
        self.histogram
            .iter_recorded()
            .map(|step| {
                seen += step.count_since_last_iteration();
                (
                    step.value_iterated_to() as f64 / 1e3,
                    seen as f64 / self.count as f64,
                )
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
