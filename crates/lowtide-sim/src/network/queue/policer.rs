//! A policer before a queue: a token bucket that drops what exceeds its rate and burst.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// What a policer lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Policer {
    /// On average, above zero.
    pub rate: Rate,
    /// At once, after a pause. A packet larger than it never passes.
    pub burst: Bytes,
}

/// A policer at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    rate: Rate,
    /// In which an empty bucket is full again.
    to_fill: Duration,
    /// When the bucket is full, if nothing passes until then.
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub(crate) fn new(policer: Policer) -> Self {
        Self {
            rate: policer.rate,
            to_fill: policer.rate.time_for(policer.burst),
            full_at: Time::ZERO,
        }
    }

    /// Whether a packet of `bytes` passes; it then takes its tokens.
    pub(crate) fn takes(&mut self, now: Time, bytes: Bytes) -> bool {
        let full_at = self.full_at.max(now) + self.rate.time_for(bytes);
        let passes = full_at.since(now) <= self.to_fill;
        if passes {
            self.full_at = full_at;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut bucket = TokenBucket::new(Policer {
            rate: Rate::from_mbps(8), // 1000 bytes a millisecond
            burst: Bytes::new(5_500),
        });
        let at = |us: u64| Time::from_nanos(us * 1_000);
        let mut passes = |us: u64, count: u32| {
            let mut offer = || bucket.takes(at(us), Bytes::new(1_000));
            (0..count).filter(|_| offer()).count()
        };
        assert_eq!(passes(0, 9), 5);
        // 500 bytes are left; half a millisecond later there are 1000 of them.
        assert_eq!((passes(499, 1), passes(500, 2)), (0, 1));
        // Two seconds bring no more than the bucket holds.
        assert_eq!(passes(2_000_000, 9), 5);
    }
}
