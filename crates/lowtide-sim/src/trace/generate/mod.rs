//! Links that cannot be had: seeded models, the same bytes on every machine.

mod blockage;
mod cellular;
mod lte;
mod model;
mod random;

use lowtide_cc::units::{Duration, Rate, Time};

pub use blockage::Blockage;
pub use cellular::Cellular;
pub use lte::Lte;
pub use model::{Model, Named, named};

use crate::link::{AfterLast, LinkError, RateSchedule};

/// The longest schedule, in intervals.
pub const MAX_INTERVALS: u64 = 10_000_000;

/// A schedule of `length` whose n-th interval has the rate `rate(n)`, bytes/s. Then it repeats.
///
/// # Errors
/// When the length holds no interval or too many, or nothing would ever leave.
fn sampled(
    length: Duration,
    interval: Duration,
    mut rate: impl FnMut(u64) -> f64,
) -> Result<RateSchedule, LinkError> {
    let intervals = length.as_nanos() / interval.as_nanos().max(1);
    if intervals == 0 || intervals > MAX_INTERVALS {
        return Err(LinkError::NoSteps);
    }
    let step = |n| {
        let rate = Rate::from_bytes_per_sec(rate(n) as u64);
        (Time::ZERO + interval * n, rate)
    };
    let steps = (0..intervals).map(step).collect();
    RateSchedule::new(steps, AfterLast::RepeatAfter(interval))
}
