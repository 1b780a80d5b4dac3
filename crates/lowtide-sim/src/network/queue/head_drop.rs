//! Drop from the front (Lakshman, Neidhardt and Ott 1996): a full queue drops its oldest packets, so
//! that senders learn of it a queue earlier.

use lowtide_cc::units::{Bytes, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use crate::network::packet::{DropCause, Handle};

/// First in, first out; what has waited longest makes room.
#[derive(Debug)]
pub(crate) struct HeadDrop {
    fifo: Fifo,
}

impl HeadDrop {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self {
            fifo: Fifo::new(capacity),
        }
    }
}

impl Discipline for HeadDrop {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        while !self.fifo.push(now, packet) {
            let Some(oldest) = self.fifo.pop() else {
                return drops(packet, DropCause::QueueFull);
            };
            drops(oldest.packet, DropCause::QueueFull);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.fifo.pop()
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;

    use super::*;

    #[test]
    fn the_oldest_make_room_and_what_never_fits_is_dropped() {
        let mut queue = HeadDrop::new(Capacity {
            packets: u64::MAX,
            bytes: Bytes::new(1_000),
        });
        let mut dropped = Vec::new();
        for (id, bytes) in [(0, 300), (1, 300), (2, 300), (3, 700)] {
            let packet = Handle::new(id, 0, Bytes::new(bytes), Ecn::NotEct);
            queue.enqueue(Time::ZERO, packet, |packet, _| dropped.push(packet.id()));
        }
        assert_eq!((&dropped[..], queue.bytes().get()), (&[0, 1][..], 1_000));
        let packet = Handle::new(4, 0, Bytes::new(1_001), Ecn::NotEct);
        queue.enqueue(Time::ZERO, packet, |packet, _| dropped.push(packet.id()));
        assert_eq!(dropped, [0, 1, 2, 3, 4]);
    }
}
