//! Data rate.

use core::fmt;

use super::saturating::{mul_div, scalable};
use super::time::NANOS_PER_SEC;
use super::{Bytes, Duration};

/// A data rate in bytes per second, `0..=u64::MAX`. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Rate(u64);

impl Rate {
    /// Nothing moves.
    pub const ZERO: Self = Self(0);
    /// The highest rate; used as "no limit".
    pub const MAX: Self = Self(u64::MAX);

    /// `n` bytes per second.
    #[inline]
    #[must_use]
    pub const fn from_bytes_per_sec(n: u64) -> Self {
        Self(n)
    }

    /// `n` bits per second, rounded down to whole bytes per second.
    #[inline]
    #[must_use]
    pub const fn from_bits_per_sec(n: u64) -> Self {
        Self(n / 8)
    }

    /// `n` megabits (10^6 bits) per second.
    #[inline]
    #[must_use]
    pub const fn from_mbps(n: u64) -> Self {
        Self(n.saturating_mul(125_000))
    }

    /// The rate at which `volume` moves in `interval`; [`Rate::MAX`] when `interval` is zero.
    #[inline]
    #[must_use]
    pub const fn from_volume(volume: Bytes, interval: Duration) -> Self {
        let ns = interval.as_nanos();
        if ns == 0 {
            return Self::MAX;
        }
        Self(mul_div(volume.get(), NANOS_PER_SEC, ns))
    }

    /// Bytes per second.
    #[inline]
    #[must_use]
    pub const fn as_bytes_per_sec(self) -> u64 {
        self.0
    }

    /// Bytes per second as a float, for filters.
    #[inline]
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Megabits (10^6 bits) per second, for output.
    #[inline]
    #[must_use]
    pub const fn as_mbps(self) -> f64 {
        self.0 as f64 * 8.0 / 1e6
    }

    /// The volume that moves in `interval`, rounded down.
    #[inline]
    #[must_use]
    pub const fn volume_in(self, interval: Duration) -> Bytes {
        Bytes::new(mul_div(self.0, interval.as_nanos(), NANOS_PER_SEC))
    }

    /// How long `volume` takes at this rate, rounded down; [`Duration::MAX`] at rate zero.
    #[inline]
    #[must_use]
    pub const fn time_for(self, volume: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        Duration::from_nanos(mul_div(volume.get(), NANOS_PER_SEC, self.0))
    }
}

scalable!(Rate);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} Mbit/s", self.as_mbps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_volume_and_time_are_consistent_up_to_the_limits() {
        let rate = Rate::from_mbps(12);
        assert_eq!(rate.time_for(Bytes::new(1500)), Duration::from_millis(1));
        assert_eq!(rate.volume_in(Duration::from_millis(1)), Bytes::new(1500));
        assert_eq!(
            Rate::from_volume(Bytes::new(1500), Duration::from_millis(1)),
            rate
        );

        assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Duration::MAX);
        assert_eq!(Rate::from_volume(Bytes::new(1), Duration::ZERO), Rate::MAX);
        assert_eq!(Rate::MAX.volume_in(Duration::MAX), Bytes::MAX);
        let huge = Bytes::new(40_000_000_000);
        assert_eq!(Rate::from_bytes_per_sec(1).time_for(huge), Duration::MAX);
        assert_eq!(
            Rate::from_bytes_per_sec(4).time_for(huge),
            Duration::from_secs(10_000_000_000)
        );
        assert_eq!(Rate::from_mbps(1).mul_f64(f64::NAN), Rate::ZERO);
        assert_eq!(Rate::from_mbps(1).mul_f64(-1.0), Rate::ZERO);
    }
}
