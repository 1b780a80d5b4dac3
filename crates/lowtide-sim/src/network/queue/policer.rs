//! A policer before a queue: a token bucket that drops what exceeds its rate and burst.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::discipline::{Discipline, Waiting};
use super::drop_tail::DropTail;
use crate::network::packet::{DropCause, Handle};

/// What a policer lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// On average, above zero.
    pub rate: Rate,
    /// At once, after a pause. A packet larger than it never passes.
    pub burst: Bytes,
}

/// A queue behind a policer.
#[derive(Debug)]
pub(crate) struct Policed {
    rate: Rate,
    /// In which an empty bucket is full again.
    to_fill: Duration,
    /// When the bucket is full, if nothing passes until then.
    full_at: Time,
    queue: DropTail,
}

impl Policed {
    pub(super) fn new(policer: Policer, queue: DropTail) -> Self {
        Self {
            rate: policer.rate,
            to_fill: policer.rate.time_for(policer.burst),
            full_at: Time::ZERO,
            queue,
        }
    }
}

impl Discipline for Policed {
    fn bypass(&mut self, now: Time, packet: Handle) -> Result<(), DropCause> {
        let full_at = self.full_at.max(now) + self.rate.time_for(packet.bytes);
        if full_at.since(now) > self.to_fill {
            return Err(DropCause::Policed);
        }
        self.full_at = full_at;
        Ok(())
    }

    fn enqueue(&mut self, now: Time, packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        match self.bypass(now, packet) {
            Ok(()) => self.queue.enqueue(now, packet, drops),
            Err(cause) => drops(packet, cause),
        }
    }

    fn dequeue(&mut self, now: Time, drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.queue.dequeue(now, drops)
    }

    fn bytes(&self) -> Bytes {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::link::Link;
    use crate::network::queue::QueueLimit;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let link = Link::constant(Rate::from_mbps(100)).unwrap();
        let capacity = QueueLimit::Packets(3).resolve(&link, Duration::ZERO);
        let policer = Policer {
            rate: Rate::from_mbps(8), // 1000 bytes a millisecond
            burst: Bytes::new(5_500),
        };
        let mut queue = Policed::new(policer, DropTail::new(capacity));
        let packet = |id| Handle::new(id, 0, Bytes::new(1_000));
        let at = |us: u64| Time::from_nanos(us * 1_000);
        let mut passes = |us: u64, count: u32| {
            let mut offer = |id| queue.bypass(at(us), packet(id)).is_ok();
            (0..count).filter(|id| offer(*id)).count()
        };
        assert_eq!(passes(0, 9), 5);
        // 500 bytes are left; half a millisecond later there are 1000 of them.
        assert_eq!((passes(499, 1), passes(500, 2)), (0, 1));
        // Two seconds bring what 5.5 kB of bucket hold, and the queue behind it no more than three.
        let mut dropped = Vec::new();
        for id in 0..9 {
            let drops = |packet: Handle, cause| dropped.push((packet.id(), cause));
            queue.enqueue(at(2_000_000), packet(id), drops);
        }
        let full = [3, 4].map(|id| (id, DropCause::QueueFull));
        let policed = [5, 6, 7, 8].map(|id| (id, DropCause::Policed));
        assert_eq!(dropped, [full.as_slice(), &policed].concat());
    }
}
