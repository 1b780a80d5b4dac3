//! The capacity sampler (BBR-S §III-A): how fast the path carried what was sent, from the slope of
//! the RTT.
//!
//! Packets sent at rate S whose RTT grows by s seconds a second left the bottleneck at
//! C = S/(1 + s). Without a queue the RTT does not change, and the sample shows S only: it is
//! censored there.

use crate::controller::AckEvent;
use crate::estimators::{SlopeFit, capacity};
use crate::units::{Bytes, Duration, Rate, Time};

/// What a step showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacitySample {
    /// The capacity (C).
    pub capacity: Rate,
    /// The sending rate (S): where the sample is censored.
    pub sending_rate: Rate,
}

/// Gathers acknowledgments to samples.
#[derive(Clone, Copy, Debug)]
pub struct CapacitySampler {
    step: Duration,
    min_acks: u32,
    began_at: Option<Time>,
    acks: u32,
    slope: SlopeFit,
    first_sent_at: Time,
    last_sent_at: Time,
    /// Sent after the first packet, up to the last.
    sent: Bytes,
}

impl CapacitySampler {
    /// A sampler that closes a step after `step` (10 ms in the paper), once it holds `min_acks`
    /// acknowledgments (at least 2, which a slope needs).
    #[must_use]
    pub fn new(step: Duration, min_acks: u32) -> Self {
        Self {
            step,
            min_acks: min_acks.max(2),
            began_at: None,
            acks: 0,
            slope: SlopeFit::default(),
            first_sent_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            sent: Bytes::ZERO,
        }
    }

    /// Takes an acknowledgment; the sample, if it closes a step.
    ///
    /// Of each acknowledgment only the newest packet's RTT counts: the others waited for it at the
    /// receiver, by up to its acknowledgment delay.
    pub fn on_ack(&mut self, ack: &AckEvent<'_>) -> Option<CapacitySample> {
        let newest = ack.packets.last()?;
        let rtt = ack.now.since(newest.sent_at);
        let Some(began_at) = self.began_at else {
            self.begin(ack, newest.sent_at, rtt);
            return None;
        };
        if newest.sent_at < self.last_sent_at {
            // Reordered: its volume lies in the past.
            return None;
        }
        self.acks = self.acks.saturating_add(1);
        self.slope.push(newest.sent_at, rtt, ack.bytes_acked);
        self.sent += ack.bytes_acked;
        self.last_sent_at = newest.sent_at;
        if ack.now.since(began_at) < self.step || self.acks < self.min_acks {
            return None;
        }
        let sample = self.sample();
        if sample.is_some() {
            self.begin(ack, newest.sent_at, rtt);
        }
        sample
    }

    /// Forgets the step under way: what it spans was no ordinary sending.
    pub fn restart(&mut self) {
        self.began_at = None;
    }

    /// The packet that closes a step opens the next one, so that no interval is lost.
    fn begin(&mut self, ack: &AckEvent<'_>, sent_at: Time, rtt: Duration) {
        self.began_at = Some(ack.now);
        self.acks = 1;
        self.slope = SlopeFit::default();
        self.slope.push(sent_at, rtt, ack.bytes_acked);
        self.first_sent_at = sent_at;
        self.last_sent_at = sent_at;
        self.sent = Bytes::ZERO;
    }

    /// `None` when all packets left at once: the step goes on until they show a slope.
    fn sample(&self) -> Option<CapacitySample> {
        let elapsed = self.last_sent_at.since(self.first_sent_at);
        if elapsed.is_zero() {
            return None;
        }
        let sending_rate = Rate::from_volume(self.sent, elapsed);
        // All at once, or in the order of a queue that lost time: as fast as can be.
        let capacity = capacity(sending_rate, self.slope.slope()?).unwrap_or(Rate::MAX);
        Some(CapacitySample {
            capacity,
            sending_rate,
        })
    }
}
