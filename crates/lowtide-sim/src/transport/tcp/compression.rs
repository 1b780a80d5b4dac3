//! When a Linux receiver lets an acknowledgment of what came after a gap wait (`__tcp_ack_snd_check`).
//!
//! The first three for a gap leave at once, so that fast retransmission does not wait. Those after them are sent as
//! one, after a twentieth of the RTT. A sender sees bursts, which BBR takes for the path's aggregation.

use lowtide_cc::units::Duration;

/// Acknowledgments for a gap that leave at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u32 = 3;
/// Longest wait (`tcp_comp_sack_delay_ns`).
const MAX_WAIT: Duration = Duration::from_millis(1);
/// Part of the RTT that an acknowledgment waits otherwise.
const WAITS_PER_RTT: u64 = 20;
/// What the timer may be late beside (`tcp_comp_sack_slack_ns`): it fires then where nothing wakes the host before.
const SLACK: Duration = Duration::from_micros(100);
/// Acknowledgments that may wait as one (`tcp_comp_sack_nr`).
const MOST: u32 = 44;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackCompression {
    /// The gap (`compressed_ack_rcv_nxt`).
    first_missing: u64,
    /// What left at once for it (`dup_ack_counter`).
    at_once: u32,
    /// Acknowledgments that wait as one (`compressed_ack`).
    waiting: u32,
}

impl SackCompression {
    /// Something came after the gap at `first_missing`; how long its acknowledgment may wait.
    pub(crate) fn on_gap(&mut self, first_missing: u64, rtt: Option<Duration>) -> Option<Duration> {
        if self.waiting >= MOST {
            return None;
        }
        if self.first_missing != first_missing {
            self.first_missing = first_missing;
            self.at_once = 0;
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return None;
        }
        let wait = rtt?.div(WAITS_PER_RTT).min(MAX_WAIT) + SLACK;
        self.waiting += 1;
        Some(wait)
    }

    /// Whether an acknowledgment waits.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// An acknowledgment leaves (`tcp_event_ack_sent`).
    #[inline]
    pub(crate) fn on_ack(&mut self) {
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn three_for_a_gap_leave_at_once_and_44_wait_as_one() {
        let mut compression = SackCompression::default();
        let at_once = |c: &mut SackCompression, gap, rtt| {
            let waits = |_: &u32| c.on_gap(gap, rtt).is_none();
            (0..100).take_while(waits).count()
        };
        assert_eq!(at_once(&mut compression, 7, ms(100)), 3);
        let waiting = 1
            + (0..100)
                .take_while(|_| compression.on_gap(7, ms(100)).is_some())
                .count();
        assert_eq!(waiting, 44);
        compression.on_ack();
        // They wait again for the same gap; the next one has three of its own.
        assert_eq!(at_once(&mut compression, 7, ms(100)), 0);
        assert_eq!(at_once(&mut compression, 9, ms(100)), 3);
    }

    #[test]
    fn the_wait_is_a_twentieth_of_the_rtt_or_a_millisecond_and_the_slack() {
        for (rtt, wait) in [
            (ms(10), Some(Duration::from_micros(600))),
            (ms(20), Some(Duration::from_micros(1_100))),
            (ms(300), Some(Duration::from_micros(1_100))),
            (None, None),
        ] {
            let mut compression = SackCompression::default();
            let waits: Vec<_> = (0..4).map(|_| compression.on_gap(1, rtt)).collect();
            assert_eq!(waits, [None, None, None, wait]);
        }
    }
}
