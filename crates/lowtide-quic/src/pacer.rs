//! When the next packet may leave.
//!
//! s2n-quic sends whatever is due within a millisecond (the granularity of its timers), which makes
//! bursts of a millisecond's worth: BBR's send quantum above 24 Mbit/s. So that the mean rate is
//! exact, departures are added up without regard to when packets really left.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// How much a late timer may be made up for.
const CREDIT: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    departure: Time,
}

impl Pacer {
    /// A packet left; the next one may when this one is on the wire at `rate`.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, bytes: Bytes, rate: Rate) {
        self.departure = self.departure.max(now - CREDIT) + rate.time_for(bytes);
    }

    #[inline]
    pub(crate) fn departure(&self) -> Time {
        self.departure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_exact_although_what_is_due_within_a_millisecond_leaves_at_once() {
        let rate = Rate::from_mbps(100); // 125 bytes in 10 µs
        let packet = Bytes::new(1250);
        let mut pacer = Pacer::default();
        let mut now = Time::from_nanos(5_000_000_000);
        let start = now;
        let mut sent = 0_u64;
        for tick in 0..100_u64 {
            while pacer.departure() < now + Duration::from_millis(1) {
                pacer.on_sent(now, packet, rate);
                sent += 1;
            }
            // Every other tick comes late.
            now = pacer.departure() + Duration::from_micros(300 * (tick % 2));
        }
        let expected = rate.volume_in(now.since(start)).get() / packet.get();
        // A millisecond's worth before the first packet, and one within the last tick.
        assert!(sent.abs_diff(expected) <= 20, "{sent} for {expected}");

        now += Duration::from_secs(1);
        let mut burst = 0;
        while pacer.departure() < now + Duration::from_millis(1) {
            pacer.on_sent(now, packet, rate);
            burst += 1;
        }
        assert_eq!(burst, 20, "idle time earns one millisecond");
    }
}
