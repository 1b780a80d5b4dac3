//! Links: service processes that say when a packet leaves.
//!
//! A [`Link`] is a capacity over all time; it is immutable and shared by the runs of a comparison.
//! A [`Server`] is one run's place in it. All limited links are deterministic, so that
//! the time at which a packet will leave is known as soon as its service starts.

mod error;
mod opportunities;
mod rates;
mod shaper;
mod slot;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

pub use self::error::{LinkError, MAX_TRACE_MS};
use self::opportunities::OpportunityCursor;
pub use self::opportunities::{MAHIMAHI_OPPORTUNITY, Opportunities};
use self::rates::RateCursor;
pub use self::rates::{AfterLast, RateSchedule};
pub use self::shaper::Shaper;
use self::shaper::ShaperCursor;
pub use self::slot::Slot;

/// A link's capacity over all time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Link {
    /// Takes no time.
    Unlimited,
    /// Piecewise constant rate.
    Rates(RateSchedule),
    /// Delivery opportunities.
    Opportunities(Opportunities),
    /// A token bucket.
    Shaper(Shaper),
}

impl Link {
    /// A link that takes no time.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::Unlimited
    }

    /// A link of one rate.
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn constant(rate: Rate) -> Result<Self, LinkError> {
        RateSchedule::constant(rate).map(Self::Rates)
    }

    /// A token-bucket shaper of this rate and burst; a bucket of zero is a link of one rate.
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn shaper(rate: Rate, burst: Bytes) -> Result<Self, LinkError> {
        Shaper::new(rate, burst).map(Self::Shaper)
    }

    /// Whether packets pass in no time.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        matches!(self, Self::Unlimited)
    }

    /// Capacity offered after `from` and up to `to`.
    #[must_use]
    pub fn volume_between(&self, from: Time, to: Time) -> Bytes {
        match self {
            Self::Unlimited => Bytes::MAX,
            Self::Rates(schedule) => schedule.volume_between(from, to),
            Self::Opportunities(trace) => trace.volume_between(from, to),
            Self::Shaper(shaper) => shaper.volume_between(from, to),
        }
    }

    /// The rate at a moment: of a trace over the second that begins there, of a shaper its mean.
    #[must_use]
    pub fn rate_at(&self, t: Time) -> Rate {
        const SECOND: Duration = Duration::from_secs(1);
        match self {
            Self::Rates(schedule) => schedule.rate_at(t),
            Self::Opportunities(trace) => {
                Rate::from_volume(trace.volume_between(t, t + SECOND), SECOND)
            }
            Self::Unlimited | Self::Shaper(_) => self.mean_rate(),
        }
    }

    /// Long-term mean rate; [`Rate::MAX`] for an unlimited link.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        match self {
            Self::Unlimited => Rate::MAX,
            Self::Rates(schedule) => schedule.mean_rate(),
            Self::Opportunities(trace) => trace.mean_rate(),
            Self::Shaper(shaper) => shaper.mean_rate(),
        }
    }

    /// The latest moment at which a packet of `bytes` could have reached the idle link and have
    /// left it by `now`: what an omniscient sender's freshest delivered packet shows.
    /// [`Time::ZERO`] when none could.
    #[must_use]
    #[inline]
    pub fn freshest_arrival(&self, now: Time, bytes: Bytes) -> Time {
        match self {
            Self::Unlimited | Self::Shaper(_) => now,
            Self::Rates(schedule) => schedule.freshest_arrival(now, bytes),
            Self::Opportunities(trace) => trace.freshest_arrival(now),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Cursor {
    Unlimited,
    Rates(RateCursor),
    Opportunities(OpportunityCursor),
    Shaper(ShaperCursor),
}

/// Where a link's service stands.
#[derive(Clone, Debug)]
pub struct Server {
    link: Arc<Link>,
    cursor: Cursor,
}

impl Server {
    /// The service of `link`, from time zero.
    #[must_use]
    pub fn new(link: Arc<Link>) -> Self {
        let cursor = match &*link {
            Link::Unlimited => Cursor::Unlimited,
            Link::Rates(_) => Cursor::Rates(RateCursor::new()),
            Link::Opportunities(_) => Cursor::Opportunities(OpportunityCursor::new()),
            Link::Shaper(_) => Cursor::Shaper(ShaperCursor::new()),
        };
        Self { link, cursor }
    }

    /// Whether packets pass in no time.
    #[inline]
    #[must_use]
    pub fn takes_no_time(&self) -> bool {
        matches!(self.cursor, Cursor::Unlimited)
    }

    /// Starts to serve a packet of `bytes` at `now` and returns when it leaves; [`Time::MAX`] if
    /// never. Calls come in the order of service, `now` never before the previous departure.
    /// `backlogged`: the packet was already waiting when the previous one left, so that it may use
    /// what is left of that one's opportunity.
    #[inline]
    pub fn serve(&mut self, now: Time, bytes: Bytes, backlogged: bool) -> Time {
        match (&*self.link, &mut self.cursor) {
            (Link::Rates(schedule), Cursor::Rates(cursor)) => cursor.serve(schedule, now, bytes),
            (Link::Opportunities(trace), Cursor::Opportunities(cursor)) => {
                cursor.serve(trace, now, bytes, backlogged)
            }
            (Link::Shaper(shaper), Cursor::Shaper(cursor)) => cursor.serve(shaper, now, bytes),
            _ => now,
        }
    }

    /// Whether packets leave at moments of the link's own, each of which sends whatever waits then.
    #[inline]
    pub(super) fn has_moments(&self) -> bool {
        matches!(self.cursor, Cursor::Opportunities(_))
    }

    /// When the link next sends something, on one that [has moments](Self::has_moments); otherwise
    /// now. `backlogged` as for [`serve`](Self::serve).
    #[inline]
    pub(super) fn next_moment(&mut self, now: Time, backlogged: bool) -> Time {
        match (&*self.link, &mut self.cursor) {
            (Link::Opportunities(trace), Cursor::Opportunities(cursor)) => {
                cursor.next_moment(trace, now, backlogged)
            }
            _ => now,
        }
    }

    /// The next transmission of a packet of `bytes` on a link that is always busy; the packet can
    /// reach the link at `not_before` at the earliest.
    pub fn next_slot(&mut self, not_before: Time, bytes: Bytes) -> Slot {
        match (&*self.link, &mut self.cursor) {
            (Link::Rates(schedule), Cursor::Rates(cursor)) => {
                cursor.next_slot(schedule, not_before, bytes)
            }
            (Link::Opportunities(trace), Cursor::Opportunities(cursor)) => {
                cursor.next_slot(trace, not_before, bytes)
            }
            (Link::Shaper(shaper), Cursor::Shaper(cursor)) => {
                cursor.next_slot(shaper, not_before, bytes)
            }
            _ => Slot {
                arrive_by: not_before,
                departure: not_before,
            },
        }
    }
}

#[cfg(test)]
mod tests;
