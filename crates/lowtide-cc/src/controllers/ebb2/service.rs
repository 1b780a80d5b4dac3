//! What the link serves in a min RTT of busy time.
//!
//! A packet sent at `s` that meets no queue arrives at `s + min_rtt`. If it would so have arrived
//! after the packet before it, the link stood idle in between: exactly so long, without a
//! threshold. On a clock that stands while the link is idle, the bytes that arrived lately are what
//! the link can do, whatever the sender offered; a rate by wall clock would count the sender's own
//! restraint as the link's.
//!
//! A flow that shares its link sees such gaps between its own packets, too. Then the packet behind
//! the gap meets the others' queue, and the gap counts as busy.

use crate::units::{Bytes, Duration, Time};

/// Bytes. A link that is never busy fades nothing; what it counts must be forgotten in a few round trips
/// once it is.
const MOST_RECENT: f64 = (1u64 << 34) as f64;

/// The busy clock and what arrived by it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Service {
    last_arrival: Option<Time>,
    /// Bytes that arrived, each weighted by e^(−age/kernel), its age in busy time.
    recent: f64,
}

/// What an arrival shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// How long the link was idle before it.
    pub(super) idle: Duration,
    /// The queueing delay that it met.
    pub(super) queueing: Duration,
    /// Bytes that the link serves in a min RTT of busy time, by the latest arrivals.
    pub(super) served: f64,
}

impl Service {
    /// A packet of `bytes`, sent at `sent_at`, arrived (its acknowledgment came) at `at`. `kernel` and
    /// `alone` as in [`Tuning`](super::Tuning).
    pub(super) fn on_arrival(
        &mut self,
        sent_at: Time,
        at: Time,
        bytes: Bytes,
        min_rtt: Duration,
        kernel: f64,
        alone: f64,
    ) -> Arrival {
        let unqueued = sent_at + min_rtt;
        let last = self.last_arrival.unwrap_or(unqueued);
        let span = at.since(last);
        let queueing = at.since(unqueued);
        let idle = if queueing > min_rtt.mul_f64(alone) {
            Duration::ZERO
        } else {
            unqueued.since(last).min(span)
        };
        let busy = span - idle;
        if !busy.is_zero() {
            self.recent *= libm::exp(-busy.ratio(min_rtt) / kernel);
        }
        // The middle of the step that the packet makes: neither end of it is the mean.
        let half = bytes.as_f64() / 2.0;
        let served = (self.recent + half) / kernel;
        self.recent = (self.recent + bytes.as_f64()).min(MOST_RECENT);
        self.last_arrival = Some(at.max(last));
        Arrival {
            idle,
            queueing,
            served,
        }
    }
}
