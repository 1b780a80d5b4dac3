//! Packets in the order of their arrival, within a limit: what most disciplines are built on.

use std::collections::VecDeque;

use lowtide_cc::units::{Bytes, Duration, Time};

use super::discipline::Waiting;
use super::limit::Capacity;
use crate::network::packet::{DropCause, Handle};

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
        if !self.capacity.holds(self.packets() + 1, total) {
            return false;
        }
        self.bytes = total;
        self.waiting.push_back(Waiting { packet, since: now });
        true
    }

    /// Adds a packet at the end, or drops it when there is no room for it; whether it was added.
    #[inline]
    pub(super) fn push_or_drop(
        &mut self,
        now: Time,
        packet: Handle,
        mut drops: impl FnMut(Handle, DropCause),
    ) -> bool {
        let is_added = self.push(now, packet);
        if !is_added {
            drops(packet, DropCause::QueueFull);
        }
        is_added
    }

    /// Takes the first packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.packet.bytes;
        Some(next)
    }

    /// The first packet.
    #[inline]
    pub(super) fn head(&self) -> Option<&Waiting> {
        self.waiting.front()
    }

    /// How long the first packet has waited; zero when there is none.
    #[inline]
    pub(super) fn wait(&self, now: Time) -> Duration {
        self.head().map_or(Duration::ZERO, |w| now.since(w.since))
    }

    /// Packets that wait.
    #[inline]
    pub(super) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Bytes that wait.
    #[inline]
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
