//! What a sender remembers of its packets: transmissions by number, data by segment.
//!
//! Each transmission has a number of its own (QUIC's packet number; in TCP the order of sending),
//! each piece of data has a segment number. A retransmission is a new transmission of an old
//! segment.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lowtide_cc::delivery_rate::PacketRateState;
use lowtide_cc::units::{Bytes, Time};

/// The receiver's flow-control window in segments: new data may not run further ahead of the oldest
/// unacknowledged one. So large (786 MB of full packets) that only a sender which ignores loss
/// meets it: under steady drop-tail loss the same segment can be dropped again and again.
const RECEIVE_WINDOW: usize = 1 << 19;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    InFlight,
    Acked,
    Lost,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) sent_at: Time,
    pub(super) segment: u64,
    pub(super) bytes: Bytes,
    pub(super) fate: Fate,
    pub(super) retransmission: bool,
    pub(super) rate_state: PacketRateState,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: Bytes,
    /// Number of its newest transmission.
    newest: u64,
    acked: bool,
}

/// Transmissions from the oldest in flight on, data from the oldest unacknowledged on.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    transmissions: VecDeque<Transmission>,
    /// Number of the first transmission in the queue.
    first_number: u64,
    segments: VecDeque<Segment>,
    /// Number of the first segment in the queue (TCP's SND.UNA).
    first_segment: u64,
    /// Segments that wait for retransmission, lowest first, so that under heavy loss the one that
    /// all others wait for goes first; may name acknowledged ones.
    lost: BinaryHeap<Reverse<u64>>,
    /// Acknowledged segments above an unacknowledged one.
    sacked: u64,
}

/// A place in a queue that begins with number `first`.
#[inline]
fn index(number: u64, first: u64) -> Option<usize> {
    usize::try_from(number.checked_sub(first)?).ok()
}

// Transmissions.
impl Scoreboard {
    /// Number of the oldest remembered transmission.
    #[inline]
    pub(super) fn first_number(&self) -> u64 {
        self.first_number
    }

    /// Number that the next transmission gets.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.first_number + self.transmissions.len() as u64
    }

    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<&Transmission> {
        self.transmissions.get(index(number, self.first_number)?)
    }

    /// A packet leaves: new data, or `segment` again. Returns its segment.
    #[inline]
    pub(super) fn transmit(
        &mut self,
        segment: Option<u64>,
        bytes: Bytes,
        sent_at: Time,
        rate_state: PacketRateState,
    ) -> u64 {
        let number = self.next_number();
        let retransmission = segment.is_some();
        let segment = if let Some(segment) = segment {
            if let Some(s) = self.segment_mut(segment) {
                s.newest = number;
            }
            segment
        } else {
            self.segments.push_back(Segment {
                bytes,
                newest: number,
                acked: false,
            });
            self.first_segment + self.segments.len() as u64 - 1
        };
        self.transmissions.push_back(Transmission {
            sent_at,
            segment,
            bytes,
            fate: Fate::InFlight,
            retransmission,
            rate_state,
        });
        segment
    }

    /// Decides a transmission's fate. Returns its record and what it was before; `None` when it is
    /// forgotten.
    #[inline]
    pub(super) fn settle(&mut self, number: u64, fate: Fate) -> Option<(Transmission, Fate)> {
        let at = index(number, self.first_number)?;
        let transmission = self.transmissions.get_mut(at)?;
        let before = std::mem::replace(&mut transmission.fate, fate);
        Some((*transmission, before))
    }

    /// Looks for losses among the transmissions in flight from `cursor` to below `newest`. As numbers
    /// grow with the time of sending, the first that is not lost ends the search: the cursor stays
    /// there, and when it was sent is returned.
    #[inline]
    pub(super) fn find_lost(
        &self,
        cursor: &mut u64,
        newest: u64,
        is_lost: impl Fn(u64, Time) -> bool,
        lost: &mut Vec<u64>,
    ) -> Option<Time> {
        let mut number = (*cursor).max(self.first_number);
        while number < newest {
            let Some(t) = self.get(number) else {
                break;
            };
            if t.fate == Fate::InFlight {
                if !is_lost(number, t.sent_at) {
                    *cursor = number;
                    return Some(t.sent_at);
                }
                lost.push(number);
            }
            number += 1;
        }
        *cursor = number;
        None
    }

    /// Forgets settled transmissions at the front. One that was lost stays while it is the newest
    /// of its segment: it may arrive after all before it is repeated.
    #[inline]
    pub(super) fn forget_settled(&mut self) {
        while let Some(t) = self.transmissions.front() {
            let keep = match t.fate {
                Fate::InFlight => true,
                Fate::Lost => self.newest_transmission(t.segment) == Some(self.first_number),
                Fate::Acked => false,
            };
            if keep {
                break;
            }
            self.transmissions.pop_front();
            self.first_number += 1;
        }
    }
}

// Data.
impl Scoreboard {
    /// The oldest unacknowledged segment (TCP's SND.UNA).
    #[inline]
    pub(super) fn first_segment(&self) -> u64 {
        self.first_segment
    }

    /// Whether flow control keeps new data back.
    #[inline]
    pub(super) fn fills_receive_window(&self) -> bool {
        self.segments.len() >= RECEIVE_WINDOW
    }

    /// How many segments above an unacknowledged one are acknowledged.
    #[inline]
    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    #[inline]
    pub(super) fn all_acked(&self) -> bool {
        self.segments.is_empty()
    }

    #[inline]
    fn segment(&self, segment: u64) -> Option<&Segment> {
        self.segments.get(index(segment, self.first_segment)?)
    }

    #[inline]
    fn segment_mut(&mut self, segment: u64) -> Option<&mut Segment> {
        self.segments.get_mut(index(segment, self.first_segment)?)
    }

    /// Number of the newest transmission of an unacknowledged segment.
    #[inline]
    pub(super) fn newest_transmission(&self, segment: u64) -> Option<u64> {
        self.segment(segment).filter(|s| !s.acked).map(|s| s.newest)
    }

    /// Marks a segment acknowledged.
    #[inline]
    pub(super) fn ack_segment(&mut self, segment: u64) {
        let Some(s) = self.segment_mut(segment).filter(|s| !s.acked) else {
            return;
        };
        s.acked = true;
        self.sacked += 1;
        while self.segments.front().is_some_and(|s| s.acked) {
            self.segments.pop_front();
            self.first_segment += 1;
            self.sacked -= 1;
        }
    }

    /// Queues a segment for retransmission.
    #[inline]
    pub(super) fn retransmit_later(&mut self, segment: u64) {
        self.lost.push(Reverse(segment));
    }

    /// The next segment to retransmit and its size; stays in the queue.
    #[inline]
    pub(super) fn next_retransmission(&mut self) -> Option<(u64, Bytes)> {
        while let Some(&Reverse(segment)) = self.lost.peek() {
            if let Some(s) = self.segment(segment).filter(|s| !s.acked) {
                return Some((segment, s.bytes));
            }
            self.lost.pop();
        }
        None
    }

    /// Takes the segment that `next_retransmission` showed out of the queue.
    #[inline]
    pub(super) fn take_retransmission(&mut self) {
        self.lost.pop();
    }

    /// Drops everything that waits for retransmission.
    pub(super) fn cancel_retransmissions(&mut self) {
        self.lost.clear();
    }

    /// The oldest unacknowledged segment and its size.
    pub(super) fn oldest_segment(&self) -> Option<(u64, Bytes)> {
        self.segments.front().map(|s| (self.first_segment, s.bytes))
    }

    /// The newest segment, if unacknowledged, and its size.
    pub(super) fn newest_segment(&self) -> Option<(u64, Bytes)> {
        let s = self.segments.back().filter(|s| !s.acked)?;
        Some((self.first_segment + self.segments.len() as u64 - 1, s.bytes))
    }
}

#[cfg(test)]
impl Scoreboard {
    /// New data of 1000 bytes each, sent at these milliseconds.
    pub(super) fn sent_at_ms(times: &[u64]) -> Self {
        let mut board = Self::default();
        for &ms in times {
            let sent_at = Time::from_nanos(ms * 1_000_000);
            board.transmit(None, Bytes::new(1_000), sent_at, PacketRateState::default());
        }
        board
    }
}
