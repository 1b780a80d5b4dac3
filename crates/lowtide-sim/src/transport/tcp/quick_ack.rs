//! When a Linux receiver acknowledges a segment at once that it could have waited with
//! (`tcp_in_quickack_mode`).
//!
//! It has a number of such acknowledgments: 16 at the start, after a silence, and when something came twice; and one
//! more for each segment for which it offers a larger window. The window grows with each segment up to what the
//! buffer holds, and the buffer with each round trip that brought more than the one before ("dynamic
//! right-sizing"), so that slow start is acknowledged segment by segment. It decides whether HyStart sees a train.
//!
//! The window itself limits nothing here: Linux enlarges it so that it does not.

use lowtide_cc::units::{Bytes, Duration, Time};

/// `TCP_MAX_QUICKACKS`.
const MOST: u32 = 16;
/// The first buffer (`tcp_rmem`), so large that no window limits a flow before the buffer grows.
const FIRST_BUFFER: u64 = 1 << 20;
/// What of it is data: half, until the first segment shows that each takes 2304 bytes (`tcp_measure_rcv_mss`).
const FIRST_WINDOW: u64 = FIRST_BUFFER / 2;
const FIRST_LIMIT: u64 = FIRST_BUFFER * 160 / 256;
/// What the first round trip is compared with, in segments (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;
/// Least variation in the receiver's retransmission timeout, which is the silence that counts.
const MIN_VARIATION: Duration = Duration::from_millis(200);

/// A segment that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) bytes: Bytes,
    /// When the newest acknowledgment left that its sender had seen (the echoed timestamp).
    pub(crate) echo: Option<Time>,
    /// Whether the segment was there before.
    pub(crate) is_copy: bool,
    /// Whether the segment is the one that was missing first.
    pub(crate) is_next: bool,
    /// All that has arrived without a gap, in segments, with this one.
    pub(crate) read: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct QuickAck {
    /// Acknowledgments that need not wait (`icsk_ack.quick`).
    left: u32,
    /// The window on offer (`rcv_ssthresh`).
    window: u64,
    /// What the buffer holds (`window_clamp`).
    limit: u64,
    /// The most that was read in a round trip, bytes; of the first segment's size at first (`rcvq_space`).
    most_read: Option<u64>,
    /// Segments read at the beginning of this round trip, and when that was.
    round: (u64, Time),
    last_echo: Option<Time>,
    rtt: Option<Duration>,
    /// The first RTT, all that a receiver's timeout knows.
    first_rtt: Option<Duration>,
    last_arrival: Option<Time>,
}

impl QuickAck {
    pub(crate) fn new() -> Self {
        Self {
            left: 0,
            window: FIRST_WINDOW,
            limit: FIRST_LIMIT,
            most_read: None,
            round: (0, Time::ZERO),
            last_echo: None,
            rtt: None,
            first_rtt: None,
            last_arrival: None,
        }
    }

    /// A segment arrived; whether its acknowledgment need not wait.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment) -> bool {
        self.measure(now, segment.echo);
        if segment.is_copy {
            // `tcp_data_queue`: what was sent again has been acknowledged too late.
            self.left = self.left.max(MOST);
        } else {
            if segment.is_next {
                self.end_silence(now);
            }
            self.enlarge_window(segment.bytes.get());
            self.enlarge_buffer(now, segment);
        }
        self.left > 0
    }

    /// An acknowledgment leaves (`tcp_dec_quickack_mode`).
    #[inline]
    pub(crate) fn on_ack(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// The RTT that the receiver knows: the least of its estimate and of the first.
    ///
    /// Linux's first is the handshake's, which waits behind no data; a flow here has none, and its first sample waits
    /// behind what is left of the first window.
    pub(crate) fn least_rtt(&self) -> Option<Duration> {
        self.rtt.min(self.first_rtt)
    }

    /// `tcp_rcv_rtt_measure_ts`.
    #[inline]
    fn measure(&mut self, now: Time, echo: Option<Time>) {
        let Some(echoed) = echo.filter(|_| echo != self.last_echo) else {
            return;
        };
        self.last_echo = echo;
        let sample = now.since(echoed);
        let rtt = match self.rtt {
            Some(rtt) if sample > rtt => (rtt * 7 + sample).div(8),
            _ => sample,
        };
        self.rtt = Some(rtt);
        self.first_rtt.get_or_insert(sample);
    }

    /// `tcp_event_data_recv`: at the start, and when the sender seems to begin anew.
    #[inline]
    fn end_silence(&mut self, now: Time) {
        let is_silence = self.last_arrival.is_none_or(|last| {
            let first = self.first_rtt;
            first.is_some_and(|rtt| now.since(last) > rtt + (rtt * 2).max(MIN_VARIATION))
        });
        self.last_arrival = Some(now);
        if is_silence {
            self.left = self.left.max(MOST);
        }
    }

    /// `tcp_grow_window`. The segment itself is in the buffer.
    #[inline]
    fn enlarge_window(&mut self, bytes: u64) {
        let room = self.limit.saturating_sub(bytes + self.window);
        if room > 0 {
            self.window += room.min(2 * bytes);
            self.left |= 1;
        }
    }

    /// `tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`: room for twice what a round trip brought, and for as much more as
    /// doubles what it brought above the one before.
    #[inline]
    fn enlarge_buffer(&mut self, now: Time, segment: &Segment) {
        let (from, began_at) = self.round;
        if self.rtt.is_none_or(|rtt| now.since(began_at) < rtt) {
            if self.most_read.is_none() {
                self.most_read = Some(FIRST_ROUND * segment.bytes.get());
                self.round.1 = now;
            }
            return;
        }
        let read = (segment.read - from) * segment.bytes.get();
        self.round = (segment.read, now);
        let Some(before) = self.most_read.filter(|most| read > *most) else {
            return;
        };
        self.most_read = Some(read);
        let more = 4 * read * (read - before) / before;
        self.limit = self.limit.max(2 * read + more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A receiver and the segments that have arrived.
    struct Flow {
        quick_ack: QuickAck,
        read: u64,
    }

    impl Flow {
        fn new() -> Self {
            Self {
                quick_ack: QuickAck::new(),
                read: 0,
            }
        }

        /// The next segment arrives, in answer to what left `rtt` ms ago; whether it is acknowledged at once.
        fn arrive(&mut self, ms: u64, rtt: u64) -> bool {
            self.read += 1;
            let is_quick = self.quick_ack.on_segment(
                at(ms),
                &Segment {
                    bytes: Bytes::new(1_448),
                    echo: ms.checked_sub(rtt).map(at),
                    is_copy: false,
                    is_next: true,
                    read: self.read,
                },
            );
            if is_quick {
                self.quick_ack.on_ack();
            }
            is_quick
        }

        /// Until the window is as large as the buffer allows, and no acknowledgment is left.
        fn settled() -> Self {
            let mut flow = Self::new();
            (0..100).for_each(|_| {
                flow.arrive(0, 100);
            });
            flow
        }
    }

    #[test]
    fn the_first_segments_are_acknowledged_one_by_one_while_the_window_grows() {
        let mut flow = Flow::new();
        let quick: Vec<bool> = (0..100).map(|_| flow.arrive(0, 100)).collect();
        let count = quick.iter().filter(|quick| **quick).count();
        // (655,360 − 524,288 − 1448) / 2896 segments enlarge the window.
        assert_eq!(count, 45 + 16);
        assert!(quick[..count].iter().all(|quick| *quick));
    }

    #[test]
    fn a_copy_and_a_silence_longer_than_the_timeout_make_it_quick_again() {
        let mut flow = Flow::settled();
        // The RTT is 40 ms, the timeout 240. The second shows the larger buffer.
        flow.arrive(40, 40);
        while flow.arrive(40, 40) {}
        assert!(!flow.arrive(279, 40));
        assert!(flow.arrive(520, 40));
        let mut flow = Flow::settled();
        let copy = Segment {
            bytes: Bytes::new(1_448),
            echo: None,
            is_copy: true,
            is_next: false,
            read: flow.read,
        };
        assert!(flow.quick_ack.on_segment(at(1), &copy));
        let quick = (0..100).filter(|_| flow.arrive(1, 100)).count();
        assert_eq!(quick, 16);
    }

    #[test]
    fn a_round_trip_that_brings_more_enlarges_the_buffer_and_so_the_window() {
        let mut flow = Flow::settled();
        // The first round trip brought 101 segments, ten times as many as the first window; then as many again.
        assert!(!flow.arrive(100, 100), "the buffer grows when this is read");
        assert!(flow.arrive(101, 100));
        let quick = (0..2_000).filter(|_| flow.arrive(102, 100)).count();
        assert!(quick > 1_000, "{quick}");
    }
}
