//! Which packets may still be acknowledged or declared lost.

use core::ops::Range;

/// Runs of numbers that are remembered. A QUIC host leaves a run behind with each packet that is lost
/// and never acknowledged, a TCP host with each transmission whose data another one brought.
const MAX_RUNS: usize = 4096;

/// Packets that left, by number.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    newest: Option<u64>,
    /// Not acknowledged.
    open: Runs,
    /// Neither acknowledged nor declared lost.
    in_flight: Runs,
}

impl Packets {
    pub(crate) fn is_unused(&self) -> bool {
        self.newest.is_none()
    }

    pub(crate) fn may_send(&self, number: u64) -> bool {
        self.newest.is_none_or(|newest| number > newest) && number < u64::MAX
    }

    pub(crate) fn may_acknowledge(&self, number: u64) -> bool {
        self.open.contains(number)
    }

    pub(crate) fn may_be_lost(&self, number: u64) -> bool {
        self.in_flight.contains(number)
    }

    pub(crate) fn on_sent(&mut self, number: u64) {
        self.newest = Some(number);
        self.open.push(number);
        self.in_flight.push(number);
    }

    pub(crate) fn on_acknowledged(&mut self, number: u64) {
        self.open.remove(number);
        self.in_flight.remove(number);
    }

    pub(crate) fn on_lost(&mut self, number: u64) {
        self.in_flight.remove(number);
    }

    /// What was declared lost is in flight again.
    pub(crate) fn revive(&mut self) {
        self.in_flight.0.clone_from(&self.open.0);
    }
}

/// Numbers as runs, in their order.
#[derive(Debug, Default)]
struct Runs(Vec<Range<u64>>);

impl Runs {
    /// The run that holds `number`.
    fn find(&self, number: u64) -> Option<usize> {
        let at = self.0.partition_point(|run| run.end <= number);
        self.0.get(at).filter(|run| run.start <= number).map(|_| at)
    }

    fn contains(&self, number: u64) -> bool {
        self.find(number).is_some()
    }

    /// Adds a number above all others and below `u64::MAX`.
    fn push(&mut self, number: u64) {
        match self.0.last_mut() {
            Some(last) if last.end == number => last.end = number + 1,
            _ => {
                self.0.push(number..number + 1);
                self.forget_oldest();
            }
        }
    }

    fn remove(&mut self, number: u64) {
        let Some(at) = self.find(number) else {
            return;
        };
        let run = &mut self.0[at];
        if run.start == number {
            run.start += 1;
            if run.is_empty() {
                self.0.remove(at);
            }
        } else {
            let rest = number + 1..run.end;
            run.end = number;
            if !rest.is_empty() {
                self.0.insert(at + 1, rest);
                self.forget_oldest();
            }
        }
    }

    fn forget_oldest(&mut self) {
        if self.0.len() > MAX_RUNS {
            self.0.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_open_until_acknowledged_and_old_gaps_are_forgotten() {
        let mut packets = Packets::default();
        assert!(packets.is_unused() && packets.may_send(0));
        for number in [3, 4, 5, 9] {
            packets.on_sent(number);
        }
        let open =
            |p: &Packets| -> Vec<u64> { (0..12).filter(|n| p.may_acknowledge(*n)).collect() };
        let in_flight =
            |p: &Packets| -> Vec<u64> { (0..12).filter(|n| p.may_be_lost(*n)).collect() };
        assert!(!packets.may_send(9) && packets.may_send(10));
        packets.on_lost(4);
        packets.on_acknowledged(9);
        assert_eq!(open(&packets), [3, 4, 5]);
        assert_eq!(in_flight(&packets), [3, 5]);
        packets.on_acknowledged(4);
        packets.on_acknowledged(3);
        packets.on_lost(5);
        assert_eq!((open(&packets), in_flight(&packets)), (vec![5], vec![]));
        packets.revive();
        assert_eq!(in_flight(&packets), [5]);

        for number in 10..20_000 {
            packets.on_sent(number);
            if number % 2 == 0 {
                packets.on_acknowledged(number);
            }
        }
        assert_eq!(packets.open.0.len(), MAX_RUNS);
        assert!(!packets.may_acknowledge(11) && packets.may_acknowledge(19_999));
    }
}
