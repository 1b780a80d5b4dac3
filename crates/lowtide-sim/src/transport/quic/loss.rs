//! Which packets are lost (RFC 9002 §6.1), and when that is persistent congestion (§7.6).

use lowtide_cc::units::{Duration, Time};

use crate::transport::rtt::{GRANULARITY, RttEstimator};
use crate::transport::scoreboard::{Fate, Scoreboard};

/// A packet is lost when one sent this many later was acknowledged (kPacketThreshold, §6.1.1).
const PACKET_THRESHOLD: u64 = 3;
/// Probe timeouts that make persistent congestion (kPersistentCongestionThreshold, §7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossDetection {
    largest_acked: Option<u64>,
    /// No packet below is in flight.
    cursor: u64,
    loss_time: Option<Time>,
}

/// How long before the newest RTT a packet may have left (kTimeThreshold = 9/8, §6.1.2).
#[inline]
fn loss_delay(rtt: &RttEstimator) -> Duration {
    (rtt.latest().max(rtt.smoothed()) * 9)
        .div(8)
        .max(GRANULARITY)
}

impl LossDetection {
    /// When the oldest packet in flight will count as lost by time.
    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.loss_time
    }

    #[inline]
    pub(super) fn on_delivered(&mut self, number: u64) {
        self.largest_acked = self.largest_acked.max(Some(number));
    }

    /// Appends the numbers of all packets that are lost now.
    #[inline]
    pub(super) fn detect(
        &mut self,
        now: Time,
        board: &Scoreboard,
        rtt: &RttEstimator,
        lost: &mut Vec<u64>,
    ) {
        self.loss_time = None;
        let Some(largest) = self.largest_acked else {
            return;
        };
        let delay = loss_delay(rtt);
        let is_lost = |number: u64, sent_at: Time| {
            number + PACKET_THRESHOLD <= largest || sent_at + delay <= now
        };
        let waiting = board.find_lost(&mut self.cursor, largest, is_lost, lost);
        self.loss_time = waiting.map(|sent_at| sent_at + delay);
    }
}

/// §7.6.1, from a probe timeout without backoff.
pub(super) fn persistent_congestion_duration(probe_timeout: Duration) -> Duration {
    probe_timeout * PERSISTENT_CONGESTION_THRESHOLD
}

/// Whether two of the packets in `lost`, sent after the first RTT sample, lie further apart than
/// `duration`, and nothing between them was acknowledged (§7.6.2).
pub(super) fn spans_persistent_congestion(
    lost: &[u64],
    board: &Scoreboard,
    first_rtt_sample_at: Time,
    duration: Duration,
) -> bool {
    let mut run: Option<(u64, Time)> = None;
    for &number in lost {
        let sent_at = board.get(number).map(|t| t.sent_at);
        let Some(sent_at) = sent_at.filter(|at| *at > first_rtt_sample_at) else {
            continue;
        };
        let is_acked = |n| board.get(n).is_some_and(|t| t.fate == Fate::Acked);
        let is_broken = run.is_some_and(|(last, _)| (last + 1..number).any(is_acked));
        let since = match run {
            Some((_, since)) if !is_broken => since,
            _ => sent_at,
        };
        if sent_at.since(since) > duration {
            return true;
        }
        run = Some((number, since));
    }
    false
}
