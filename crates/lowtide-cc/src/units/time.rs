//! Points in time and spans between them.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use super::saturating::{additive, scalable};

/// Nanoseconds in a second.
pub(super) const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in time: nanoseconds since an origin that the host chooses and never moves.
///
/// Hosts pass a monotonic clock. A time that goes back is absurd but harmless: differences
/// saturate at zero.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Time(u64);

/// A span of time in nanoseconds, `0..=u64::MAX` (584 years). Arithmetic saturates.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Duration(u64);

impl Time {
    /// The origin of the host's clock.
    pub const ZERO: Self = Self(0);
    /// The last representable point; used as "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The point `n` nanoseconds after the origin.
    #[inline]
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// Nanoseconds since the origin.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the origin, for output.
    #[inline]
    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The span since `earlier`; zero if `earlier` is later.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; used as "not measured yet" by minimum filters.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `n` nanoseconds.
    #[inline]
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// A span of `n` microseconds.
    #[inline]
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// A span of `n` milliseconds.
    #[inline]
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// A span of `n` seconds.
    #[inline]
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(NANOS_PER_SEC))
    }

    /// The number of nanoseconds.
    #[inline]
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The number of whole microseconds.
    #[inline]
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// The span in milliseconds, for output.
    #[inline]
    #[must_use]
    pub const fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span in seconds, for output and filters.
    #[inline]
    #[must_use]
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// `self / n`, rounded towards zero. Dividing by zero gives [`Duration::MAX`].
    #[inline]
    #[must_use]
    pub const fn div(self, n: u64) -> Self {
        match self.0.checked_div(n) {
            Some(q) => Self(q),
            None => Self::MAX,
        }
    }

    /// How many times `other` fits into `self`, as a float; infinite when `other` is zero.
    #[inline]
    #[must_use]
    pub fn ratio(self, other: Self) -> f64 {
        if other.0 == 0 {
            f64::INFINITY
        } else {
            self.0 as f64 / other.0 as f64
        }
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

additive!(Duration);
scalable!(Duration);

impl From<core::time::Duration> for Duration {
    fn from(d: core::time::Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for core::time::Duration {
    fn from(d: Duration) -> Self {
        Self::from_nanos(d.0)
    }
}

/// Exact, in the unit that fits: `12.5s`.
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&Duration(self.0), f)
    }
}

/// Exact, in the unit that fits: `40.125ms`; `MAX` for the longest.
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::MAX {
            return f.write_str("MAX");
        }
        fmt::Debug::fmt(&core::time::Duration::from_nanos(self.0), f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.as_secs_f64())
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ms", self.as_millis_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_is_exact_and_has_a_unit() {
        let shown = [
            Duration::ZERO,
            Duration::from_nanos(40_125_003),
            Duration::from_secs(90),
            Duration::MAX,
        ];
        let text = std::format!("{shown:?} {:?}", Time::from_nanos(200_000));
        assert_eq!(text, "[0ns, 40.125003ms, 90s, MAX] 200µs");
    }
}
