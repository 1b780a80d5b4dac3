//! The capacity sampler (BBR-S §III-A): how fast the path carried what was sent, from the slope of
//! the RTT.
//!
//! Packets sent at rate S whose RTT grows by s seconds a second left the bottleneck at
//! C = S/(1 + s). That holds while packets queue (Eqs. 2 to 7), whether the queue grows or drains.
//! Without a queue the RTT does not change, and the sample shows S only: it is censored there.

use crate::controller::AckEvent;
use crate::estimators::{SlopeFit, capacity};
use crate::units::{Bytes, Duration, Rate, Time};

/// What a step showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacitySample {
    /// The capacity (C).
    pub capacity: Rate,
    /// The sending rate (S).
    pub sending_rate: Rate,
    /// All packets queued.
    pub queued: bool,
}

impl CapacitySample {
    /// Where the sample is censored: at the sending rate, as Alg. 1 hands it to the filter. `None`
    /// if a queue that does not grow shows that the link carries no less than was sent: that is
    /// the capacity itself.
    #[must_use]
    pub fn ceiling(&self) -> Option<Rate> {
        let measured = self.queued && self.capacity >= self.sending_rate;
        (!measured).then_some(self.sending_rate)
    }
}

/// Gathers acknowledgments to samples.
#[derive(Clone, Copy, Debug)]
pub struct CapacitySampler {
    step: Duration,
    min_acks: u32,
    queue_ratio: f64,
    began_at: Option<Time>,
    acks: u32,
    least_rtt: Duration,
    app_limited: bool,
    slope: SlopeFit,
    first_sent_at: Time,
    last_sent_at: Time,
    /// Sent after the first packet, up to the last.
    sent: Bytes,
}

impl CapacitySampler {
    /// A sampler that closes a step after `step` (10 ms in the paper) or a round trip, where that is
    /// shorter, once it holds `min_acks` acknowledgments (at least 2, which a slope needs), and takes
    /// packets with RTTs above `queue_ratio` × the minimum for queued.
    #[must_use]
    pub fn new(step: Duration, min_acks: u32, queue_ratio: f64) -> Self {
        Self {
            step,
            min_acks: min_acks.max(2),
            queue_ratio,
            began_at: None,
            acks: 0,
            least_rtt: Duration::MAX,
            app_limited: false,
            slope: SlopeFit::default(),
            first_sent_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            sent: Bytes::ZERO,
        }
    }

    /// Takes an acknowledgment, on a path of this minimum RTT ([`Duration::MAX`] while unknown);
    /// the sample, if it closes a step.
    ///
    /// Of each acknowledgment only the newest packet's RTT counts: the others waited for it at the
    /// receiver, by up to its acknowledgment delay.
    pub fn on_ack(&mut self, ack: &AckEvent<'_>, min_rtt: Duration) -> Option<CapacitySample> {
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
        self.push(ack, newest.sent_at, rtt);
        self.sent += ack.bytes_acked;
        self.last_sent_at = newest.sent_at;
        if ack.now.since(began_at) < self.step.min(min_rtt) || self.acks < self.min_acks {
            return None;
        }
        let sample = self.sample(min_rtt);
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
        self.least_rtt = Duration::MAX;
        self.app_limited = false;
        self.push(ack, sent_at, rtt);
        self.first_sent_at = sent_at;
        self.last_sent_at = sent_at;
        self.sent = Bytes::ZERO;
    }

    fn push(&mut self, ack: &AckEvent<'_>, sent_at: Time, rtt: Duration) {
        self.slope.push(sent_at, rtt, ack.bytes_acked);
        self.least_rtt = self.least_rtt.min(rtt);
        self.app_limited |= ack.rate_sample.is_some_and(|sample| sample.app_limited);
    }

    /// `None` when all packets left at once: the step goes on until they show a slope.
    fn sample(&self, min_rtt: Duration) -> Option<CapacitySample> {
        let elapsed = self.last_sent_at.since(self.first_sent_at);
        if elapsed.is_zero() {
            return None;
        }
        let sending_rate = Rate::from_volume(self.sent, elapsed);
        let capacity = capacity(sending_rate, self.slope.slope()?);
        // Of a queue that others fill while the application sends little, little arrives: that
        // shows no capacity. Nor do packets that arrive all at once.
        let queued = capacity.is_some()
            && !self.app_limited
            && self.least_rtt > min_rtt.mul_f64(self.queue_ratio);
        Some(CapacitySample {
            capacity: capacity.unwrap_or(sending_rate),
            sending_rate,
            queued,
        })
    }
}
