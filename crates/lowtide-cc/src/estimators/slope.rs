//! Least-squares slope of delays over time.

use crate::units::{Bytes, Duration, Time};

/// Straight-line fit of round-trip times τ over send times t, in constant memory, each pair
/// weighted by its packet's length.
///
/// For packets of equal length the slope is Σ(t − t̄)(τ − τ̄)/Σ(t − t̄)² (BBR-S Eq. 8, which prints
/// (t − t̄)² in the numerator). With lengths, every sum is over bytes instead of packets; this
/// weighting is ours. Sums are kept around the mean, and times and delays relative to the first
/// pair, so that clocks far from zero lose no digits.
///
/// ```
/// use lowtide_cc::estimators::{SlopeFit, capacity};
/// use lowtide_cc::units::{Bytes, Duration, Rate, Time};
///
/// // A packet each millisecond at twice the link's rate: each waits a millisecond longer.
/// let mut fit = SlopeFit::default();
/// for n in 0..10 {
///     let sent_at = Time::ZERO + Duration::from_millis(n);
///     fit.push(sent_at, Duration::from_millis(40 + n), Bytes::new(1200));
/// }
/// let (sending, slope) = (Rate::from_bytes_per_sec(1_200_000), fit.slope().unwrap());
/// assert!((slope - 1.0).abs() < 1e-12);
/// assert_eq!(capacity(sending, slope), Some(Rate::from_bytes_per_sec(600_000)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SlopeFit {
    first: Option<(Time, Duration)>,
    weight: f64,
    /// Mean time and delay, in nanoseconds after the first pair's.
    mean_t: f64,
    mean_tau: f64,
    /// Weighted sums of (t − t̄)² and (t − t̄)(τ − τ̄).
    sum_tt: f64,
    sum_ttau: f64,
}

impl SlopeFit {
    /// Takes a packet of length `weight`, sent at `t`, that took `tau` to be acknowledged. Packets
    /// may come in any order; those without length are ignored.
    pub fn push(&mut self, t: Time, tau: Duration, weight: Bytes) {
        if weight.is_zero() {
            return;
        }
        let Some((first_t, first_tau)) = self.first else {
            *self = Self {
                first: Some((t, tau)),
                weight: weight.as_f64(),
                ..Self::default()
            };
            return;
        };
        // West's update of weighted mean and covariance (1979).
        let w = weight.as_f64();
        self.weight += w;
        let dt = signed(t.as_nanos(), first_t.as_nanos()) - self.mean_t;
        let dtau = signed(tau.as_nanos(), first_tau.as_nanos()) - self.mean_tau;
        let share = w / self.weight;
        self.mean_t += share * dt;
        self.mean_tau += share * dtau;
        let remaining = w * (1.0 - share);
        self.sum_tt += remaining * dt * dt;
        self.sum_ttau += remaining * dt * dtau;
    }

    /// Slope dτ/dt, without unit; `None` unless two packets were sent at different times.
    #[must_use]
    pub fn slope(&self) -> Option<f64> {
        (self.sum_tt > 0.0).then(|| self.sum_ttau / self.sum_tt)
    }
}

/// `value − origin`.
fn signed(value: u64, origin: u64) -> f64 {
    if value >= origin {
        (value - origin) as f64
    } else {
        -((origin - value) as f64)
    }
}
