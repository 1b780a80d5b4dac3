//! Instants as the core's time.

use std::time::Instant;

use lowtide_cc::units::Time;

/// Counts from the first instant that it sees.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    origin: Option<Instant>,
    latest: Time,
}

impl Clock {
    /// The time of an instant; zero for the first one and for those before it.
    #[inline]
    pub fn time(&mut self, instant: Instant) -> Time {
        let origin = *self.origin.get_or_insert(instant);
        Time::ZERO + instant.saturating_duration_since(origin).into()
    }

    /// The time of an event that happens now, never before the event before it: quinn and noq give
    /// packets that arrive the time at which a socket's task read them, and they may wait for the
    /// connection's task while that sends.
    #[inline]
    pub fn now(&mut self, instant: Instant) -> Time {
        self.latest = self.latest.max(self.time(instant));
        self.latest
    }
}
