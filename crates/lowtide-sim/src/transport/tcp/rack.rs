//! RACK: a segment is lost when one sent later was delivered and the reordering window has passed
//! (RFC 8985 §6).
//!
//! Without DSACK (RFC 2883): a spurious retransmission is recognised by the timestamp of the
//! acknowledgment instead, and the reordering window that it widened does not shrink again.

use lowtide_cc::units::{Duration, Time};

use crate::transport::rtt::RttEstimator;
use crate::transport::scoreboard::{Scoreboard, Transmission};

/// Segments delivered above a missing one that show a loss without waiting (DupThresh, §6.2
/// step 4).
const DUP_THRESH: u64 = 3;
/// The reordering window grows up to this many quarters of the minimum RTT: one RTT, within which
/// most reordering lies (§6.2 step 4).
const MAX_REO_WND_MULT: u64 = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// The newest transmission known to be delivered, and its RTT (`RACK.xmit_ts`, `RACK.rtt`).
    newest_delivered: Option<u64>,
    rtt: Duration,
    /// A segment arrived after a later one without having been retransmitted
    /// (`RACK.reordering_seen`).
    reordering_seen: bool,
    /// The reordering window in quarters of the minimum RTT (`RACK.reo_wnd_mult`).
    reo_wnd_mult: u64,
    /// No transmission below is in flight.
    cursor: u64,
    loss_time: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest_delivered: None,
            rtt: Duration::ZERO,
            reordering_seen: false,
            reo_wnd_mult: 1,
            cursor: 0,
            loss_time: None,
        }
    }
}

impl Rack {
    #[inline]
    pub(super) fn newest_delivered(&self) -> Option<u64> {
        self.newest_delivered
    }

    /// When the reordering window of the oldest transmission in flight ends.
    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.loss_time
    }

    /// Transmission `number` was delivered (§6.2 steps 2 and 3).
    #[inline]
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        number: u64,
        t: &Transmission,
        rtt: &RttEstimator,
    ) {
        let sample = now.since(t.sent_at);
        // Too quick an answer to a retransmission is one to an earlier transmission.
        if t.retransmission && sample < rtt.min() {
            return;
        }
        if self.newest_delivered.is_none_or(|n| number >= n) {
            self.rtt = sample;
            self.newest_delivered = Some(number);
        } else if !t.retransmission {
            self.reordering_seen = true;
        }
    }

    /// A retransmission turned out to have been spurious.
    pub(super) fn on_spurious_retransmission(&mut self) {
        self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(MAX_REO_WND_MULT);
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
        self.loss_time = waiting.map(|sent_at| sent_at + delay);
    }
}
