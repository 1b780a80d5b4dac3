//! Receive timestamps, where the peer reports them (draft-ietf-quic-receive-ts).
//!
//! An acknowledgment of many packets says that they arrived since the one before it; timestamps say
//! when, and they are believed no further. So a flow whose acknowledgments are thinned or bunched
//! sees its link as one with an acknowledgment for each packet does, and what a receiver can lie about
//! ends with the acknowledgment before.

use super::least::Least;
use crate::units::{Duration, Time};

/// The offset of the peer's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerClock {
    /// Least difference of arrival and sending, ns. The clocks' offset is in it, so that it may be
    /// anything.
    one_way: Least<i64>,
}

impl PeerClock {
    /// When the acknowledgment of a packet would have come if it had been sent at once: a packet sent
    /// at `sent_at` that arrived at `received_at`, acknowledged `now`, after an acknowledgment at
    /// `last_ack`.
    pub(super) fn arrival(
        &mut self,
        now: Time,
        last_ack: Time,
        sent_at: Time,
        received_at: Time,
        min_rtt: Duration,
    ) -> Time {
        let one_way = received_at.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64;
        self.one_way.turn(now);
        self.one_way.add(one_way);
        let least = self.one_way.get().unwrap_or(one_way);
        let queueing = one_way.saturating_sub(least) as u64;
        let arrival = sent_at + min_rtt + Duration::from_nanos(queueing);
        arrival.max(last_ack).min(now)
    }
}
