//! Where the packets of one direction are while they are on their way.

use std::collections::VecDeque;

use super::packet::Packet;

/// Packets by number, so that only numbers move through the network.
///
/// The place that has been free for longest is taken first. Packets mostly leave in the order in
/// which they came, so that places are used in the order of their addresses, which the processor
/// foresees: with thousands of packets in flight, taking the place freed last costs a simulation
/// 8 % of its time in cache misses.
#[derive(Debug)]
pub(super) struct Store<P> {
    packets: Vec<Option<Packet<P>>>,
    free: VecDeque<u32>,
}

impl<P> Store<P> {
    pub(super) fn new() -> Self {
        Self {
            packets: Vec::new(),
            free: VecDeque::new(),
        }
    }

    /// Keeps a packet; its number.
    #[inline]
    pub(super) fn put(&mut self, packet: Packet<P>) -> u32 {
        match self.free.pop_front() {
            Some(id) => {
                self.packets[id as usize] = Some(packet);
                id
            }
            None => {
                self.packets.push(Some(packet));
                (self.packets.len() - 1) as u32
            }
        }
    }

    /// Gives a packet back; `None` when there is none of this number.
    #[inline]
    pub(super) fn take(&mut self, id: u32) -> Option<Packet<P>> {
        let packet = self.packets[id as usize].take()?;
        self.free.push_back(id);
        Some(packet)
    }
}
