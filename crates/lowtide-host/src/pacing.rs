//! Pacing for controllers that do not pace.

use lowtide_cc::units::{Bytes, Duration, Rate};

/// How much faster packets leave than the window is acknowledged (RFC 9002 §7.7, N).
const FACTOR: f64 = 1.25;

/// The rate at which a host paces a controller without a pacing rate: N × cwnd / smoothed RTT
/// (RFC 9002 §7.7), above zero.
#[inline]
#[must_use]
pub fn window_pacing_rate(cwnd: Bytes, smoothed_rtt: Duration) -> Rate {
    Rate::from_volume(cwnd, smoothed_rtt.max(Duration::from_nanos(1)))
        .mul_f64(FACTOR)
        .max(Rate::from_bytes_per_sec(1))
}
