//! When the satellites are assigned anew.

use crate::units::{Duration, Time};

/// The time before a reconfiguration at which it is acted upon (`magic_offet` [sic]): what is in flight then
/// still takes the old path.
const LEAD: Duration = Duration::from_millis(100);

/// The schedule, and the reconfiguration under way.
#[derive(Clone, Copy, Debug)]
pub struct Reconfigurations {
    period: Duration,
    due: Option<Time>,
    /// The path is changing; Startup ends that, when it has found what the new path carries.
    pub(super) under_way: bool,
}

impl Reconfigurations {
    /// Starlink's period.
    pub const DEFAULT_PERIOD: Duration = Duration::from_secs(15);
    /// The default of the authors' module.
    pub const DEFAULT_OFFSET: Duration = Duration::from_secs(12);

    /// One `offset` after `start`, and then each `period`; a period of zero: none.
    #[must_use]
    pub fn new(start: Time, offset: Duration, period: Duration) -> Self {
        Self {
            period,
            due: (!period.is_zero()).then_some(start + (offset - LEAD)),
            under_way: false,
        }
    }

    /// Time passes. Several that were missed are one.
    pub(super) fn on_ack(&mut self, now: Time) {
        if let Some(due) = self.due
            && now >= due
        {
            self.under_way = true;
            let periods = now.since(due).as_nanos() / self.period.as_nanos();
            self.due = Some(due + self.period * periods.saturating_add(1));
        }
    }
}
