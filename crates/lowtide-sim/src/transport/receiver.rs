//! The receiving end: what it has received, and when it acknowledges.

use lowtide_cc::Ecn;
use lowtide_cc::controller::PeerSignal;
use lowtide_cc::controllers::rbbr;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::timestamps::Arrivals;
use smallvec::SmallVec;

use super::ecn::{Echo, EcnReceiver};
use super::lie::{Liar, Lie};
use super::ranges::{Range, RangeSet};
use super::tcp::compression::SackCompression;
use super::tcp::quick_ack::{QuickAck, Segment};
use super::{EcnFeedback, TransportConfig};

/// Ranges that a QUIC receiver remembers and reports (RFC 9000 §13.2.3 leaves the number open).
const QUIC_RANGES: usize = 32;
/// SACK blocks beside a timestamp option (RFC 2018 §3).
const SACK_BLOCKS: usize = 3;
/// Blocks that a TCP receiver keeps in the order of their arrival (Linux `TCP_NUM_SACKS`).
const RECENT_BLOCKS: usize = 4;
/// The blocks among these that may grow while an acknowledgment waits (Linux
/// `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED_BLOCKS: usize = 2;
/// Bytes that an acknowledgment in a datagram of 1200 bytes leaves for timestamps, and more than they
/// take but where all are ranges of their own.
const TIMESTAMPS_ROOM: usize = 1_000;

/// An acknowledgment. Bodies are reused, so that acknowledging allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ack {
    /// What is acknowledged, highest first: packet numbers in QUIC; in TCP segments, of which the
    /// last range is the cumulative acknowledgment.
    pub(crate) ranges: SmallVec<[Range; 1]>,
    /// How long the newest packet waited for this acknowledgment.
    pub(crate) delay: Duration,
    /// The transmission that made the receiver send this (TCP: its echoed timestamp).
    pub(crate) trigger: u64,
    /// The receiver's number for it: the acknowledgment's place in the order of sending.
    pub(crate) number: u64,
    /// When it left (TCP's timestamp).
    pub(crate) sent_at: Time,
    /// What the acknowledgment says of marks.
    pub(crate) ecn: Echo,
    /// The estimate of the receiver's bandwidth estimator.
    pub(crate) feedback: Option<Rate>,
    /// When packets arrived, as the draft encodes it; empty where nothing is reported.
    pub(crate) timestamps: Vec<u8>,
}

/// What a data packet tells its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) number: u64,
    pub(crate) segment: u64,
    /// What the sender's acknowledgments need not cover any more ends here.
    pub(crate) needs_from: u64,
    pub(crate) sent_at: Time,
    pub(crate) signal: Option<PeerSignal>,
    /// The sender has reduced its window (TCP's CWR).
    pub(crate) reduced: bool,
    pub(crate) bytes: Bytes,
    /// The last of what its application had written (TCP's PSH).
    pub(crate) pushed: bool,
    /// When the newest acknowledgment left that the sender had seen (TCP's echoed timestamp).
    pub(crate) echo: Option<Time>,
}

/// What a packet brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The data was not there before.
    pub(crate) first_copy: bool,
    /// Acknowledge at once.
    pub(crate) ack_now: bool,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    quic: bool,
    /// TCP.
    quick_ack: Option<QuickAck>,
    /// TCP with SACK.
    compression: Option<SackCompression>,
    /// TCP: blocks beside the cumulative acknowledgment.
    sack_blocks: usize,
    ack_every: u32,
    max_delay: Duration,
    /// Packet numbers (QUIC only).
    packets: RangeSet,
    /// Packet numbers below are forgotten; such packets are ignored as duplicates.
    forgotten_below: u64,
    /// Segments.
    data: RangeSet,
    /// A segment of each block that grew last, the most recent first (TCP with SACK).
    recent: SmallVec<[u64; RECENT_BLOCKS + 1]>,
    unacknowledged: u32,
    deadline: Option<Time>,
    newest: u64,
    newest_at: Time,
    estimator: Option<rbbr::Receiver>,
    arrivals: Option<Arrivals>,
    ecn: EcnReceiver,
    liar: Option<Liar>,
    acks_sent: u64,
    /// Acknowledging packets (QUIC) below says nothing new.
    needed_from: u64,
}

impl Receiver {
    pub(crate) fn new(
        config: &TransportConfig,
        ecn: EcnFeedback,
        estimator: Option<rbbr::Receiver>,
    ) -> Self {
        let timestamps = config.reports_timestamps();
        let (quic, sack, ack_every, max_delay) = match *config {
            TransportConfig::Quic {
                ack_every,
                max_ack_delay,
                ..
            } => (true, false, ack_every, max_ack_delay),
            // RFC 5681 §4.2: at least every second segment.
            TransportConfig::Tcp {
                delayed_ack, sack, ..
            } => (false, sack, 2, delayed_ack),
        };
        Self {
            quic,
            quick_ack: (!quic).then(QuickAck::new),
            compression: sack.then(SackCompression::default),
            sack_blocks: if sack { SACK_BLOCKS } else { 0 },
            ack_every: ack_every.max(1),
            max_delay,
            packets: RangeSet::default(),
            forgotten_below: 0,
            data: RangeSet::default(),
            recent: SmallVec::new(),
            unacknowledged: 0,
            deadline: None,
            newest: 0,
            newest_at: Time::ZERO,
            estimator,
            arrivals: timestamps.then(Arrivals::default),
            ecn: EcnReceiver::new(ecn),
            liar: None,
            acks_sent: 0,
            needed_from: 0,
        }
    }

    /// Makes the receiver lie.
    pub(crate) fn lying(mut self, lie: Option<Lie>) -> Self {
        self.liar = lie.filter(|_| self.quic).map(Liar::new);
        self
    }

    /// When an acknowledgment that waits must go.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// What a packet brings to the bandwidth estimator; before [`on_packet`](Self::on_packet).
    #[inline]
    pub(crate) fn estimate(&mut self, now: Time, bytes: Bytes, signal: Option<PeerSignal>) {
        if let Some(estimator) = &mut self.estimator {
            if let Some(signal) = signal {
                estimator.on_signal(signal);
            }
            estimator.on_packet(now, bytes);
        }
    }

    /// The bandwidth estimator, where there is one.
    #[inline]
    pub(crate) fn estimator(&self) -> Option<&rbbr::Receiver> {
        self.estimator.as_ref()
    }

    /// A packet arrived.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Data, ecn: Ecn) -> Arrival {
        let (number, segment) = (packet.number, packet.segment);
        let (ecn, said_at) = match &mut self.liar {
            None => (ecn, now),
            Some(liar) => (liar.ecn(ecn), liar.arrival(packet.sent_at, now)),
        };
        let is_marked = self.ecn.on_packet(ecn, packet.reduced);
        let expected_segment = self.first_missing();
        let has_gap = expected_segment != self.data.end();
        let first_copy = self.data.insert(segment);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.on_packet(number, said_at);
        }
        let in_order = if self.quic {
            let in_order = number == self.packets.end();
            if number >= self.forgotten_below {
                self.packets.insert(number);
                if let Some(bound) = self.packets.keep_highest(QUIC_RANGES) {
                    self.forgotten_below = bound;
                }
            }
            in_order
        } else {
            segment == expected_segment && !has_gap
        };
        if !self.quic || number >= self.newest {
            self.newest = number;
            self.newest_at = now;
        }
        if !in_order && self.sack_blocks > 0 {
            self.note_block(segment);
        }
        self.unacknowledged += 1;
        let read = self.first_missing();
        let is_quick = self.quick_ack.as_mut().is_some_and(|quick| {
            let is_quick = quick.on_segment(
                now,
                &Segment {
                    bytes: packet.bytes,
                    echo: packet.echo,
                    is_copy: !first_copy,
                    is_next: segment == expected_segment,
                    read,
                },
            );
            // The application reads at once, and the end of a write is acknowledged then
            // (`tcp_cleanup_rbuf`, `ICSK_ACK_PUSHED`).
            is_quick || packet.pushed && segment == expected_segment
        });
        let wait = if is_quick || is_marked {
            None
        } else if in_order {
            (self.unacknowledged < self.ack_every).then_some(self.max_delay)
        } else if first_copy && segment > read {
            self.wait_after_gap(read)
        } else {
            // RFC 5681 §4.2: at once for what fills a gap.
            None
        };
        if let Some(wait) = wait {
            self.deadline.get_or_insert(now + wait);
        }
        Arrival {
            first_copy,
            ack_now: wait.is_none(),
        }
    }

    /// How long the acknowledgment of something after the first missing segment may wait.
    // Behind a call: few packets come out of order.
    #[inline(never)]
    fn wait_after_gap(&mut self, first_missing: u64) -> Option<Duration> {
        let rtt = self.quick_ack.as_ref().and_then(QuickAck::least_rtt);
        self.compression.as_mut()?.on_gap(first_missing, rtt)
    }

    /// Whether the acknowledgment that waits must go before this segment is taken in, as it could not tell of all
    /// blocks that grew (Linux `tcp_sack_compress_send_ack`).
    #[inline]
    pub(crate) fn must_ack_before(&self, segment: u64) -> bool {
        let is_waiting = self.compression.is_some_and(|c| c.is_waiting());
        is_waiting && self.grows_old_block(segment)
    }

    #[inline(never)]
    fn grows_old_block(&self, segment: u64) -> bool {
        let expected = self.recent.iter().take(EXPECTED_BLOCKS);
        let mut blocks = expected.filter_map(|s| self.data.range_of(*s));
        segment > self.first_missing()
            && self.recent.len() >= EXPECTED_BLOCKS
            && !blocks.any(|b| b.start <= segment + 1 && segment <= b.end)
    }

    /// The first segment that has not arrived.
    #[inline]
    pub(crate) fn first_missing(&self) -> u64 {
        let first = self.data.as_slice().first();
        first.filter(|range| range.start == 0).map_or(0, |r| r.end)
    }

    /// The sender knows of all packets below. A real receiver learns that from the acknowledgments
    /// of its acknowledgments (RFC 9000 §13.2.4); here every packet says so.
    #[inline]
    pub(crate) fn needed_from(&mut self, number: u64) {
        self.needed_from = self.needed_from.max(number);
    }

    /// Writes an acknowledgment of everything received.
    #[inline]
    pub(crate) fn write_ack(&mut self, now: Time, ack: &mut Ack) {
        self.unacknowledged = 0;
        self.deadline = None;
        if let Some(quick_ack) = &mut self.quick_ack {
            quick_ack.on_ack();
        }
        if let Some(compression) = &mut self.compression {
            compression.on_ack();
        }
        ack.sent_at = now;
        ack.delay = now.since(self.newest_at);
        ack.trigger = self.newest;
        ack.number = self.acks_sent;
        self.acks_sent += 1;
        ack.ecn = self.ecn.echo();
        ack.feedback = self
            .estimator
            .as_mut()
            .and_then(|e| e.feedback_for_ack(now));
        ack.timestamps.clear();
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.report(TIMESTAMPS_ROOM, &mut ack.timestamps);
        }
        ack.ranges.clear();
        let lie = self.liar.and_then(|liar| liar.ranges(self.packets.end()));
        if let Some(all) = lie {
            ack.ranges.push(all);
        } else if self.quic {
            for range in self.packets.as_slice().iter().rev() {
                if range.end <= self.needed_from {
                    break;
                }
                ack.ranges.push(*range);
            }
        } else {
            self.write_tcp_ranges(ack);
        }
    }

    /// The block of this segment has just grown. Those that it has swallowed, and those below the
    /// first gap, are forgotten.
    // Behind a call: few packets come out of order.
    #[inline(never)]
    fn note_block(&mut self, segment: u64) {
        let first_missing = self.first_missing();
        let block = self.data.range_of(segment);
        self.recent
            .retain(|s| *s >= first_missing && !block.is_some_and(|b| b.contains(*s)));
        if segment >= first_missing {
            self.recent.insert(0, segment);
            self.recent.truncate(RECENT_BLOCKS);
        }
    }

    /// The SACK blocks that grew last (RFC 2018 §4), highest first, then the cumulative part.
    fn write_tcp_ranges(&self, ack: &mut Ack) {
        let first_missing = self.first_missing();
        let recent = self.recent.iter().filter(|s| **s >= first_missing);
        let blocks = recent.filter_map(|s| self.data.range_of(*s));
        ack.ranges.extend(blocks.take(self.sack_blocks));
        ack.ranges
            .sort_unstable_by_key(|r| std::cmp::Reverse(r.start));
        if first_missing > 0 {
            ack.ranges.push(Range {
                start: 0,
                end: first_missing,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(config: &TransportConfig) -> Receiver {
        Receiver::new(config, EcnFeedback::Off, None)
    }

    fn data(number: u64, segment: u64) -> Data {
        Data {
            number,
            segment,
            needs_from: 0,
            sent_at: Time::ZERO,
            signal: None,
            reduced: false,
            bytes: Bytes::new(1_500),
            pushed: false,
            echo: None,
        }
    }

    fn arrive(r: &mut Receiver, now: Time, number: u64, segment: u64) -> Arrival {
        r.on_packet(now, &data(number, segment), Ecn::NotEct)
    }

    fn ranges(ack: &Ack) -> Vec<(u64, u64)> {
        ack.ranges.iter().map(|r| (r.start, r.end)).collect()
    }

    #[test]
    fn quic_acknowledges_every_second_packet_or_at_once_after_a_gap_or_after_the_delay() {
        let mut r = receiver(&TransportConfig::quic());
        let t = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut ack = Ack::default();
        assert_eq!(
            arrive(&mut r, t(1), 0, 0),
            Arrival {
                first_copy: true,
                ack_now: false
            }
        );
        assert_eq!(r.deadline(), Some(t(26)));
        assert!(arrive(&mut r, t(2), 1, 1).ack_now);
        r.write_ack(t(2), &mut ack);
        assert_eq!(
            (ranges(&ack), ack.trigger, r.deadline()),
            (vec![(0, 2)], 1, None)
        );
        assert!(arrive(&mut r, t(3), 3, 3).ack_now, "a gap");
        r.write_ack(t(3), &mut ack);
        assert_eq!(ranges(&ack), [(3, 4), (0, 2)]);
        // Packet 4 carries segment 2 again, then the late packet 2 is a needless copy of it.
        assert!(!arrive(&mut r, t(4), 4, 2).ack_now);
        r.write_ack(t(29), &mut ack);
        assert_eq!(ack.delay, Duration::from_millis(25));
        assert_eq!(
            arrive(&mut r, t(30), 2, 2),
            Arrival {
                first_copy: false,
                ack_now: true
            }
        );
    }

    #[test]
    fn tcp_reports_the_three_blocks_that_grew_last_and_the_cumulative_part() {
        let mut r = receiver(&TransportConfig::tcp());
        let mut ack = Ack::default();
        let mut number = 0;
        let mut after = |r: &mut Receiver, segments: &[u64]| {
            for &segment in segments {
                arrive(r, Time::ZERO, number, segment);
                number += 1;
            }
            r.write_ack(Time::ZERO, &mut ack);
            ranges(&ack)
        };
        let all = after(&mut r, &[0, 1, 3, 5, 7, 9]);
        assert_eq!(all, [(9, 10), (7, 8), (5, 6), (0, 2)]);
        // Segment 4 joins 3 and 5, which become the block that grew last.
        assert_eq!(after(&mut r, &[4]), [(9, 10), (7, 8), (3, 6), (0, 2)]);
        // A high block leaves first where lower ones have grown since.
        assert_eq!(
            after(&mut r, &[11, 13]),
            [(13, 14), (11, 12), (3, 6), (0, 2)]
        );
        assert_eq!(after(&mut r, &[6]), [(13, 14), (11, 12), (3, 8), (0, 2)]);
        // The block of 9 is the fourth: it is reported again as others go.
        assert_eq!(after(&mut r, &[2]), [(13, 14), (11, 12), (9, 10), (0, 8)]);
    }

    /// A receiver whose window grows no more and which has measured an RTT of 10 ms; the next segment's number.
    fn settled() -> (Receiver, u64) {
        let mut r = receiver(&TransportConfig::tcp());
        let mut ack = Ack::default();
        for n in 0..1_000 {
            let packet = Data {
                echo: (n > 0).then_some(Time::ZERO),
                ..data(n, n)
            };
            let at = Time::from_nanos(10_000_000);
            if r.on_packet(at, &packet, Ecn::NotEct).ack_now {
                r.write_ack(at, &mut ack);
            }
        }
        r.write_ack(Time::from_nanos(10_000_000), &mut ack);
        (r, 1_000)
    }

    #[test]
    fn tcp_sends_acknowledgments_after_the_third_for_a_gap_as_one() {
        let (mut r, next) = settled();
        let mut ack = Ack::default();
        let at = |us: u64| Time::from_nanos(10_000_000 + us * 1_000);
        let mut arrive = |us: u64, segment: u64| {
            let must_go = r.must_ack_before(segment);
            if must_go {
                r.write_ack(at(us), &mut ack);
            }
            let ack_now = super::tests::arrive(&mut r, at(us), segment, segment).ack_now;
            if ack_now {
                r.write_ack(at(us), &mut ack);
            }
            (must_go, ack_now, r.deadline())
        };
        let (now, waits) = ((false, true, None), (false, false, Some(at(1_000))));
        for n in 1..=3 {
            assert_eq!(arrive(100 * n, next + n), now, "{n}");
        }
        assert_eq!(arrive(400, next + 4), waits);
        assert_eq!(arrive(500, next + 5), waits, "from the first that waits");
        // What is missing comes; all in order is acknowledged every other time.
        assert_eq!(arrive(600, next), now);
        assert!(!arrive(700, next + 6).1);
        assert!(arrive(800, next + 7).1);
        // A third block makes what waits leave first.
        for n in [9, 10, 12] {
            assert_eq!(arrive(2_000, next + n), now, "{n}");
        }
        let waits = Some(at(2_600));
        assert_eq!(arrive(2_000, next + 11), (false, false, waits));
        assert_eq!(arrive(2_000, next + 14), (false, false, waits));
        assert_eq!(arrive(2_000, next + 16), (true, false, waits));
        assert_eq!(ranges(&ack).len(), 3);
    }

    #[test]
    fn tcp_acknowledges_the_end_of_a_write_at_once() {
        let mut r = receiver(&TransportConfig::tcp());
        let mut ack = Ack::default();
        let mut arrive = |segment: u64, pushed: bool| {
            let packet = Data {
                pushed,
                ..data(segment, segment)
            };
            let ack_now = r.on_packet(Time::ZERO, &packet, Ecn::NotEct).ack_now;
            if ack_now {
                r.write_ack(Time::ZERO, &mut ack);
            }
            ack_now
        };
        // One by one, while the window grows and for 16 more.
        let one_by_one = (0..100).take_while(|n| arrive(*n, false)).count() as u64;
        assert!((55..65).contains(&one_by_one), "{one_by_one}");
        let next = one_by_one + 1;
        assert!(arrive(next, false), "the second");
        assert!(!arrive(next + 1, false));
        assert!(arrive(next + 2, false), "again the second");
        assert!(arrive(next + 3, true), "the end of a write");
        assert!(!arrive(next + 4, false));
    }

    #[test]
    fn tcp_without_sack_reports_the_cumulative_part_alone() {
        let mut config = TransportConfig::tcp();
        if let TransportConfig::Tcp { sack, .. } = &mut config {
            *sack = false;
        }
        let mut r = receiver(&config);
        let mut ack = Ack::default();
        for (n, segment) in [0, 1, 3, 5].into_iter().enumerate() {
            arrive(&mut r, Time::ZERO, n as u64, segment);
        }
        r.write_ack(Time::ZERO, &mut ack);
        assert_eq!(ranges(&ack), [(0, 2)]);
    }
}
