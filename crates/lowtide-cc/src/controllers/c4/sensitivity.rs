//! How soon a flow takes a signal for congestion: fast flows before slow ones, so that they come to
//! share (§5.1).

use crate::units::{Duration, Rate};

/// The curve's corners: rate in bytes per second, sensitivity. 963/1024 is the code's; the text says
/// 0.92.
const SLOW: (f64, f64) = (50e3, 0.0);
const MIDDLE: (f64, f64) = (1e6, 963.0 / 1024.0);
const FAST: (f64, f64) = (10e6, 1.0);

/// No queue longer than that is taken for noise.
const MAX_DELAY_THRESHOLD: Duration = Duration::from_millis(25);

/// 0 to 1, for a flow of this nominal rate.
pub(super) fn sensitivity(rate: Rate) -> f64 {
    let rate = rate.as_f64();
    let on = |a: (f64, f64), b: (f64, f64)| a.1 + (rate - a.0) * (b.1 - a.1) / (b.0 - a.0);
    if rate < SLOW.0 {
        SLOW.1
    } else if rate < MIDDLE.0 {
        on(SLOW, MIDDLE)
    } else if rate <= FAST.0 {
        on(MIDDLE, FAST)
    } else {
        FAST.1
    }
}

/// How far above the nominal maximum an RTT shows congestion (§5.2; 196/1024 is the code's, the text says 3/16).
pub(super) fn delay_threshold(rate: Rate, max_rtt: Duration) -> Duration {
    let share = (64.0 + (1.0 - sensitivity(rate)) * 196.0) / 1024.0;
    max_rtt.mul_f64(share).min(MAX_DELAY_THRESHOLD)
}

/// The average loss above which losses show congestion (§5.3).
pub(super) fn loss_threshold(rate: Rate) -> f64 {
    0.02 + 0.5 * (1.0 - sensitivity(rate))
}

/// By which share losses lower the rate: the code's; by §5.5 a quarter.
pub(super) fn loss_reduction(rate: Rate) -> f64 {
    (1.0 + sensitivity(rate)) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_flows_take_less_delay_and_loss_for_congestion_than_slow_ones() {
        // By hand, from the corners: (525 − 50)/950 · 963/1024 = 0.4702; 0.9404 + 4.5/9 · 61/1024 = 0.9702.
        for (rate, expected) in [
            (49_999, 0.0),
            (525_000, 0.470_215),
            (1_000_000, 0.940_430),
            (5_500_000, 0.970_215),
            (20_000_000, 1.0),
        ] {
            let s = sensitivity(Rate::from_bytes_per_sec(rate));
            assert!((s - expected).abs() < 1e-6, "{rate}: {s}");
        }
        let (slow, fast) = (Rate::ZERO, Rate::from_bytes_per_sec(20_000_000));
        let max_rtt = Duration::from_millis(64);
        // (64 + 196)/1024 and 64/1024 of it.
        let threshold = delay_threshold(slow, max_rtt);
        assert_eq!(threshold, Duration::from_micros(16_250));
        assert_eq!(delay_threshold(fast, max_rtt), Duration::from_millis(4));
        let long = Duration::from_secs(1);
        assert_eq!(delay_threshold(fast, long), Duration::from_millis(25));
        assert!((loss_threshold(slow) - 0.52).abs() < 1e-12);
        assert!((loss_threshold(fast) - 0.02).abs() < 1e-12);
        assert!((loss_reduction(slow) - 0.125).abs() < 1e-12);
        assert!((loss_reduction(fast) - 0.25).abs() < 1e-12);
    }
}
