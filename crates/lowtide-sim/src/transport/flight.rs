//! What a sender remembers of its packets: transmissions by number, data by segment.
//!
//! Each transmission has a number of its own (QUIC's packet number; in TCP the order of sending),
//! each piece of data has a segment number. A retransmission is a new transmission of an old
//! segment.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lowtide_cc::delivery_rate::PacketRateState;
use lowtide_cc::units::{Bytes, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    InFlight,
    Acked,
    Lost,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) sent_at: Time,
    pub(crate) segment: u64,
    pub(crate) bytes: Bytes,
    pub(crate) fate: Fate,
    pub(crate) retransmission: bool,
    pub(crate) rate_state: PacketRateState,
}

/// Transmissions from the oldest that is still in flight on, and the bytes in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    transmissions: VecDeque<Transmission>,
    /// Number of the first transmission in the queue.
    base: u64,
    inflight: Bytes,
}

impl Flight {
    /// Number of the oldest remembered transmission.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Number that the next transmission gets.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.transmissions.len() as u64
    }

    #[inline]
    pub(crate) fn inflight(&self) -> Bytes {
        self.inflight
    }

    #[inline]
    pub(crate) fn push(&mut self, transmission: Transmission) {
        self.inflight += transmission.bytes;
        self.transmissions.push_back(transmission);
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&Transmission> {
        self.transmissions
            .get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// Takes a transmission out of flight. Returns its record and what it was before; `None` when
    /// it is forgotten.
    #[inline]
    pub(crate) fn settle(&mut self, number: u64, fate: Fate) -> Option<(Transmission, Fate)> {
        let at = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let transmission = self.transmissions.get_mut(at)?;
        let before = transmission.fate;
        if before == Fate::InFlight {
            self.inflight -= transmission.bytes;
        }
        transmission.fate = fate;
        Some((*transmission, before))
    }

    /// Puts a transmission that was taken for lost back in flight.
    pub(crate) fn revive(&mut self, number: u64) {
        let Some(at) = number
            .checked_sub(self.base)
            .and_then(|n| usize::try_from(n).ok())
        else {
            return;
        };
        if let Some(t) = self
            .transmissions
            .get_mut(at)
            .filter(|t| t.fate == Fate::Lost)
        {
            t.fate = Fate::InFlight;
            self.inflight += t.bytes;
        }
    }

    /// Forgets settled transmissions at the front. One that was lost stays while it is the newest
    /// of its segment: it may arrive after all before it is repeated.
    #[inline]
    pub(crate) fn forget_settled(&mut self, segments: &Segments) {
        while let Some(t) = self.transmissions.front() {
            let keep = match t.fate {
                Fate::InFlight => true,
                Fate::Lost => segments.newest_transmission(t.segment) == Some(self.base),
                Fate::Acked => false,
            };
            if keep {
                break;
            }
            self.transmissions.pop_front();
            self.base += 1;
        }
    }
}

/// The receiver's flow-control window in segments: new data may not run further ahead of the oldest
/// unacknowledged one. So large (786 MB of full packets) that only a sender which ignores loss
/// meets it: under steady drop-tail loss the same segment can be dropped again and again.
const RECEIVE_WINDOW: usize = 1 << 19;

#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: Bytes,
    /// Number of its newest transmission.
    newest: u64,
    acked: bool,
}

/// Data from the oldest unacknowledged segment on.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    segments: VecDeque<Segment>,
    /// Number of the first segment in the queue (TCP's SND.UNA).
    base: u64,
    /// Segments that wait for retransmission, lowest first, so that under heavy loss the one that
    /// all others wait for goes first; may name acknowledged ones.
    lost: BinaryHeap<Reverse<u64>>,
    /// Acknowledged segments above an unacknowledged one.
    sacked: u64,
}

impl Segments {
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Whether flow control keeps new data back.
    #[inline]
    pub(crate) fn fill_receive_window(&self) -> bool {
        self.segments.len() >= RECEIVE_WINDOW
    }

    /// How many segments above an unacknowledged one are acknowledged.
    #[inline]
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    #[inline]
    pub(crate) fn all_acked(&self) -> bool {
        self.segments.is_empty()
    }

    /// New data, first sent in transmission `number`.
    #[inline]
    pub(crate) fn push(&mut self, bytes: Bytes, number: u64) -> u64 {
        self.segments.push_back(Segment {
            bytes,
            newest: number,
            acked: false,
        });
        self.base + self.segments.len() as u64 - 1
    }

    #[inline]
    fn get(&self, segment: u64) -> Option<&Segment> {
        self.segments
            .get(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    #[inline]
    fn get_mut(&mut self, segment: u64) -> Option<&mut Segment> {
        self.segments
            .get_mut(usize::try_from(segment.checked_sub(self.base)?).ok()?)
    }

    /// Number of the newest transmission of an unacknowledged segment.
    #[inline]
    pub(crate) fn newest_transmission(&self, segment: u64) -> Option<u64> {
        self.get(segment).filter(|s| !s.acked).map(|s| s.newest)
    }

    #[inline]
    pub(crate) fn set_newest_transmission(&mut self, segment: u64, number: u64) {
        if let Some(s) = self.get_mut(segment) {
            s.newest = number;
        }
    }

    /// Marks a segment acknowledged; false when it was.
    #[inline]
    pub(crate) fn ack(&mut self, segment: u64) -> bool {
        let Some(s) = self.get_mut(segment).filter(|s| !s.acked) else {
            return false;
        };
        s.acked = true;
        self.sacked += 1;
        while self.segments.front().is_some_and(|s| s.acked) {
            self.segments.pop_front();
            self.base += 1;
            self.sacked -= 1;
        }
        true
    }

    /// Queues a segment for retransmission.
    #[inline]
    pub(crate) fn retransmit_later(&mut self, segment: u64) {
        self.lost.push(Reverse(segment));
    }

    /// The next segment to retransmit and its size; stays in the queue.
    #[inline]
    pub(crate) fn next_retransmission(&mut self) -> Option<(u64, Bytes)> {
        while let Some(&Reverse(segment)) = self.lost.peek() {
            if let Some(s) = self.get(segment).filter(|s| !s.acked) {
                return Some((segment, s.bytes));
            }
            self.lost.pop();
        }
        None
    }

    /// Takes the segment that `next_retransmission` showed out of the queue.
    #[inline]
    pub(crate) fn take_retransmission(&mut self) {
        self.lost.pop();
    }

    /// Drops everything that waits for retransmission.
    pub(crate) fn cancel_retransmissions(&mut self) {
        self.lost.clear();
    }

    /// The oldest unacknowledged segment and its size.
    pub(crate) fn oldest(&self) -> Option<(u64, Bytes)> {
        self.segments.front().map(|s| (self.base, s.bytes))
    }

    /// The newest segment, if unacknowledged, and its size.
    pub(crate) fn newest(&self) -> Option<(u64, Bytes)> {
        let s = self.segments.back().filter(|s| !s.acked)?;
        Some((self.base + self.segments.len() as u64 - 1, s.bytes))
    }
}
