//! A handle's own clock: no event is earlier than the one before.

use lowtide_cc::units::Time;

use crate::LowtideStatus;

/// When the newest event was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Time);

impl Clock {
    pub(crate) fn starting_at(now: Time) -> Self {
        Self(now)
    }

    pub(crate) fn newest(self) -> Time {
        self.0
    }

    /// The time of an event that may still be refused for another reason.
    pub(crate) fn check(self, now: u64) -> Result<Time, LowtideStatus> {
        let now = Time::from_nanos(now);
        if now < self.0 {
            return Err(LowtideStatus::TimeWentBack);
        }
        Ok(now)
    }

    /// The time of an event that takes place.
    pub(crate) fn advance(&mut self, now: u64) -> Result<Time, LowtideStatus> {
        self.0 = self.check(now)?;
        Ok(self.0)
    }
}
