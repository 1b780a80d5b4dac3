//! Queues before a link.

mod text;

use std::collections::VecDeque;

use lowtide_cc::units::{Bytes, Duration};

pub use self::text::parse;
use crate::link::Link;

/// How much a drop-tail queue holds. The packet on the link does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// Everything.
    Unlimited,
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
    /// What the link carries in this time at its mean rate.
    Time(Duration),
    /// So many bandwidth-delay products: mean rate of the link × base RTT of the first flow.
    Bdp(f64),
}

/// A limit in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    packets: u64,
    bytes: Bytes,
}

impl QueueLimit {
    /// The limit before `link` on a path of `base_rtt`. A limit in time or BDP below one byte
    /// holds nothing; a negative or NaN number of BDP as well.
    #[must_use]
    pub fn resolve(&self, link: &Link, base_rtt: Duration) -> Capacity {
        let (packets, bytes) = match *self {
            Self::Unlimited => (u64::MAX, Bytes::MAX),
            Self::Packets(n) => (n, Bytes::MAX),
            Self::Bytes(bytes) => (u64::MAX, bytes),
            Self::Time(time) => (u64::MAX, link.mean_rate().volume_in(time)),
            Self::Bdp(n) => (u64::MAX, link.mean_rate().volume_in(base_rtt).mul_f64(n)),
        };
        Capacity { packets, bytes }
    }
}

/// A drop-tail queue: what does not fit is refused.
#[derive(Debug)]
pub struct DropTail<T> {
    items: VecDeque<(T, Bytes)>,
    bytes: Bytes,
    capacity: Capacity,
}

impl<T> DropTail<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(capacity: Capacity) -> Self {
        Self {
            items: VecDeque::new(),
            bytes: Bytes::ZERO,
            capacity,
        }
    }

    /// Adds an item of `bytes`; false when there is no room and the item is gone.
    #[inline]
    pub fn push(&mut self, item: T, bytes: Bytes) -> bool {
        let total = self.bytes + bytes;
        if self.items.len() as u64 >= self.capacity.packets || total > self.capacity.bytes {
            return false;
        }
        self.bytes = total;
        self.items.push_back((item, bytes));
        true
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let (item, bytes) = self.items.pop_front()?;
        self.bytes -= bytes;
        Some(item)
    }

    /// Bytes that wait.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Items that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Rate;

    use super::*;

    #[test]
    fn limits_resolve_to_packets_or_bytes_and_refuse_what_exceeds_them() {
        let link = Link::constant(Rate::from_mbps(8)).unwrap(); // 1000 bytes a millisecond
        let rtt = Duration::from_millis(20);
        let accepted = |limit: QueueLimit| {
            let mut queue = DropTail::new(limit.resolve(&link, rtt));
            (0..1_000)
                .filter(|n| queue.push(*n, Bytes::new(1_000)))
                .count()
        };
        assert_eq!(accepted(QueueLimit::Unlimited), 1_000);
        assert_eq!(accepted(QueueLimit::Packets(7)), 7);
        assert_eq!(accepted(QueueLimit::Bytes(Bytes::new(2_999))), 2);
        assert_eq!(accepted(QueueLimit::Time(Duration::from_millis(50))), 50);
        assert_eq!(accepted(QueueLimit::Bdp(1.5)), 30);
        assert_eq!(accepted(QueueLimit::Bdp(f64::NAN)), 0);

        let mut queue = DropTail::new(QueueLimit::Packets(2).resolve(&link, rtt));
        assert!(queue.push('a', Bytes::new(3)) && queue.push('b', Bytes::new(4)));
        assert_eq!(
            (queue.pop(), queue.bytes(), queue.len()),
            (Some('a'), Bytes::new(4), 1)
        );
        assert!(queue.push('c', Bytes::new(1)), "room again");
        assert_eq!(
            (queue.pop(), queue.pop(), queue.pop()),
            (Some('b'), Some('c'), None)
        );
    }
}
