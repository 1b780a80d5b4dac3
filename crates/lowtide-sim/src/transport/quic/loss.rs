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

    /// Appends the numbers of all packets that are lost now (`DetectAndRemoveLostPackets`, RFC 9002 A.10).
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
/// `duration`, and nothing between them was acknowledged (§7.6.2). Of those found lost at once, as in RFC 9002 B.8.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Packets sent at these milliseconds of which one, the largest, is acknowledged.
    fn acked(times: &[u64], largest: u64) -> (Scoreboard, LossDetection) {
        let mut board = Scoreboard::sent_at_ms(times);
        board.settle(largest, Fate::Acked);
        let mut loss = LossDetection::default();
        loss.on_delivered(largest);
        (board, loss)
    }

    #[test]
    fn a_packet_is_lost_when_one_sent_three_later_is_acknowledged() {
        let (board, mut loss) = acked(&[0, 1, 2, 3, 4], 4);
        let rtt = RttEstimator::of_ms(&[40]);
        let mut lost = Vec::new();
        loss.detect(at(44), &board, &rtt, &mut lost);
        assert_eq!(lost, [0, 1], "packet 2 is only two below");
        // Packet 2 is lost by time 9/8 of 40 ms after it left.
        assert_eq!(loss.loss_time(), Some(at(2 + 45)));
    }

    #[test]
    fn a_packet_is_lost_nine_eighths_of_the_larger_rtt_after_it_left() {
        let (mut board, mut loss) = acked(&[0, 8, 16], 2);
        // Latest 80, smoothed (7·40 + 80)/8 = 45: 90 ms.
        let rtt = RttEstimator::of_ms(&[40, 80]);
        let mut lost = Vec::new();
        loss.detect(at(89), &board, &rtt, &mut lost);
        assert_eq!((lost.len(), loss.loss_time()), (0, Some(at(90))));
        loss.detect(at(90), &board, &rtt, &mut lost);
        assert_eq!((&lost[..], loss.loss_time()), (&[0][..], Some(at(98))));
        board.settle(0, Fate::Lost);
        // Latest 38, smoothed (7·45 + 38)/8 = 44.125: 49.640625 ms, which packet 1 has outlived.
        let rtt = RttEstimator::of_ms(&[40, 80, 38]);
        lost.clear();
        loss.detect(at(90), &board, &rtt, &mut lost);
        assert_eq!((&lost[..], loss.loss_time()), (&[1][..], None));
    }

    #[test]
    fn the_time_threshold_is_not_below_the_granularity() {
        let (board, mut loss) = acked(&[10, 10], 1);
        let mut rtt = RttEstimator::new();
        rtt.update(Duration::from_micros(80), Duration::ZERO);
        loss.detect(at(10), &board, &rtt, &mut Vec::new());
        assert_eq!(loss.loss_time(), Some(at(11)));
    }

    #[test]
    fn losses_further_apart_than_three_probe_timeouts_are_persistent_congestion() {
        // 40 + 4·20 + 25 ms, three times.
        let duration = persistent_congestion_duration(Duration::from_millis(145));
        assert_eq!(duration, Duration::from_millis(435));
        let persists = |times: &[u64], acked: Option<u64>, first_sample: u64| {
            let mut board = Scoreboard::sent_at_ms(times);
            if let Some(number) = acked {
                board.settle(number, Fate::Acked);
            }
            let lost: Vec<u64> = (0..times.len() as u64)
                .filter(|n| Some(*n) != acked)
                .collect();
            spans_persistent_congestion(&lost, &board, at(first_sample), duration)
        };
        assert!(!persists(&[100, 300, 535], None, 50), "just that long");
        assert!(persists(&[100, 300, 536], None, 50));
        assert!(!persists(&[100, 300, 536], Some(1), 50), "one arrived");
        assert!(!persists(&[100, 300, 536], None, 100), "no RTT sample yet");
        assert!(
            !persists(&[100, 200, 300, 636], Some(1), 50),
            "336 ms since"
        );
        assert!(persists(&[100, 200, 300, 736], Some(1), 50), "436 ms since");
    }
}
