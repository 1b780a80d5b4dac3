//! Receive timestamps, where the peer reports them (draft-ietf-quic-receive-ts).
//!
//! An acknowledgment of many packets does not say when each of them arrived; timestamps do. What they
//! claim is believed as far as the sender's own clock allows: not of the newest packet, whose arrival
//! the acknowledgment shows, and of none that it met less than the least queue of late.

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
    /// When the acknowledgment of a packet that was sent at `sent_at`, arrived at `received_at` by the
    /// peer's clock and is acknowledged `now` would have come if it had been sent at once.
    pub(super) fn arrival(
        &mut self,
        now: Time,
        sent_at: Time,
        received_at: Time,
        min_rtt: Duration,
    ) -> Time {
        let one_way = received_at.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64;
        self.one_way.turn(now);
        self.one_way.add(one_way);
        let least = self.one_way.get().unwrap_or(one_way);
        let queueing = one_way.saturating_sub(least) as u64;
        sent_at + min_rtt + Duration::from_nanos(queueing)
    }
}
