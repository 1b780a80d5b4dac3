//! The packets of a flow by number: in flight, or lost and perhaps acknowledged after all.

use std::collections::VecDeque;

use lowtide_cc::units::Bytes;
use lowtide_host::{Flight, Sent};

/// Lost packets that are remembered in case that they are acknowledged after all. Those of one
/// settlement are remembered together: a timeout may give up a larger flight, all of which arrives.
const MAX_LOST: usize = 4096;

/// A packet that was declared lost.
#[derive(Debug)]
struct Lost {
    sent: Sent,
    /// The settlement that it belongs to.
    settlement: u64,
    /// A spurious timeout brought it back.
    in_flight: bool,
}

/// Packets that left, by number.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    newest: Option<u64>,
    flight: Flight,
    /// In the order in which they were lost.
    lost: VecDeque<Lost>,
    settlements: u64,
    /// The settlement of a retransmission timeout that may still turn out to be spurious.
    timed_out: Option<u64>,
}

impl Packets {
    pub(crate) fn is_unused(&self) -> bool {
        self.newest.is_none()
    }

    pub(crate) fn may_send(&self, number: u64) -> bool {
        self.newest.is_none_or(|newest| number > newest)
    }

    pub(crate) fn push(&mut self, sent: Sent) {
        self.newest = Some(sent.number);
        self.flight.push(sent);
    }

    /// Forgets a packet, and says whether it was in flight.
    pub(crate) fn take(&mut self, number: u64) -> Option<(Sent, bool)> {
        if let Some(sent) = self.flight.take(number) {
            return Some((sent, true));
        }
        let at = self.lost.iter().position(|l| l.sent.number == number)?;
        let lost = self.lost.remove(at)?;
        Some((lost.sent, lost.in_flight))
    }

    /// A packet in flight is lost. Returns it, and one that came back in flight and is too old to be
    /// remembered.
    pub(crate) fn lose(&mut self, number: u64) -> Option<(Sent, Option<Sent>)> {
        let came_back = |l: &Lost| l.in_flight && l.sent.number == number;
        let sent = match self.flight.take(number) {
            Some(sent) => sent,
            None => {
                let at = self.lost.iter().position(came_back)?;
                self.lost.remove(at)?.sent
            }
        };
        self.lost.push_back(Lost {
            sent,
            settlement: self.settlements,
            in_flight: false,
        });
        let is_too_old = |l: &Lost| l.settlement < self.settlements;
        let is_full = self.lost.len() > MAX_LOST && self.lost.front().is_some_and(is_too_old);
        let oldest = is_full.then(|| self.lost.pop_front()).flatten();
        let forgotten = oldest.filter(|l| l.in_flight).map(|l| l.sent);
        Some((sent, forgotten))
    }

    /// The losses so far are settled; `timed_out`: they are a retransmission timeout's.
    pub(crate) fn settle(&mut self, timed_out: bool) {
        if timed_out {
            self.timed_out = Some(self.settlements);
        }
        self.settlements += 1;
    }

    /// The last retransmission timeout was spurious: what it gave up is in flight again. Returns its
    /// size; `None` when there was no such timeout.
    pub(crate) fn revive(&mut self) -> Option<Bytes> {
        let settlement = self.timed_out.take()?;
        let gone = self.lost.iter_mut().filter(|l| l.settlement == settlement);
        let sizes = gone.map(|lost| {
            lost.in_flight = true;
            lost.sent.bytes
        });
        Some(sizes.sum())
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Time;

    use super::*;

    fn sent(number: u64) -> Sent {
        let (bytes, state) = (Bytes::new(1000), Default::default());
        Sent::new(number, None, bytes, Time::ZERO, state)
    }

    /// What becomes of a packet that is named: whether it was in flight, or was none.
    fn take(packets: &mut Packets, number: u64) -> Option<bool> {
        packets.take(number).map(|(_, in_flight)| in_flight)
    }

    #[test]
    fn a_packet_is_settled_once_and_one_declared_lost_may_still_be_acknowledged() {
        let mut packets = Packets::default();
        assert!(packets.is_unused() && packets.may_send(0));
        for number in [3, 4, 5, 9] {
            packets.push(sent(number));
        }
        assert!(!packets.may_send(9) && packets.may_send(10));
        assert!(packets.lose(4).is_some());
        assert!(packets.lose(4).is_none(), "lost already");
        assert_eq!(take(&mut packets, 9), Some(true));
        assert_eq!(take(&mut packets, 9), None, "again");
        assert_eq!(take(&mut packets, 7), None, "never sent");
        assert_eq!(take(&mut packets, 4), Some(false), "after all");
        assert_eq!(take(&mut packets, 4), None);
    }

    #[test]
    fn a_spurious_timeout_brings_back_what_it_gave_up_and_nothing_else() {
        let mut packets = Packets::default();
        for number in 0..4 {
            packets.push(sent(number));
        }
        packets.lose(0);
        packets.settle(false);
        for number in 1..4 {
            packets.lose(number);
        }
        assert_eq!(packets.revive(), None);
        packets.settle(true);
        assert_eq!(take(&mut packets, 3), Some(false), "before it is known");
        assert_eq!(packets.revive(), Some(Bytes::new(2000)));
        assert_eq!(packets.revive(), None, "once");
        assert_eq!(take(&mut packets, 0), Some(false));
        assert_eq!(take(&mut packets, 1), Some(true));
        assert!(
            packets
                .lose(2)
                .is_some_and(|(_, forgotten)| forgotten.is_none())
        );
        assert_eq!(take(&mut packets, 2), Some(false), "lost again");
    }

    #[test]
    fn lost_packets_are_forgotten_oldest_first_and_never_within_their_settlement() {
        let mut packets = Packets::default();
        let flight = 2 * MAX_LOST as u64;
        (0..=flight).for_each(|number| packets.push(sent(number)));
        for number in 0..flight {
            let (_, forgotten) = packets.lose(number).expect("it is in flight");
            assert!(forgotten.is_none(), "{number}: the same timeout gave it up");
        }
        packets.settle(true);
        assert!(packets.revive().is_some());
        let (_, forgotten) = packets.lose(flight).expect("it is in flight");
        assert_eq!(forgotten.map(|old| old.number), Some(0));
        assert_eq!(take(&mut packets, 0), None);
        assert_eq!(take(&mut packets, 1), Some(true));
    }
}
