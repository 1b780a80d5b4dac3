//! An application that changes what it does at set moments.

use lowtide_cc::units::{Bytes, Time};

use super::config::{Step, Steps};
use super::writes::Steady;

/// An application with steps, at work.
#[derive(Clone, Debug)]
pub(super) struct Stepped {
    steps: Steps,
    start: Time,
    packet: Bytes,
    /// The step under way, and its writes where it has any.
    step: usize,
    writes: Option<Steady>,
    next: Option<(Time, Bytes)>,
    /// Written and not yet taken.
    pending: Bytes,
}

impl Stepped {
    pub(super) fn new(steps: Steps, start: Time, packet: Bytes) -> Self {
        let mut this = Self {
            steps,
            start,
            packet,
            step: 0,
            writes: None,
            next: None,
            pending: Bytes::ZERO,
        };
        this.enter(0);
        this
    }

    fn begins(&self, step: usize) -> Option<Time> {
        let (at, _) = self.steps.list().get(step)?;
        Some(self.start + *at)
    }

    fn enter(&mut self, step: usize) {
        let (at, what) = self.steps.list()[step];
        let at = self.start + at;
        self.step = step;
        self.writes = match what {
            Step::Rate(rate) => Some(Steady::new(at, rate, self.packet)),
            Step::Bulk | Step::Volume(_) => None,
        };
        self.next = match what {
            Step::Volume(bytes) => Some((at, bytes)),
            Step::Bulk | Step::Rate(_) => self.writes.as_mut().and_then(Steady::next),
        };
    }

    fn is_bulk(&self) -> bool {
        matches!(self.steps.list()[self.step], (_, Step::Bulk))
    }

    pub(super) fn available(&mut self, now: Time) -> Bytes {
        loop {
            let ends = self.begins(self.step + 1).unwrap_or(Time::MAX);
            while let Some((at, bytes)) = self.next
                && at <= now
                && at < ends
            {
                self.pending += bytes;
                self.next = self.writes.as_mut().and_then(Steady::next);
            }
            if now < ends {
                break;
            }
            self.enter(self.step + 1);
        }
        if self.is_bulk() {
            Bytes::MAX
        } else {
            self.pending
        }
    }

    pub(super) fn take(&mut self, bytes: Bytes) {
        self.pending -= bytes;
    }

    pub(super) fn next_write(&self) -> Option<Time> {
        let change = self.begins(self.step + 1);
        let write = self.next.map(|(at, _)| at);
        match (write, change) {
            (Some(write), Some(change)) => Some(write.min(change)),
            (write, change) => write.or(change),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        !self.is_bulk() && self.next_write().is_none() && self.pending.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::{Duration, Rate};

    use super::*;

    #[test]
    fn each_step_does_its_own_from_its_moment_on() {
        let ms = Duration::from_millis;
        let at = |n: u64| Time::ZERO + ms(1_000 + n);
        let steps = [
            (ms(0), Step::Bulk),
            (ms(10), Step::Rate(Rate::ZERO)),
            (ms(20), Step::Rate(Rate::from_mbps(8))),
            (ms(24), Step::Bulk),
            (ms(30), Step::Rate(Rate::ZERO)),
            (ms(40), Step::Volume(Bytes::new(5_000))),
        ];
        let steps = Steps::new(&steps).unwrap();
        let mut source = Stepped::new(steps, at(0), Bytes::new(1_000));
        assert_eq!(source.available(at(9)), Bytes::MAX);
        source.take(Bytes::new(5_000));
        assert_eq!(source.available(at(10)), Bytes::ZERO);
        assert_eq!(source.next_write(), Some(at(20)));
        assert_eq!(source.available(at(22)), Bytes::new(3_000));
        assert_eq!(source.next_write(), Some(at(23)));
        source.take(Bytes::new(1_000));
        assert_eq!(source.available(at(24)), Bytes::MAX);
        assert!(!source.is_finished());
        // What bulk sends is of what was pending first.
        source.take(Bytes::new(9_000));
        assert_eq!(source.available(at(30)), Bytes::ZERO);
        assert_eq!(source.next_write(), Some(at(40)));
        assert_eq!(source.available(at(41)), Bytes::new(5_000));
        source.take(Bytes::new(5_000));
        assert!(source.is_finished() && source.next_write().is_none());
        assert!(Steps::new(&[(ms(1), Step::Bulk)]).is_none());
        assert!(Steps::new(&[(ms(0), Step::Bulk); 2]).is_none());
    }
}
