//! Instants as the core's time.

use std::time::Instant;

use lowtide_cc::units::Time;

/// Counts from the first instant that it sees.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    origin: Option<Instant>,
}

impl Clock {
    #[inline]
    pub(crate) fn time(&mut self, instant: Instant) -> Time {
        let origin = *self.origin.get_or_insert(instant);
        Time::ZERO + instant.saturating_duration_since(origin).into()
    }
}
