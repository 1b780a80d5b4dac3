//! A token-bucket shaper: packets pass at once while tokens last, and at its rate when they are spent.
//!
//! Tokens come at the rate, and no more than a burst of them is kept. A packet that finds too few waits
//! for them, with all that comes behind it: what Linux's `tbf` does in front of a line that is much faster.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::error::LinkError;
use super::rates::{RateCursor, RateSchedule};
use super::slot::Slot;

/// A token-bucket shaper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shaper {
    tokens: RateSchedule,
    /// In which an empty bucket is full again.
    to_fill: Duration,
}

impl Shaper {
    /// A shaper with a full bucket of `burst`.
    ///
    /// # Errors
    /// When the rate is zero.
    pub fn new(rate: Rate, burst: Bytes) -> Result<Self, LinkError> {
        Ok(Self {
            tokens: RateSchedule::constant(rate)?,
            to_fill: rate.time_for(burst),
        })
    }

    /// Tokens that come in that time; what the bucket held before is not counted.
    pub(super) fn volume_between(&self, from: Time, to: Time) -> Bytes {
        self.tokens.volume_between(from, to)
    }

    pub(super) fn mean_rate(&self) -> Rate {
        self.tokens.mean_rate()
    }
}

/// The state of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShaperCursor {
    /// When the bucket is full, if nothing passes until then.
    full_at: Time,
    tokens: RateCursor,
}

impl ShaperCursor {
    pub(super) fn new() -> Self {
        Self {
            full_at: Time::ZERO,
            tokens: RateCursor::new(),
        }
    }

    /// A packet larger than the bucket passes when tokens for all of it have come.
    pub(super) fn serve(&mut self, shaper: &Shaper, now: Time, bytes: Bytes) -> Time {
        let from = self.full_at.max(now);
        self.full_at = self.tokens.serve(&shaper.tokens, from, bytes);
        now.max(self.full_at - shaper.to_fill)
    }

    pub(super) fn next_slot(&mut self, shaper: &Shaper, not_before: Time, bytes: Bytes) -> Slot {
        let departure = self.serve(shaper, not_before, bytes);
        Slot {
            arrive_by: departure,
            departure,
        }
    }
}
