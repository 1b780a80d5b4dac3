//! Packet-timed round trips: a round ends when a packet is acknowledged that was sent after the
//! round began (Linux `bbr_update_bw`).

use crate::delivery_rate::RateSample;
use crate::units::Bytes;

/// Counts rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    count: u64,
    starts_now: bool,
    /// A packet sent when this much had been delivered ends the round.
    ends_at: Bytes,
}

impl Rounds {
    /// Rounds so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The current acknowledgment began a round.
    #[must_use]
    pub fn starts_now(&self) -> bool {
        self.starts_now
    }

    #[inline]
    pub(super) fn on_ack(&mut self, sample: Option<&RateSample>) {
        self.starts_now = false;
        if let Some(sample) = sample
            && sample.prior_delivered >= self.ends_at
        {
            self.ends_at = sample.total_delivered;
            self.count += 1;
            self.starts_now = true;
        }
    }

    /// Begins a round that ends with the first packet sent from now on, when `delivered` has been
    /// delivered.
    pub(super) fn restart(&mut self, delivered: Bytes) {
        self.ends_at = delivered;
    }
}
