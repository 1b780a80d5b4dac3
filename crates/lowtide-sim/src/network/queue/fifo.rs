//! Packets in the order of their arrival, within a limit: what most disciplines are built on.

use std::collections::VecDeque;

use lowtide_cc::units::{Bytes, Time};

use super::discipline::Waiting;
use super::limit::Capacity;
use crate::network::packet::Handle;

#[derive(Debug)]
pub(super) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
    capacity: Capacity,
}

impl Fifo {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: Bytes::ZERO,
            capacity,
        }
    }

    /// Adds a packet at the end; false, and nothing, when there is no room for it.
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: Handle) -> bool {
        let total = self.bytes + packet.bytes;
        if self.waiting.len() as u64 >= self.capacity.packets || total > self.capacity.bytes {
            return false;
        }
        self.bytes = total;
        self.waiting.push_back(Waiting { packet, since: now });
        true
    }

    /// Takes the first packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.packet.bytes;
        Some(next)
    }

    /// Bytes that wait.
    #[inline]
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
