//! What a receiver reports.

use std::collections::VecDeque;

use lowtide_cc::units::Time;

use super::encoding::{MAX_PER_ACK, TICK, encode};

/// Packet numbers with the times of their arrival, as the acknowledgments of one connection report them.
///
/// A report covers what has arrived since the last but one, so that one lost acknowledgment costs no
/// timestamp. Of more than [`MAX_PER_ACK`] the newest are kept.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// What the times count from: a tick before the first arrival.
    first: Option<Time>,
    /// Numbers and ticks, the last arrival last.
    recent: VecDeque<(u64, u64)>,
    largest: u64,
    /// Arrivals since the last report, and between that and the one before.
    new: usize,
    repeated: usize,
}

impl Arrivals {
    /// Packet `number` arrived. Times that go back count as the newest.
    #[inline]
    pub fn on_packet(&mut self, number: u64, at: Time) {
        let first = *self.first.get_or_insert(at);
        let ticks = at.since(first).as_nanos() / TICK.as_nanos() + 1;
        let last = self.recent.back().map_or(0, |(_, ticks)| *ticks);
        if self.recent.len() == MAX_PER_ACK {
            self.recent.pop_front();
        }
        self.recent.push_back((number, ticks.max(last)));
        self.largest = self.largest.max(number);
        self.new += 1;
    }

    /// An acknowledgment leaves with `room` bytes to spare: appends the report that it should carry,
    /// nothing when nothing is new.
    #[inline]
    pub fn report(&mut self, room: usize, out: &mut Vec<u8>) {
        if self.new == 0 {
            return;
        }
        let count = self.new + self.repeated;
        let newest_first = self.recent.iter().rev().copied().take(count);
        encode(self.largest, newest_first, room, out);
        self.repeated = std::mem::take(&mut self.new);
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Duration;

    use super::*;
    use crate::timestamps::Report;

    #[test]
    fn each_arrival_is_reported_twice_and_exact_to_a_tick() {
        let at = |us| Time::ZERO + Duration::from_micros(us);
        let mut arrivals = Arrivals::default();
        let report = |arrivals: &mut Arrivals| {
            let mut bytes = Vec::new();
            arrivals.report(100, &mut bytes);
            let mut report = Report::default();
            report.read(&bytes).map(|_| report)
        };
        arrivals.on_packet(7, at(5_000_000));
        let first = report(&mut arrivals).unwrap().received_at(7).unwrap();
        for (number, us) in [(9, 5_001_000), (8, 5_002_345)] {
            arrivals.on_packet(number, at(us));
        }
        let second = report(&mut arrivals).unwrap();
        arrivals.on_packet(10, at(5_100_000));
        let third = report(&mut arrivals).unwrap();
        assert_eq!(second.received_at(7), Some(first));
        assert_eq!(third.received_at(7), None, "reported twice");
        for (number, us) in [(9, 1_000), (8, 2_345)] {
            let received = second.received_at(number).unwrap();
            assert_eq!(third.received_at(number), Some(received));
            let error = Duration::from_micros(us) - received.since(first);
            assert!(error < TICK, "{number}: {error:?}");
        }
        assert!(report(&mut arrivals).is_err(), "nothing is new");
    }
}
