//! First in, first out; what does not fit is dropped.

use lowtide_cc::units::{Bytes, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use crate::network::packet::{DropCause, Handle};

#[derive(Debug)]
pub(crate) struct DropTail {
    fifo: Fifo,
}

impl DropTail {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self {
            fifo: Fifo::new(capacity),
        }
    }
}

impl Discipline for DropTail {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
        self.fifo.push_or_drop(now, packet, drops);
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
    use lowtide_cc::units::{Duration, Rate};

    use super::*;
    use crate::network::link::Link;
    use crate::network::queue::limit::QueueLimit;

    const RTT: Duration = Duration::from_millis(20);

    fn queue(limit: QueueLimit) -> DropTail {
        let link = Link::constant(Rate::from_mbps(8)).unwrap(); // 1000 bytes a millisecond
        DropTail::new(limit.resolve(&link, RTT))
    }

    fn packet(id: u32, bytes: u64) -> Handle {
        Handle::new(id, 0, Bytes::new(bytes), Ecn::NotEct)
    }

    #[test]
    fn limits_resolve_to_packets_or_bytes_and_what_exceeds_them_is_dropped() {
        let accepted = |limit| {
            let mut queue = queue(limit);
            let mut dropped = 0;
            for n in 0..1_000 {
                queue.enqueue(Time::ZERO, packet(n, 1_000), &mut |_, _| dropped += 1);
            }
            1_000 - dropped
        };
        assert_eq!(accepted(QueueLimit::Unlimited), 1_000);
        assert_eq!(accepted(QueueLimit::Packets(7)), 7);
        assert_eq!(accepted(QueueLimit::Bytes(Bytes::new(2_999))), 2);
        assert_eq!(accepted(QueueLimit::Time(Duration::from_millis(50))), 50);
        assert_eq!(accepted(QueueLimit::Bdp(1.5)), 30);
        assert_eq!(accepted(QueueLimit::Bdp(f64::NAN)), 0);
    }

    #[test]
    fn packets_leave_in_order_and_make_room() {
        let mut queue = queue(QueueLimit::Packets(2));
        let mut dropped = Vec::new();
        let mut drops = |packet: Handle, _| dropped.push(packet.id());
        for n in [1, 2, 3] {
            queue.enqueue(Time::ZERO, packet(n, u64::from(n)), &mut drops);
        }
        let mut next = |queue: &mut DropTail| {
            let next = queue.dequeue(Time::ZERO, &mut drops);
            (next.map(|n| n.packet.id()), queue.bytes().get())
        };
        assert_eq!(next(&mut queue), (Some(1), 2));
        queue.enqueue(Time::ZERO, packet(4, 4), &mut |_, _| unreachable!());
        assert_eq!(next(&mut queue), (Some(2), 4));
        assert_eq!(next(&mut queue), (Some(4), 0));
        assert_eq!(next(&mut queue), (None, 0));
        assert_eq!(dropped, [3]);
    }
}
