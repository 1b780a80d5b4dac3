//! §7: when packets arrived.

use lowtide_cc::units::{Duration, Time};

use super::path::SPAN;

/// Maps times of the peer's clock to ours.
#[derive(Debug, Default)]
pub(super) struct PeerClock {
    previous: Option<i64>,
    current: Option<i64>,
    span_ends: Time,
}

impl PeerClock {
    pub(super) fn arrival(
        &mut self,
        now: Time,
        sent_at: Time,
        arrival: Time,
        min_rtt: Duration,
        lately: Duration,
        last_ack: Time,
    ) -> Time {
        if now >= self.span_ends {
            self.previous = self.current.or(self.previous);
            self.current = None;
            self.span_ends = now + SPAN;
        }
        let d = arrival.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64;
        let current = self.current.map_or(d, |current| current.min(d));
        self.current = Some(current);
        let o = self
            .previous
            .map_or(current, |previous| previous.min(current));
        let behind = Duration::from_nanos(d.wrapping_sub(o) as u64);
        let claimed = sent_at + min_rtt + behind;
        claimed.max(sent_at + lately).max(last_ack).min(now)
    }
}
