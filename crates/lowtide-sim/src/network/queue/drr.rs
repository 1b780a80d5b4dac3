//! Fair queuing without management: deficit round robin between flows (Shreedhar and Varghese 1995);
//! what exceeds the limit is dropped from the head of the fattest queue.

use lowtide_cc::units::{Bytes, Time};

use super::discipline::{Discipline, Waiting};
use super::flow_queues::{FlowQueues, RoundRobin};
use super::limit::Capacity;
use crate::network::packet::{DropCause, Handle};

/// The queues of all flows.
#[derive(Debug)]
pub(crate) struct Drr {
    capacity: Capacity,
    queues: FlowQueues<()>,
}

impl Drr {
    pub(super) fn new(config: RoundRobin, capacity: Capacity) -> Self {
        Self {
            capacity,
            queues: FlowQueues::new(config, false),
        }
    }
}

impl Discipline for Drr {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        self.queues.push(now, packet);
        while !self.queues.fits(&self.capacity) {
            self.queues
                .pop_from_fattest(1, |packet| drops(packet, DropCause::QueueFull));
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.queues.pop(|(), fifo| fifo.pop())
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.queues.bytes()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;

    use super::*;

    #[test]
    fn backlogged_flows_get_equal_bytes_whatever_their_packets() {
        let config = RoundRobin {
            quantum: 1_500,
            queues: 8,
        };
        let mut queue = Drr::new(config, Capacity::UNLIMITED);
        let sizes = [1_500, 1_000, 400, 64];
        for n in 0..5_000 {
            for (flow, bytes) in (0..).zip(sizes) {
                let packet = Handle::new(n, flow, Bytes::new(bytes), Ecn::NotEct);
                queue.enqueue(Time::ZERO, packet, |_, _| unreachable!());
            }
        }
        let mut sent = [0_i64; 4];
        for _ in 0..4_000 {
            let next = queue.dequeue(Time::ZERO, |_, _| unreachable!()).unwrap();
            sent[next.packet.flow() as usize] += next.packet.bytes.get() as i64;
        }
        for bytes in sent {
            // A quantum and a packet (Lemma 2 of the paper).
            assert!((bytes - sent[0]).abs() <= 1_500 + 1_500, "{sent:?}");
        }
    }

    #[test]
    fn the_fattest_makes_room() {
        let config = RoundRobin {
            quantum: 1_500,
            queues: 8,
        };
        let capacity = Capacity {
            packets: 4,
            bytes: Bytes::MAX,
        };
        let mut queue = Drr::new(config, capacity);
        let mut dropped = Vec::new();
        for (id, flow) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2), (5, 0)] {
            let packet = Handle::new(id, flow, Bytes::new(1_000), Ecn::NotEct);
            queue.enqueue(Time::ZERO, packet, |packet, _| dropped.push(packet.id()));
        }
        assert_eq!(dropped, [1, 0]);
    }
}
