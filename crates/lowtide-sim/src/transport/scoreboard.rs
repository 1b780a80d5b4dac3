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

/// Ranges of lost transmissions that are remembered after their data was sent again, and how many
/// packets they have at most: what arrives after all shows that a recovery was spurious.
const LATE_RANGES: usize = 8;
const LATE_PACKETS: usize = 1 << 10;

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
    /// Transmissions that were lost and repeated, by number, where they are remembered.
    late: VecDeque<(u64, Transmission)>,
    /// How many ranges of numbers they make.
    late_ranges: usize,
    remembers_lost: bool,
}

/// A place in a queue that begins with number `first`.
#[inline]
fn index(number: u64, first: u64) -> Option<usize> {
    usize::try_from(number.checked_sub(first)?).ok()
}

// Transmissions.
impl Scoreboard {
    /// From now on the newest lost transmissions are remembered when their data was sent again.
    pub(super) fn remember_lost(&mut self) {
        self.remembers_lost = true;
    }

    /// Number of the oldest remembered transmission.
    #[inline]
    pub(super) fn first_number(&self) -> u64 {
        self.late
            .front()
            .map_or(self.first_number, |(number, _)| *number)
    }

    /// Remembers a lost transmission; the oldest range goes where they are too many.
    fn remember(&mut self, number: u64, transmission: Transmission) {
        let follows = self.late.back().is_some_and(|(last, _)| last + 1 == number);
        self.late_ranges += usize::from(!follows);
        self.late.push_back((number, transmission));
        if self.late_ranges > LATE_RANGES || self.late.len() > LATE_PACKETS {
            let mut next = self.late.front().map_or(0, |(number, _)| *number);
            while self.late.front().is_some_and(|(number, _)| *number == next) {
                self.late.pop_front();
                next += 1;
            }
            self.late_ranges -= 1;
        }
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
            self.next_segment() - 1
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
        if number < self.first_number {
            return self.settle_late(number);
        }
        let at = index(number, self.first_number)?;
        let transmission = self.transmissions.get_mut(at)?;
        let before = std::mem::replace(&mut transmission.fate, fate);
        Some((*transmission, before))
    }

    /// What was lost and repeated has arrived after all.
    // Behind a call: few do.
    #[inline(never)]
    fn settle_late(&mut self, number: u64) -> Option<(Transmission, Fate)> {
        let at = self
            .late
            .binary_search_by_key(&number, |(number, _)| *number);
        let (_, transmission) = self.late.remove(at.ok()?)?;
        let numbers = self.late.iter().map(|(number, _)| *number);
        let ends = numbers.clone().zip(numbers.skip(1));
        let gaps = ends.filter(|(number, next)| number + 1 != *next).count();
        self.late_ranges = gaps + usize::from(!self.late.is_empty());
        Some((transmission, Fate::Lost))
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

    /// When the newest transmission in flight below `number` left.
    pub(super) fn last_in_flight_below(&self, number: u64) -> Option<Time> {
        let below = index(number, self.first_number)?;
        let mut newest_first = self.transmissions.iter().take(below).rev();
        let last = newest_first.find(|t| t.fate == Fate::InFlight)?;
        Some(last.sent_at)
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
            if t.fate == Fate::Lost && self.remembers_lost {
                let t = *t;
                self.remember(self.first_number, t);
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

    /// The segment that new data gets next (TCP's SND.NXT).
    #[inline]
    pub(super) fn next_segment(&self) -> u64 {
        self.first_segment + self.segments.len() as u64
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

    /// Number of the newest remembered transmission of a segment that left before transmission `number`
    /// and by `time`.
    // Behind a call: for retransmissions that were spurious.
    #[inline(never)]
    pub(super) fn transmission_before(&self, segment: u64, number: u64, time: Time) -> Option<u64> {
        let before = index(number, self.first_number)?;
        let mut earlier = self.transmissions.iter().take(before);
        let at = earlier.rposition(|t| t.segment == segment && t.sent_at <= time)?;
        Some(self.first_number + at as u64)
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

    /// Takes the segment that `next_retransmission` showed out of the queue, once for all of its
    /// transmissions that were lost.
    #[inline]
    pub(super) fn take_retransmission(&mut self) {
        let taken = self.lost.pop();
        while taken.is_some() && self.lost.peek() == taken.as_ref() {
            self.lost.pop();
        }
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
        Some((self.next_segment() - 1, s.bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_whose_transmissions_are_all_lost_is_sent_again_once() {
        let mut board = Scoreboard::sent_at_ms(&[0; 3]);
        for segment in [2, 1, 2] {
            board.retransmit_later(segment);
        }
        let mut next = || {
            let (segment, _) = board.next_retransmission()?;
            board.take_retransmission();
            Some(segment)
        };
        assert_eq!([next(), next(), next()], [Some(1), Some(2), None]);
    }

    #[test]
    fn what_was_lost_and_repeated_is_remembered_in_a_few_ranges() {
        let mut board = Scoreboard::sent_at_ms(&[0; 40]);
        board.remember_lost();
        // Every other packet of the first 20 is lost and repeated.
        for number in 0..20 {
            let fate = if number % 2 == 0 {
                Fate::Lost
            } else {
                Fate::Acked
            };
            let (t, _) = board.settle(number, fate).unwrap();
            let at = Time::ZERO;
            let bytes = Bytes::new(1_000);
            board.transmit(Some(t.segment), bytes, at, PacketRateState::default());
        }
        board.forget_settled();
        assert_eq!(board.first_number(), 4, "the newest eight ranges");
        assert!(board.settle(2, Fate::Acked).is_none());
        let late = board
            .settle(18, Fate::Acked)
            .map(|(t, before)| (t.segment, before));
        assert_eq!(late, Some((18, Fate::Lost)));
        assert!(board.settle(18, Fate::Acked).is_none(), "once");
        board.settle(4, Fate::Acked);
        assert_eq!(board.first_number(), 6);
    }
}
