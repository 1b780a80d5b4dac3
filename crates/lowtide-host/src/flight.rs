//! The packets that are in flight.
//!
//! Transports name them in different ways: by a [`Token`] that they got when the packet left, by
//! a number, or by no more than a sum of bytes and the newest packet that it covers. Then the
//! newest ones in flight are taken. Such a guess may take a packet that is declared lost later; an
//! older one, which was acknowledged in its place, then leaves instead, so that nothing stays in
//! flight forever.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use lowtide_cc::delivery_rate::PacketRateState;
use lowtide_cc::units::{Bytes, Duration, Time};

use crate::driver::SentPacket;

/// How much later than by the transport's clock a packet may have left: what a task may wait for a
/// processor.
const MAX_SLACK: Duration = Duration::from_millis(10);

/// A packet that left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The controller's number for it.
    pub number: u64,
    /// The packet's number, where known.
    pub wire_number: Option<u64>,
    /// The packet's size; zero when it does not count as in flight.
    pub bytes: Bytes,
    /// When it left.
    pub at: Time,
    /// The sampler's note of that moment.
    pub rate_state: PacketRateState,
    in_flight: bool,
}

impl Sent {
    /// One that leaves now.
    #[must_use]
    pub fn new(
        number: u64,
        wire_number: Option<u64>,
        bytes: Bytes,
        at: Time,
        rate_state: PacketRateState,
    ) -> Self {
        Self {
            number,
            wire_number,
            bytes,
            at,
            rate_state,
            // What carries no more than an acknowledgment is not in flight (RFC 9002 §2).
            in_flight: !bytes.is_zero(),
        }
    }

    /// The part that concerns the controller.
    #[inline]
    #[must_use]
    pub fn packet(&self) -> SentPacket {
        SentPacket {
            number: self.number,
            bytes: self.bytes,
            sent_at: self.at,
            rate_state: self.rate_state,
        }
    }
}

/// Finds a packet again.
pub type Token = u64;

/// Packets in the order in which they left. Keeps as many as there are between the oldest and the
/// newest in flight.
#[derive(Debug, Default)]
pub struct Flight {
    packets: VecDeque<Sent>,
    /// Token of the first of `packets`.
    first: Token,
    /// Bytes that guesses took out of flight beyond those that were reported, since packets differ in
    /// size; below zero, what they left there.
    ahead: i64,
}

impl Flight {
    /// Adds the packet that left last.
    pub fn push(&mut self, sent: Sent) -> Token {
        let token = self.next_token();
        self.packets.push_back(sent);
        self.forget_settled();
        token
    }

    fn next_token(&self) -> Token {
        self.first + self.packets.len() as u64
    }

    /// How many packets it keeps.
    #[inline]
    #[must_use]
    pub fn kept(&self) -> usize {
        self.packets.len()
    }

    /// A packet is lost: takes it out of flight, or the one that a guess left there in its place.
    /// `None` when there is neither, or when guesses took as much out already.
    pub fn lose(&mut self, token: Token, bytes: Bytes) -> Option<Sent> {
        let index = self.index(token);
        let known = token >= self.first;
        let lost = known.then(|| self.settle_at(index)).flatten();
        let lost = lost.or_else(|| {
            let is_missing = self.ahead < signed(bytes);
            let sent = is_missing.then(|| self.settle_near(index)).flatten();
            let sent = sent.map(|(_, sent)| sent);
            self.ahead += sent.map_or(0, |s| signed(s.bytes)) - signed(bytes);
            sent
        });
        self.forget_settled();
        lost
    }

    /// Where the packet is among `packets`; 0 if it is long gone.
    fn index(&self, token: Token) -> usize {
        usize::try_from(token.saturating_sub(self.first)).unwrap_or(usize::MAX)
    }

    /// Takes the newest packet before `index` out of flight, or else the oldest after it. With its
    /// index.
    fn settle_near(&mut self, index: usize) -> Option<(usize, Sent)> {
        let index = index.min(self.packets.len());
        let before = self.packets.range(..index).rposition(|s| s.in_flight);
        let after = || {
            let position = self.packets.range(index..).position(|s| s.in_flight);
            position.map(|n| index + n)
        };
        let found = before.or_else(after)?;
        Some((found, self.settle_at(found)?))
    }

    fn settle_at(&mut self, index: usize) -> Option<Sent> {
        let sent = self.packets.get_mut(index)?;
        std::mem::take(&mut sent.in_flight).then_some(*sent)
    }

    /// Does what [`settle_at`](Self::settle_at) does, for the last packet that an event takes.
    fn settle_last(&mut self, index: usize) -> Option<Sent> {
        let sent = self.settle_at(index)?;
        self.forget_settled();
        Some(sent)
    }

    /// Takes the packet out of flight that has this number of the controller.
    pub fn take(&mut self, number: u64) -> Option<Sent> {
        let index = self.packets.binary_search_by_key(&number, |s| s.number);
        self.settle_last(index.ok()?)
    }

    /// Takes the packet out of flight that left at `at`, or shortly after it by a clock that may not go
    /// back, with this packet number.
    pub fn settle_sent(&mut self, at: Time, wire_number: u64) -> Option<Sent> {
        let start = self.packets.partition_point(|s| s.at < at);
        let within = |slack| {
            let since = self.packets.range(start..);
            since
                .take_while(|s| s.at.since(at) <= slack)
                .position(|s| s.wire_number == Some(wire_number))
        };
        let offset = within(Duration::ZERO).or_else(|| within(MAX_SLACK))?;
        self.settle_last(start + offset)
    }

    /// Takes the oldest packet of this size out of flight that has this packet number. Numbers grow
    /// but for the first packets, where those of several number spaces may mix.
    pub fn settle_numbered(&mut self, wire_number: u64, bytes: Bytes) -> Option<Sent> {
        let is_it =
            |s: &Sent| s.in_flight && s.wire_number == Some(wire_number) && s.bytes == bytes;
        let likely = self
            .packets
            .partition_point(|s| s.wire_number < Some(wire_number));
        let index = if self.packets.get(likely).is_some_and(is_it) {
            likely
        } else {
            self.packets.iter().position(is_it)?
        };
        self.settle_last(index)
    }

    /// Takes the oldest packet out of flight that left at `at`, if there is one of this size that.
    pub fn settle_like(&mut self, at: Time, bytes: Bytes) -> Option<Sent> {
        let start = self.packets.partition_point(|s| s.at < at);
        let then = self.packets.range(start..).take_while(|s| s.at == at);
        let then = then.enumerate().filter(|(_, s)| s.in_flight);
        let offset = then.clone().find(|(_, s)| s.bytes == bytes);
        let (offset, _) = offset.or_else(|| then.clone().next())?;
        self.settle_last(start + offset)
    }

    /// Takes the oldest packet out of flight, unless it left after `last`.
    pub fn settle_oldest(&mut self, last: Time) -> Option<Sent> {
        let index = self.packets.iter().position(|s| s.in_flight)?;
        let is_due = self.packets[index].at <= last;
        is_due.then(|| self.settle_last(index)).flatten()
    }

    /// Takes the packets out of flight that an acknowledgment of `bytes` covers, into `acked`, in
    /// the order of their numbers. `newest`: the newest of them; `ranges`: what its ACK frame says,
    /// largest first, empty where unknown.
    pub fn acknowledge(
        &mut self,
        newest: Token,
        bytes: Bytes,
        ranges: &[RangeInclusive<u64>],
        acked: &mut Vec<Sent>,
    ) {
        let mut total = Bytes::ZERO;
        for range in ranges {
            let start = self
                .packets
                .partition_point(|s| s.wire_number < Some(*range.start()));
            let mut index = start;
            while let Some(sent) = self.packets.get(index)
                && sent.wire_number <= Some(*range.end())
            {
                if let Some(sent) = self.settle_at(index) {
                    total += sent.bytes;
                    acked.push(sent);
                }
                index += 1;
            }
        }
        if total < bytes {
            let missing = signed(bytes - total);
            let mut near = self.index(newest).saturating_add(1);
            while self.ahead < missing
                && let Some((index, sent)) = self.settle_near(near)
            {
                near = index;
                self.ahead += signed(sent.bytes);
                acked.push(sent);
            }
            self.ahead -= missing;
        }
        acked.sort_unstable_by_key(|s| s.number);
        self.forget_settled();
    }

    /// Packets of `bytes` in total are no longer in flight, but the stack does not say which: one
    /// of just this size, or else the oldest ones. What could not be found remains.
    pub fn discard(&mut self, mut bytes: Bytes) -> Bytes {
        let same_size = |s: &Sent| s.in_flight && s.bytes == bytes;
        if let Some(index) = self.packets.iter().position(same_size) {
            self.settle_at(index);
            bytes = Bytes::ZERO;
        }
        for index in 0..self.packets.len() {
            if bytes.is_zero() {
                break;
            }
            if self.packets[index].bytes <= bytes
                && let Some(sent) = self.settle_at(index)
            {
                bytes -= sent.bytes;
            }
        }
        self.forget_settled();
        bytes
    }

    fn forget_settled(&mut self) {
        while self.packets.front().is_some_and(|s| !s.in_flight) {
            self.packets.pop_front();
            self.first += 1;
        }
        if self.packets.is_empty() {
            self.ahead = 0;
        }
    }
}

/// The size of a packet or of what an ACK frame acknowledges.
fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: u64 = 1000;

    /// `n` packets with odd packet numbers.
    fn flight(n: u64) -> Flight {
        let mut flight = Flight::default();
        for number in 0..n {
            let wire = Some(2 * number + 1);
            let state = PacketRateState::default();
            let sent = Sent::new(number, wire, Bytes::new(SIZE), Time::ZERO, state);
            assert_eq!(flight.push(sent), number);
        }
        flight
    }

    fn numbers(
        flight: &mut Flight,
        newest: u64,
        packets: u64,
        ranges: &[RangeInclusive<u64>],
    ) -> Vec<u64> {
        let mut acked = Vec::new();
        flight.acknowledge(newest, Bytes::new(packets * SIZE), ranges, &mut acked);
        acked.iter().map(|s| s.number).collect()
    }

    #[test]
    fn ranges_name_the_packets_exactly_and_without_them_the_newest_are_taken() {
        let mut exact = flight(10);
        // 19 and 13..=15 and 1: the numbers 9, 6, 7, 0.
        let ranges = [19..=19, 12..=16, 0..=2];
        assert_eq!(numbers(&mut exact, 9, 4, &ranges), [0, 6, 7, 9]);
        assert_eq!(numbers(&mut exact, 9, 0, &ranges), [0; 0], "none twice");
        let size = Bytes::new(SIZE);
        assert_eq!(exact.lose(1, size).map(|s| s.number), Some(1));
        assert_eq!(exact.take(8).map(|s| s.number), Some(8));
        assert!(exact.take(8).is_none() && exact.take(10).is_none());

        let mut guessed = flight(10);
        assert_eq!(numbers(&mut guessed, 4, 3, &[]), [2, 3, 4]);
        assert_eq!(numbers(&mut guessed, 6, 3, &[]), [1, 5, 6]);
        assert_eq!(numbers(&mut guessed, 1_000_000, 100, &[]), [0, 7, 8, 9]);
        assert_eq!(guessed.kept(), 0);
        assert_eq!(numbers(&mut guessed, 3, 1, &[]), [0; 0], "long forgotten");
    }

    #[test]
    fn memory_is_bounded_by_what_is_in_flight() {
        let mut flight = flight(3);
        for number in 3..1000 {
            let state = PacketRateState::default();
            let ack_only = Sent::new(number, Some(number * 2 + 1), Bytes::ZERO, Time::ZERO, state);
            flight.push(ack_only);
        }
        assert_eq!(numbers(&mut flight, 999, 3, &[0..=4000]), [0, 1, 2]);
        assert_eq!(flight.kept(), 0);
    }

    #[test]
    fn packets_are_found_by_time_and_number_where_numbers_of_several_spaces_mix() {
        let mut flight = Flight::default();
        let state = PacketRateState::default();
        // Initial 0, Handshake 0 and 1, then 1-RTT 0, 1, 2 in one burst.
        for (number, (ms, wire)) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
            .into_iter()
            .enumerate()
        {
            let at = Time::ZERO + Duration::from_millis(ms);
            let bytes = Bytes::new(100 * (number as u64 + 1));
            flight.push(Sent::new(number as u64, Some(wire), bytes, at, state));
        }
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let number = |sent: Option<Sent>| sent.map(|s| s.number);
        assert_eq!(number(flight.settle_sent(at(2), 1)), Some(4));
        assert_eq!(number(flight.settle_sent(at(2), 1)), None, "not twice");
        assert_eq!(number(flight.settle_sent(at(20), 2)), None, "never sent");
        let find = |flight: &mut Flight, wire, bytes| {
            number(flight.settle_numbered(wire, Bytes::new(bytes)))
        };
        assert_eq!(find(&mut flight, 0, 400), Some(3));
        assert_eq!(find(&mut flight, 0, 200), Some(1));
        assert_eq!(find(&mut flight, 0, 200), None, "not twice");
        assert_eq!(find(&mut flight, 2, 600), Some(5));
        assert_eq!(find(&mut flight, 9, 600), None, "never sent");
        let late = at(1) - Duration::from_micros(5);
        assert_eq!(number(flight.settle_sent(at(0), 0)), Some(0));
        assert_eq!(number(flight.settle_sent(late, 1)), Some(2));
        assert_eq!(flight.kept(), 0);
    }

    #[test]
    fn discarded_bytes_are_one_packet_of_their_size_or_the_oldest() {
        let mut flight = flight(4);
        let state = PacketRateState::default();
        flight.push(Sent::new(4, Some(9), Bytes::new(1472), Time::ZERO, state));
        assert_eq!(flight.discard(Bytes::new(1472)), Bytes::ZERO, "MTU probe");
        assert!(flight.settle_at(4).is_none() && flight.kept() > 1);
        assert_eq!(flight.discard(Bytes::new(2 * SIZE)), Bytes::ZERO);
        assert_eq!(flight.packets[0].number, 2, "the oldest two are gone");
        assert_eq!(flight.discard(Bytes::new(5 * SIZE)), Bytes::new(3 * SIZE));
        assert_eq!(flight.kept(), 0);
    }

    proptest! {
        // Without ranges, as when an endpoint has only the controller. Each packet is acknowledged
        // or declared lost eventually; then nothing may be in flight, however the guesses went.
        #[test]
        fn guesses_leave_nothing_in_flight(
            sizes in prop::collection::vec(40_u64..1500, 1..60),
            fates in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 200),
        ) {
            let mut flight = Flight::default();
            let mut open: Vec<(Token, Bytes)> = Vec::new();
            for (number, size) in sizes.iter().enumerate() {
                let state = PacketRateState::default();
                let bytes = Bytes::new(*size);
                let sent = Sent::new(number as u64, None, bytes, Time::ZERO, state);
                open.push((flight.push(sent), bytes));
            }
            let largest = signed(Bytes::new(1500));
            for (is_lost, which) in fates {
                if open.is_empty() {
                    break;
                }
                if is_lost && open.len() > 1 {
                    // Only what is older than something acknowledged is declared lost.
                    let (token, bytes) = open.remove(which.index(open.len() - 1));
                    flight.lose(token, bytes);
                } else {
                    // Every third packet up to the newest.
                    let newest = which.index(open.len());
                    let mut bytes = Bytes::ZERO;
                    let token = open[newest].0;
                    for index in (0..=newest).rev().step_by(3) {
                        bytes += open.remove(index).1;
                    }
                    flight.acknowledge(token, bytes, &[], &mut Vec::new());
                }
                let kept: i64 = flight.packets.iter().filter(|s| s.in_flight)
                    .map(|s| signed(s.bytes)).sum();
                let truth: i64 = open.iter().map(|(_, bytes)| signed(*bytes)).sum();
                prop_assert!(truth - kept < 2 * largest, "{kept} for {truth}");
            }
            while let Some((token, bytes)) = open.pop() {
                flight.acknowledge(token, bytes, &[], &mut Vec::new());
            }
            prop_assert_eq!(flight.kept(), 0);
        }
    }
}
