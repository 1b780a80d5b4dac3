//! The PI controller of PIE (RFC 8033 §4.2) and DualPI2 (RFC 9332, Appendix A): how it is tuned, and what
//! an update changes.

use std::ops::RangeInclusive;

use lowtide_cc::units::Duration;

/// Waits that can be aimed at.
pub(super) const TARGET: RangeInclusive<Duration> =
    Duration::from_micros(1)..=Duration::from_secs(10);

/// Times between two updates.
pub(super) const TUPDATE: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(10);

/// Gains, Hz.
pub(super) const GAIN: RangeInclusive<f64> = 0.0..=1000.0;

/// By how much an update changes the probability: by the wait's deviation from the target, and by its
/// change since the last update.
pub(super) fn change(
    (alpha, beta): (f64, f64),
    target: Duration,
    current: Duration,
    previous: Duration,
) -> f64 {
    let secs = |wait: Duration| wait.as_secs_f64();
    alpha * (secs(current) - secs(target)) + beta * (secs(current) - secs(previous))
}
