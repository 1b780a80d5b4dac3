//! Where the packets of one direction are while they are on their way.

use std::collections::VecDeque;

use lowtide_cc::units::Duration;

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
    /// By number, on a way whose delay moves; else there are none.
    detours: Vec<Duration>,
}

impl<P> Store<P> {
    pub(super) fn new() -> Self {
        Self {
            packets: Vec::new(),
            free: VecDeque::new(),
            detours: Vec::new(),
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
        let packet = self.packets.get_mut(id as usize)?.take()?;
        self.free.push_back(id);
        Some(packet)
    }

    /// Notes what propagation takes of a packet's way beyond the least.
    #[inline]
    pub(super) fn note_detour(&mut self, id: u32, detour: Duration) {
        let id = id as usize;
        if self.detours.len() <= id {
            self.detours.resize(self.packets.len(), Duration::ZERO);
        }
        self.detours[id] = detour;
    }

    /// What was noted of the packet that had this number last.
    #[inline]
    pub(super) fn detour(&self, id: u32) -> Duration {
        self.detours.get(id as usize).copied().unwrap_or_default()
    }
}
