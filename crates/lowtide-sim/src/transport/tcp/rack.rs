//! RACK: a segment is lost when one sent later was delivered and the reordering window has passed
//! (RFC 8985 §6).
//!
//! Without DSACK (RFC 2883): a spurious retransmission is recognised by the timestamp of the
//! acknowledgment instead.

use lowtide_cc::units::{Duration, Time};

use super::TIMER_SLACK;
use crate::transport::rtt::RttEstimator;
use crate::transport::scoreboard::{Scoreboard, Transmission};

/// Segments delivered above a missing one that show a loss without waiting (DupThresh, §6.2
/// step 4).
const DUP_THRESH: u64 = 3;
/// A wider reordering window lasts for this many recoveries (§6.2 step 4; Linux
/// `TCP_RACK_RECOVERY_THRESH`).
const REO_WND_RECOVERIES: u32 = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// The newest transmission known to be delivered (`RACK.xmit_ts`).
    newest_delivered: Option<u64>,
    /// The RTT of the one that was looked at last, as in Linux (`rack.rtt_us`). RFC 8985 has that of the
    /// newest; they part where an acknowledgment moves SND.UNA and has new SACK blocks, too.
    rtt: Duration,
    /// The segments from here on have not arrived (`RACK.fack`).
    fack: u64,
    /// A segment arrived after a later one without having been retransmitted
    /// (`RACK.reordering_seen`).
    reordering_seen: bool,
    /// The reordering window in quarters of the minimum RTT (`RACK.reo_wnd_mult`).
    reo_wnd_mult: u64,
    /// How many recoveries the wider window lasts (`RACK.reo_wnd_persist`).
    reo_wnd_persist: u32,
    /// The transmissions below left before the window was last widened (`RACK.dsack_round`).
    widened_at: u64,
    /// No transmission below is in flight.
    cursor: u64,
    loss_time: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest_delivered: None,
            rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            widened_at: 0,
            cursor: 0,
            loss_time: None,
        }
    }
}

impl Rack {
    /// When the reordering windows of all transmissions end that may be lost already. An acknowledgment
    /// that comes before may show some of them.
    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.loss_time
    }

    /// The segments from here on have not arrived.
    #[inline]
    pub(super) fn fack(&self) -> u64 {
        self.fack
    }

    /// A segment below `fack` arrived that was sent once: after a later one (§6.2 step 3).
    #[inline]
    pub(super) fn on_original(&mut self, segment: u64, fack: u64) {
        self.reordering_seen |= segment < fack;
    }

    /// Transmission `number` was delivered (§6.2 step 2). The minimum RTT is that of the whole connection, where step 1
    /// would have it of recent time.
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        number: u64,
        t: &Transmission,
        rtt: &RttEstimator,
    ) {
        self.fack = self.fack.max(t.segment + 1);
        let sample = now.since(t.sent_at);
        // Too quick an answer to a retransmission is one to an earlier transmission (§6.2 step 2).
        if t.retransmission && sample < rtt.min() {
            return;
        }
        self.rtt = sample;
        self.newest_delivered = self.newest_delivered.max(Some(number));
    }

    /// A retransmission turned out to have been spurious; `next`: the next transmission's number. The
    /// window grows once a round trip (§6.2 step 4), and the delay that misled counts as reordering
    /// (Linux `tcp_try_undo_partial`).
    pub(super) fn on_spurious_retransmission(&mut self, next: u64) {
        self.reordering_seen = true;
        if self.newest_delivered.is_some_and(|n| n >= self.widened_at) {
            self.reo_wnd_mult += 1;
            self.widened_at = next;
            self.reo_wnd_persist = REO_WND_RECOVERIES;
        }
    }

    /// A recovery is over (§6.2 step 4).
    pub(super) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Transmissions given up before are in flight again.
    pub(super) fn search_again(&mut self) {
        self.cursor = 0;
    }

    /// How long to wait for a segment that others have overtaken (§6.2 step 4).
    #[inline]
    fn reo_wnd(&self, rtt: &RttEstimator, in_recovery: bool, sacked: u64) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let min_rtt = if rtt.has_sample() {
            rtt.min()
        } else {
            Duration::ZERO
        };
        (min_rtt * self.reo_wnd_mult).div(4).min(rtt.smoothed())
    }

    /// Appends the numbers of all transmissions that are lost now (§6.2 step 5).
    #[inline]
    pub(super) fn detect(
        &mut self,
        now: Time,
        board: &Scoreboard,
        rtt: &RttEstimator,
        in_recovery: bool,
        lost: &mut Vec<u64>,
    ) {
        self.loss_time = None;
        let Some(newest) = self.newest_delivered else {
            return;
        };
        let delay = self.rtt + self.reo_wnd(rtt, in_recovery, board.sacked());
        let is_lost = |_, sent_at: Time| sent_at + delay <= now;
        let waiting = board.find_lost(&mut self.cursor, newest, is_lost, lost);
        self.loss_time = waiting.map(|oldest| {
            let last = board.last_in_flight_below(newest).unwrap_or(oldest);
            last + delay + TIMER_SLACK
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::scoreboard::Fate;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Segments sent at 0, 1, 2, … ms on a path of 40 ms.
    struct Flight {
        board: Scoreboard,
        rack: Rack,
        rtt: RttEstimator,
    }

    impl Flight {
        fn of(segments: u64) -> Self {
            Self {
                board: Scoreboard::sent_at_ms(&(0..segments).collect::<Vec<_>>()),
                rack: Rack::default(),
                rtt: RttEstimator::of_ms(&[40]),
            }
        }

        /// Transmission `number` is acknowledged at `ms`.
        fn deliver(&mut self, number: u64, ms: u64) {
            let (t, _) = self.board.settle(number, Fate::Acked).unwrap();
            if !t.retransmission {
                self.rack.on_original(t.segment, self.rack.fack());
            }
            self.board.ack_segment(t.segment);
            self.rack.on_delivered(at(ms), number, &t, &self.rtt);
        }

        /// What is lost at `ms`, and when the next would be.
        fn lost(&mut self, ms: u64, in_recovery: bool) -> (Vec<u64>, Option<Time>) {
            let mut lost = Vec::new();
            let (board, rtt) = (&self.board, &self.rtt);
            self.rack.detect(at(ms), board, rtt, in_recovery, &mut lost);
            for number in &lost {
                self.board.settle(*number, Fate::Lost);
            }
            (lost, self.rack.loss_time())
        }
    }

    #[test]
    fn an_overtaken_segment_is_lost_an_rtt_and_a_quarter_of_the_minimum_after_it_left() {
        let mut flight = Flight::of(3);
        flight.deliver(1, 41);
        assert_eq!(flight.lost(41, false), (vec![], Some(at(40 + 10 + 2))));
        assert!(flight.lost(49, false).0.is_empty());
        assert_eq!(
            flight.lost(50, false),
            (vec![0], None),
            "2 is not overtaken"
        );
    }

    #[test]
    fn three_sacked_segments_or_a_recovery_end_the_waiting() {
        let mut flight = Flight::of(4);
        flight.deliver(1, 41);
        flight.deliver(2, 42);
        assert!(flight.lost(42, false).0.is_empty(), "two are not enough");
        flight.deliver(3, 43);
        assert_eq!(flight.lost(43, false).0, [0]);

        let mut flight = Flight::of(2);
        flight.deliver(1, 41);
        assert_eq!(flight.lost(41, true).0, [0]);
    }

    #[test]
    fn where_segments_are_reordered_the_window_stays() {
        let mut flight = Flight::of(6);
        flight.deliver(1, 41);
        flight.deliver(0, 42);
        for number in 3..6 {
            flight.deliver(number, 40 + number);
        }
        // Segment 2 may come late as segment 0 did: 2 + 40 + 10 ms.
        assert_eq!(flight.lost(45, true), (vec![], Some(at(52 + 2))));
    }

    #[test]
    fn the_timer_waits_for_the_last_that_may_be_lost() {
        let mut flight = Flight::of(6);
        flight.deliver(5, 45);
        // Segments 0 to 4 are overtaken: 4 + 40 + 10 ms. An acknowledgment in between shows the first.
        assert_eq!(flight.lost(45, false), (vec![], Some(at(54 + 2))));
        assert_eq!(flight.lost(50, false), (vec![0], Some(at(54 + 2))));
    }

    #[test]
    fn originals_that_arrive_after_a_later_retransmission_are_not_reordered() {
        let mut flight = Flight::of(4);
        let t = *flight.board.get(0).unwrap();
        flight
            .board
            .transmit(Some(0), t.bytes, at(60), t.rate_state);
        // One acknowledgment covers the retransmission of segment 0, sent last, and 1 to 3.
        for number in [4, 1, 2, 3] {
            flight.deliver(number, 100);
        }
        assert!(!flight.rack.reordering_seen);
    }

    impl Flight {
        fn reo_wnd_ms(&self) -> f64 {
            let width = self.rack.reo_wnd(&self.rtt, false, 0);
            width.as_millis_f64()
        }
    }

    #[test]
    fn spurious_retransmissions_widen_the_window_once_a_round_trip_up_to_one_rtt() {
        let mut flight = Flight::of(5);
        let mut widths = vec![flight.reo_wnd_ms()];
        for number in 0..5 {
            flight.deliver(number, 40 + number);
            // A second one of the same round trip changes nothing.
            for _ in 0..2 {
                flight.rack.on_spurious_retransmission(number + 1);
            }
            widths.push(flight.reo_wnd_ms());
        }
        assert_eq!(widths, [10.0, 20.0, 30.0, 40.0, 40.0, 40.0]);
    }

    #[test]
    fn the_wider_window_lasts_for_sixteen_recoveries() {
        let mut flight = Flight::of(1);
        flight.deliver(0, 40);
        flight.rack.on_spurious_retransmission(1);
        (0..15).for_each(|_| flight.rack.on_recovered());
        assert_eq!(flight.reo_wnd_ms(), 20.0);
        flight.rack.on_recovered();
        assert_eq!(flight.reo_wnd_ms(), 10.0);
    }

    #[test]
    fn an_answer_that_is_too_quick_for_a_retransmission_proves_nothing() {
        let mut flight = Flight::of(2);
        let state = flight.board.get(0).unwrap().rate_state;
        let bytes = flight.board.get(0).unwrap().bytes;
        flight.board.transmit(Some(1), bytes, at(100), state);
        flight.deliver(2, 139);
        assert_eq!(flight.rack.newest_delivered, None);
        assert_eq!(flight.lost(139, true), (vec![], None));
    }
}
