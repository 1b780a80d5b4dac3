//! How often RBBR's sender repeats its signal to the peer's estimator.

use lowtide_cc::units::Duration;

/// The signal is repeated each round trip, in case a packet was lost; but not more often than this.
const MIN_REPETITION: Duration = Duration::from_millis(10);

/// How long after a signal it is repeated.
#[inline]
#[must_use]
pub fn signal_repetition(round_trip: Duration) -> Duration {
    round_trip.max(MIN_REPETITION)
}
