//! A token bucket.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// A token bucket: on average it lets bytes pass at its rate, and after a pause a burst at once.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// In which an empty bucket is full again.
    to_fill: Duration,
    /// When the bucket is full, if nothing passes until then.
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket. A rate of zero counts as one byte a second: at none a bucket has no time to fill.
    #[must_use]
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        let rate = rate.max(Rate::from_bytes_per_sec(1));
        Self {
            rate,
            to_fill: rate.time_for(burst),
            full_at: Time::ZERO,
        }
    }

    /// Sets rate and burst from now on, with the tokens that there are, as far as they fit.
    pub fn set(&mut self, now: Time, rate: Rate, burst: Bytes) {
        let tokens = self.rate.volume_in(self.to_fill - self.full_at.since(now));
        *self = Self::new(rate, burst);
        self.full_at = now + (self.to_fill - self.rate.time_for(tokens));
    }

    /// Takes tokens for `bytes`, if they are there: true when they were. More than a burst never are.
    #[inline]
    pub fn takes(&mut self, now: Time, bytes: Bytes) -> bool {
        let full_at = self.full_at.max(now) + self.rate.time_for(bytes);
        let passes = full_at.since(now) <= self.to_fill;
        if passes {
            self.full_at = full_at;
        }
        passes
    }

    /// Gives back tokens that were not needed.
    pub fn give_back(&mut self, bytes: Bytes) {
        self.full_at = self.full_at - self.rate.time_for(bytes);
    }

    /// When there are tokens for `bytes`, no more than a burst.
    #[must_use]
    pub fn ready(&self, bytes: Bytes) -> Time {
        self.full_at - (self.to_fill - self.rate.time_for(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// Takes 1000 bytes as often as it can.
    fn passes(bucket: &mut TokenBucket, us: u64, most: u32) -> usize {
        let mut offer = || bucket.takes(at(us), Bytes::new(1_000));
        (0..most).filter(|_| offer()).count()
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // 1000 bytes a millisecond
        let mut bucket = TokenBucket::new(Rate::from_mbps(8), Bytes::new(5_500));
        assert_eq!(passes(&mut bucket, 0, 9), 5);
        // 500 bytes are left; half a millisecond later there are 1000 of them.
        assert_eq!(bucket.ready(Bytes::new(1_000)), at(500));
        assert_eq!(passes(&mut bucket, 499, 1), 0);
        assert_eq!(passes(&mut bucket, 500, 2), 1);
        // Two seconds bring no more than the bucket holds.
        assert_eq!(passes(&mut bucket, 2_000_000, 9), 5);
    }

    #[test]
    fn another_rate_finds_the_tokens_that_there_are_and_what_is_given_back_passes_again() {
        let mut bucket = TokenBucket::new(Rate::from_mbps(8), Bytes::new(5_000));
        assert_eq!(passes(&mut bucket, 0, 3), 3);
        // 2000 bytes are left, and at twice the rate the next 1000 take half a millisecond.
        bucket.set(at(0), Rate::from_mbps(16), Bytes::new(9_000));
        assert_eq!(bucket.ready(Bytes::new(3_000)), at(500));
        bucket.give_back(Bytes::new(1_000));
        assert_eq!(passes(&mut bucket, 0, 9), 3);
        // A smaller bucket holds no more than its burst.
        bucket.set(at(1_000_000), Rate::from_mbps(16), Bytes::new(2_000));
        assert_eq!(passes(&mut bucket, 1_000_000, 9), 2);
        // Without a rate what was there passes, and no more.
        bucket.set(at(2_000_000), Rate::ZERO, Bytes::new(2_000));
        assert_eq!(passes(&mut bucket, 2_000_000, 9), 2);
        assert_eq!(passes(&mut bucket, 3_000_000, 9), 0);
        assert!(!TokenBucket::new(Rate::ZERO, Bytes::ZERO).takes(at(0), Bytes::new(1)));
    }
}
