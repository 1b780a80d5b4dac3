//! When nothing arrives: how long a silence the path explains (the C = 0 of Alg. 1).
//!
//! At low rates a step may hold no acknowledgment, links serve in bursts, and receivers delay what
//! they acknowledge. A silence is an outage only when it is longer than both
//! - what the estimate explains: the time in which it delivers eight packets, and
//! - what round trips explain: the next packet is later than any was in the last rounds. After a
//!   pause of the application the next one is the first that left after it.

use crate::controller::{AckEvent, PacketSent};
use crate::estimators::{Maximum, Windowed};
use crate::units::{Bytes, Duration, Rate, Time};

/// Packets whose delivery at the estimate explains a silence: two acknowledgments of a receiver
/// that acknowledges every second packet, twice over.
const PACKETS: u64 = 8;

/// Rounds whose RTTs explain a silence.
const ROUNDS: u64 = 10;

/// Follows acknowledgments and their round-trip times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    step: Duration,
    longest_rtt: Windowed<Duration, Maximum>,
    /// When the newest packet left.
    sent_at: Time,
    /// When the first packet after the application's last pause left.
    resumed_at: Time,
    /// When the next silent step is over.
    due: Option<Time>,
}

impl Silence {
    pub(super) fn new(step: Duration) -> Self {
        Self {
            step,
            longest_rtt: Windowed::new(ROUNDS),
            sent_at: Time::ZERO,
            resumed_at: Time::ZERO,
            due: None,
        }
    }

    /// When the next silent step is over; `None` while nothing is expected.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Whether the path was left empty before this packet. Where round trips are shorter than a step,
    /// one that pacing and window empty between two packets was not.
    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent, min_rtt: Duration) -> bool {
        let is_long = sent.now.since(self.sent_at) > self.step;
        if sent.app_limited && is_long {
            self.resumed_at = sent.now;
        }
        self.sent_at = sent.now;
        sent.inflight <= sent.bytes && (min_rtt >= self.step || sent.app_limited || is_long)
    }

    /// Packets sent from `sent_at` on are awaited from `now` on.
    pub(super) fn expect(&mut self, now: Time, sent_at: Time, estimate: Rate, packet: Bytes) {
        self.due = self.longest_rtt.get().map(|longest| {
            let by_rate = now + self.step.max(estimate.time_for(packet * PACKETS));
            by_rate.max(sent_at.max(self.resumed_at) + longest + self.step)
        });
    }

    /// Nothing is awaited.
    pub(super) fn expect_nothing(&mut self) {
        self.due = None;
    }

    /// A silent step is over; the next one lasts as long as a step.
    pub(super) fn next_step(&mut self, now: Time) {
        self.due = Some(now + self.step);
    }

    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, round: u64) {
        if let Some(rtt) = ack.rtt {
            self.longest_rtt.update(round, rtt);
        }
    }
}
