//! A controller's state, for logs and plots.

use core::ffi::c_char;

use lowtide_cc::units::{Bytes, Duration, Rate};

use crate::boundary::{field, guard, put};
use crate::flow::alive;
use crate::{LOWTIDE_NONE, LowtideFlow, LowtideStatus};

/// A readable copy of a controller's state.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideSnapshot {
    /// The phase in the algorithm's own words, ended by zero.
    pub phase: [c_char; 32],
    /// Bandwidth estimate, bytes per second, or `LOWTIDE_NONE`.
    pub bandwidth: u64,
    /// The algorithm's own minimum RTT, ns, or `LOWTIDE_NONE`.
    pub min_rtt: u64,
    /// Pacing gain, or NaN.
    pub pacing_gain: f64,
    /// Window gain, or NaN.
    pub cwnd_gain: f64,
    /// Slow-start threshold, bytes, or `LOWTIDE_NONE`.
    pub ssthresh: u64,
    /// Whether a loss recovery is under way.
    pub in_recovery: bool,
    /// Whether there is a bandwidth filter; without, the fields below mean nothing.
    pub has_filter: bool,
    /// What the filter does with samples now, ended by zero.
    pub filter_mode: [c_char; 32],
    /// Kalman gain of the filter's last step, 0 to 1.
    pub filter_gain: f64,
    /// Process noise variance, (bytes/s)².
    pub filter_process_noise: f64,
    /// Measurement noise variance, (bytes/s)².
    pub filter_measurement_noise: f64,
    /// Last innovation, bytes/s.
    pub filter_innovation: f64,
}

/// Reads the controller's state.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_snapshot(
    flow: *const LowtideFlow,
    out: *mut LowtideSnapshot,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { alive(flow) }?.driver.controller().snapshot();
        let filter = s.filter.as_ref();
        let of_filter = |get: fn(&_) -> f64| filter.map_or(f64::NAN, get);
        let snapshot = LowtideSnapshot {
            phase: field(s.phase),
            bandwidth: s.bandwidth.map_or(LOWTIDE_NONE, Rate::as_bytes_per_sec),
            min_rtt: s.min_rtt.map_or(LOWTIDE_NONE, Duration::as_nanos),
            pacing_gain: s.pacing_gain.unwrap_or(f64::NAN),
            cwnd_gain: s.cwnd_gain.unwrap_or(f64::NAN),
            ssthresh: s.ssthresh.map_or(LOWTIDE_NONE, Bytes::get),
            in_recovery: s.in_recovery,
            has_filter: filter.is_some(),
            filter_mode: field(filter.map_or("", |f| f.mode)),
            filter_gain: of_filter(|f| f.gain),
            filter_process_noise: of_filter(|f| f.process_noise),
            filter_measurement_noise: of_filter(|f| f.measurement_noise),
            filter_innovation: of_filter(|f| f.innovation),
        };
        // SAFETY: as above.
        unsafe { put(out, snapshot) }
    })
}
