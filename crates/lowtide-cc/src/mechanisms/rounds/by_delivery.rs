//! Packet-timed round trips: a round ends when a packet is acknowledged that was sent after the
//! round began (draft-ietf-ccwg-bbr-06 §5.5.1; Linux `bbr_update_bw`).

use crate::controller::AckEvent;
use crate::units::Bytes;

/// Counts rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    count: u64,
    starts_now: bool,
    /// Total data delivered.
    delivered: Bytes,
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

    /// Total data delivered, by the sampler's count.
    #[must_use]
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.starts_now = false;
        let Some(sample) = &ack.rate_sample else {
            self.delivered += ack.bytes_acked;
            return;
        };
        self.delivered = sample.total_delivered;
        if sample.prior_delivered >= self.ends_at {
            self.ends_at = self.delivered;
            self.count += 1;
            self.starts_now = true;
        }
    }

    /// Begins a round that ends with the acknowledgment of a packet sent from now on.
    pub(crate) fn restart(&mut self) {
        self.ends_at = self.delivered;
    }
}
