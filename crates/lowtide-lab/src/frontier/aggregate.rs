//! One number for many traces: ratios against a base, their geometric means, and who is dominated.
//!
//! Floors keep a ratio finite where a controller or the base got nothing through, or nothing waited:
//! [`THROUGHPUT_FLOOR_MBPS`] and [`DELAY_FLOOR_MS`], both below what a link of packets tells apart.

use serde::Serialize;

use crate::statistics::geometric_mean;

/// Less throughput than this, in Mbit/s, is taken for this: a packet of 1500 bytes in 12 s.
pub const THROUGHPUT_FLOOR_MBPS: f64 = 0.001;
/// A shorter 95th percentile of the queueing delay than this, in milliseconds, is taken for this: a
/// packet of 1500 bytes at 1.2 Gbit/s.
pub const DELAY_FLOOR_MS: f64 = 0.01;
/// The share by which an outcome is better that dominates another, in throughput and in delay.
const MARGIN: f64 = 0.01;

/// What a controller did on a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Throughput, Mbit/s; NaN where no run came to its end.
    pub throughput_mbps: f64,
    /// 95th percentile of the queueing delay, ms; NaN where besides nothing arrived.
    pub queue_p95_ms: f64,
}

impl Outcome {
    /// The ratios to the base's outcome on the same trace.
    #[must_use]
    pub fn against(self, base: Self) -> Ratio {
        // Not `f64::max`, which would make a number of what does not exist.
        let floored = |value: f64, floor: f64| if value < floor { floor } else { value };
        let throughput = |o: Self| floored(o.throughput_mbps, THROUGHPUT_FLOOR_MBPS);
        let delay = |o: Self| floored(o.queue_p95_ms, DELAY_FLOOR_MS);
        Ratio {
            throughput: throughput(self) / throughput(base),
            queue_p95: delay(self) / delay(base),
        }
    }

    /// Whether another controller had more throughput and less delay on the same trace, each by more
    /// than 1 %. Who got nothing through waits for ever.
    #[must_use]
    pub fn is_dominated_by(self, other: Self) -> bool {
        let delay = |o: Self| match o.queue_p95_ms {
            p95 if p95.is_nan() => f64::INFINITY,
            p95 => p95,
        };
        other.throughput_mbps > self.throughput_mbps * (1.0 + MARGIN)
            && delay(other) < delay(self) * (1.0 - MARGIN)
    }
}

/// An outcome over the base's. NaN where either has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The geometric mean of the throughputs.
    pub throughput: f64,
    /// The geometric mean of the 95th percentiles of the queueing delay.
    pub queue_p95: f64,
}

/// A controller on all traces. What lacks a trace is NaN, `null` in JSON: a mean over the others would
/// flatter it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Geometric mean of the ratios of throughput.
    pub throughput_ratio: f64,
    /// The ratio of throughput on the worst trace.
    pub throughput_ratio_min: f64,
    /// Geometric mean of the ratios of the 95th percentile of the queueing delay.
    pub queue_p95_ratio: f64,
    /// The ratio of delay on the worst trace.
    pub queue_p95_ratio_max: f64,
}

impl Summary {
    /// The summary of the ratios on each trace.
    #[must_use]
    pub fn of(ratios: &[Ratio]) -> Self {
        let throughput: Vec<f64> = ratios.iter().map(|r| r.throughput).collect();
        let delay: Vec<f64> = ratios.iter().map(|r| r.queue_p95).collect();
        Self {
            throughput_ratio: geometric_mean(&throughput),
            throughput_ratio_min: extreme(&throughput, f64::min),
            queue_p95_ratio: geometric_mean(&delay),
            queue_p95_ratio_max: extreme(&delay, f64::max),
        }
    }
}

/// The smallest or largest; NaN without values, or where one is NaN.
fn extreme(values: &[f64], of: fn(f64, f64) -> f64) -> f64 {
    if values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    values.iter().copied().reduce(of).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(throughput_mbps: f64, queue_p95_ms: f64) -> Outcome {
        Outcome {
            throughput_mbps,
            queue_p95_ms,
        }
    }

    fn summary(pairs: &[(Outcome, Outcome)]) -> Summary {
        let ratios: Vec<Ratio> = pairs.iter().map(|(own, base)| own.against(*base)).collect();
        Summary::of(&ratios)
    }

    #[test]
    fn ratios_are_averaged_geometrically_and_the_worst_trace_is_kept() {
        // Throughput 0.5 and 2: on average 1. Delay 0.1 and 0.4: on average 0.2.
        let made = summary(&[
            (outcome(5.0, 10.0), outcome(10.0, 100.0)),
            (outcome(20.0, 80.0), outcome(10.0, 200.0)),
        ]);
        assert!((made.throughput_ratio - 1.0).abs() < 1e-12, "{made:?}");
        assert!((made.queue_p95_ratio - 0.2).abs() < 1e-12, "{made:?}");
        let worst = [made.throughput_ratio_min, made.queue_p95_ratio_max];
        assert_eq!(worst, [0.5, 0.4]);
    }

    #[test]
    fn nothing_sent_and_nothing_queued_are_as_good_as_their_floors() {
        let made = summary(&[(outcome(0.0, 0.0), outcome(10.0, 100.0))]);
        assert!((made.throughput_ratio - 1e-4).abs() < 1e-16, "{made:?}");
        assert!((made.queue_p95_ratio - 1e-4).abs() < 1e-16, "{made:?}");
        let of_base = outcome(10.0, 100.0).against(outcome(0.0, 0.0));
        assert!((of_base.throughput - 1e4).abs() < 1e-8, "{of_base:?}");
        assert!((of_base.queue_p95 - 1e4).abs() < 1e-8, "{of_base:?}");
    }

    #[test]
    fn a_trace_without_an_outcome_leaves_no_mean() {
        let base = outcome(10.0, 100.0);
        let missing = outcome(f64::NAN, f64::NAN);
        let made = summary(&[(base, base), (missing, base)]);
        assert!(made.throughput_ratio.is_nan() && made.throughput_ratio_min.is_nan());
        assert!(made.queue_p95_ratio.is_nan() && made.queue_p95_ratio_max.is_nan());
        assert!(Summary::of(&[]).throughput_ratio.is_nan());
    }

    #[test]
    fn who_is_worse_in_both_by_more_than_a_hundredth_is_dominated() {
        let own = outcome(10.0, 100.0);
        assert!(own.is_dominated_by(outcome(10.2, 98.0)));
        assert!(!own.is_dominated_by(outcome(10.05, 50.0)), "as much");
        assert!(!own.is_dominated_by(outcome(20.0, 99.5)), "as late");
        assert!(!own.is_dominated_by(outcome(20.0, 101.0)) && !own.is_dominated_by(own));
        let silent = outcome(0.0, f64::NAN);
        assert!(silent.is_dominated_by(own) && !own.is_dominated_by(silent));
        let failed = outcome(f64::NAN, f64::NAN);
        assert!(!failed.is_dominated_by(own) && !own.is_dominated_by(failed));
    }
}
