//! s2n-quic's timestamps as the core's time.

use lowtide_cc::units::{Duration, Time};
use s2n_quic::provider::congestion_controller::Timestamp;

/// Counts from the first timestamp that it sees. Resolution: a microsecond, as s2n-quic's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    origin: Option<Timestamp>,
}

impl Clock {
    #[inline]
    pub(crate) fn time(&mut self, timestamp: Timestamp) -> Time {
        Time::ZERO + since(timestamp, *self.origin.get_or_insert(timestamp))
    }

    /// The timestamp of `time`; `None` before the first one or when it is too far away.
    #[inline]
    pub(crate) fn timestamp(&self, time: Time) -> Option<Timestamp> {
        self.origin?.checked_add(time.since(Time::ZERO).into())
    }
}

/// The span since `earlier`; zero if `earlier` is later.
#[inline]
pub(crate) fn since(timestamp: Timestamp, earlier: Timestamp) -> Duration {
    // s2n-quic's own difference is never below a microsecond.
    if timestamp <= earlier {
        return Duration::ZERO;
    }
    Duration::from(timestamp.saturating_duration_since(earlier))
}
