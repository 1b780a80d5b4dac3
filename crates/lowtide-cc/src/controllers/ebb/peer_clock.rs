//! Receive timestamps, where the peer reports them (draft-ietf-quic-receive-ts).
//!
//! An acknowledgment of many packets says that they arrived since the one before it; timestamps say
//! when, and they are believed no further. So a flow whose acknowledgments are thinned or bunched
//! sees its link as one with an acknowledgment for each packet does, and a receiver that lies gains
//! nothing that it would not by delaying its acknowledgments.

use crate::units::{Duration, Time};

/// Spans over which the least one-way delay is kept, as the minimum RTT's.
const SPAN: Duration = Duration::from_secs(10);

/// The offset of the peer's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerClock {
    /// Least difference of arrival and sending in the span under way and the one before, ns. The
    /// clocks' offset is in it, so that it may be anything.
    current: Option<i64>,
    previous: Option<i64>,
    span_ends: Time,
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
        if now >= self.span_ends {
            self.previous = self.current.take().or(self.previous);
            self.span_ends = now + SPAN;
        }
        let one_way = received_at.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64;
        let current = self.current.map_or(one_way, |least| least.min(one_way));
        self.current = Some(current);
        let least = self.previous.map_or(current, |least| least.min(current));
        let queueing = one_way.saturating_sub(least) as u64;
        let arrival = sent_at + min_rtt + Duration::from_nanos(queueing);
        arrival.max(last_ack).min(now)
    }
}
