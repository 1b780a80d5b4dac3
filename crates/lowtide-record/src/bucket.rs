//! A token bucket.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// So many bytes at a rate, and so many at once.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    depth: f64,
    level: f64,
    at: Time,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(now: Time, rate: Rate, depth: Bytes) -> Self {
        Self {
            rate,
            depth: depth.as_f64(),
            level: depth.as_f64(),
            at: now,
        }
    }

    /// Another rate from now on.
    pub(crate) fn set(&mut self, now: Time, rate: Rate, depth: Bytes) {
        self.fill(now);
        self.rate = rate;
        self.depth = depth.as_f64();
        self.level = self.level.min(self.depth);
    }

    fn fill(&mut self, now: Time) {
        let elapsed = now.since(self.at).as_secs_f64();
        self.level = self.depth.min(self.level + self.rate.as_f64() * elapsed);
        self.at = self.at.max(now);
    }

    /// Takes bytes, if they are there.
    pub(crate) fn take(&mut self, now: Time, bytes: Bytes) -> bool {
        self.fill(now);
        let has = self.level >= bytes.as_f64();
        if has {
            self.level -= bytes.as_f64();
        }
        has
    }

    /// What was taken in vain.
    pub(crate) fn give_back(&mut self, bytes: Bytes) {
        self.level = self.depth.min(self.level + bytes.as_f64());
    }

    /// When so many bytes will be there.
    pub(crate) fn ready(&self, bytes: Bytes) -> Time {
        let missing = (bytes.as_f64() - self.level).max(0.0);
        let seconds = missing / self.rate.as_f64().max(1.0);
        self.at + Duration::from_nanos((seconds * 1e9).ceil() as u64)
    }
}
