//! What RBBR's extension needs in every host.

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::registry;
use lowtide_cc::units::Duration;

/// The signal is repeated each round trip, in case a packet was lost; but not more often than this.
const LEAST_REPETITION: Duration = Duration::from_millis(10);

/// How long after a signal it is repeated.
#[inline]
#[must_use]
pub fn signal_repetition(round_trip: Duration) -> Duration {
    round_trip.max(LEAST_REPETITION)
}

/// The estimator that serves peers that run RBBR, with the registry's settings.
///
/// # Panics
/// When the registry has no `rbbr`.
#[must_use]
pub fn default_receiver() -> ReceiverConfig {
    let rbbr = registry::parse("rbbr").ok().and_then(|r| r.receiver());
    rbbr.expect("RBBR works by feedback")
}
