//! Tail loss probe (RFC 8985 §7).

use lowtide_cc::units::Duration;

use super::TIMER_SLACK;
use crate::transport::rtt::RttEstimator;
use crate::transport::scoreboard::{Fate, Scoreboard};

#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe {
    min_rto: Duration,
    /// A probe was sent, and what was out then, below this segment, is not all acknowledged
    /// (`TLP.end_seq`).
    end: Option<u64>,
    /// A probe repeated a segment (`TLP.is_retrans`): the original's number.
    repeated: Option<u64>,
}

impl TailLossProbe {
    /// `min_rto`: longer than a peer holds back an acknowledgment. Linux takes it, not knowing the peer,
    /// for `TLP.max_ack_delay`.
    pub(super) fn new(min_rto: Duration) -> Self {
        Self {
            min_rto,
            end: None,
            repeated: None,
        }
    }

    #[inline]
    pub(super) fn is_sent(&self) -> bool {
        self.end.is_some()
    }

    /// Two round trips and a little (Linux), or the delay of an acknowledgment where only one segment is out
    /// (§7.2). Before the first RTT sample, for which §7.2 has a second, nothing is probed.
    pub(super) fn duration(&self, rtt: &RttEstimator, board: &Scoreboard) -> Duration {
        let base = rtt.smoothed() * 2;
        let oldest = board.oldest_segment().map(|(segment, _)| segment);
        let newest = board.newest_segment().map(|(segment, _)| segment);
        if oldest == newest {
            base + self.min_rto
        } else {
            base + TIMER_SLACK
        }
    }

    /// A probe leaves. There is one at a time (§7.3).
    pub(super) fn on_sent(&mut self, board: &Scoreboard) {
        self.end = Some(board.next_segment());
    }

    #[inline]
    pub(super) fn on_progress(&mut self, board: &Scoreboard) {
        self.end = self.end.filter(|end| board.first_segment() < *end);
    }

    pub(super) fn on_repeating_probe(&mut self, original: u64) {
        self.repeated = Some(original);
    }

    /// A recovery begins, which needs no probe and allows one after it.
    pub(super) fn forget_end(&mut self) {
        self.end = None;
    }

    pub(super) fn forget_probe(&mut self) {
        self.end = None;
        self.repeated = None;
    }

    /// Once the data of a probe that repeats a segment is acknowledged, the original is not in
    /// flight any more even if the probe arrived; then it is returned. Without DSACK it stays open
    /// which of the two it was, and a needless probe costs nothing (§7.4.2 leaves the window alone in
    /// that case). Nor does one that repaired a loss, for which §7.4.2 demands what a fast recovery costs.
    #[inline]
    pub(super) fn take_repeated(&mut self, board: &Scoreboard) -> Option<u64> {
        let original = self.repeated?;
        let in_flight = board.get(original).filter(|t| t.fate == Fate::InFlight);
        if in_flight.is_some_and(|t| board.newest_transmission(t.segment).is_some()) {
            return None;
        }
        self.repeated = None;
        in_flight.map(|_| original)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe() -> TailLossProbe {
        TailLossProbe::new(Duration::from_millis(200))
    }

    #[test]
    fn a_probe_waits_two_round_trips_and_for_a_lone_segment_a_delayed_acknowledgment() {
        let rtt = RttEstimator::of_ms(&[50]);
        let duration = |times: &[u64]| probe().duration(&rtt, &Scoreboard::sent_at_ms(times));
        assert_eq!(duration(&[0, 0]), Duration::from_millis(102));
        assert_eq!(duration(&[0]), Duration::from_millis(300));
    }

    #[test]
    fn the_original_of_a_probe_leaves_the_flight_with_its_data_and_not_before() {
        let mut board = Scoreboard::sent_at_ms(&[0]);
        let rate_state = board.get(0).map(|t| (t.bytes, t.sent_at, t.rate_state));
        let (bytes, sent_at, rate_state) = rate_state.unwrap();
        board.transmit(Some(0), bytes, sent_at, rate_state);
        let mut tlp = probe();
        tlp.on_repeating_probe(0);
        assert_eq!(tlp.take_repeated(&board), None, "both are in flight");
        // A lost probe says nothing of the original, which may arrive yet.
        let mut lost_probe = (board.clone(), tlp);
        lost_probe.0.settle(1, Fate::Lost);
        assert_eq!(lost_probe.1.take_repeated(&lost_probe.0), None);

        board.settle(1, Fate::Acked);
        board.ack_segment(0);
        assert_eq!(tlp.take_repeated(&board), Some(0));
        assert_eq!(tlp.take_repeated(&board), None, "once");
    }
}
