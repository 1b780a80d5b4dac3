//! The network: a path that all flows share, each way, between their own access links.
//!
//! ```text
//!            sender's access       shared path                 receiver's access
//!   sender ───► rate ─► delay ──► queue ─► link ─► delay, loss ──► rate ─► delay ───► receiver
//!      ▲                                                                                 │
//!      └──────────── delay ◄──── loss, delay ◄─ link ◄─ queue ◄──── delay ◄──────────────┘
//! ```
//!
//! A [`Network`] has no clock, no hosts and no idea what its packets mean: a host hands it packets
//! ([`send`](Network::send)), lets time pass ([`advance`](Network::advance)) and gets them back at
//! the far end. The simulator, QUIC stacks in virtual time and the link in real time all use this
//! one, so that the same seed loses the same packets on each.

mod access;
mod config;
mod direction;
pub mod impairment;
mod line;
pub mod link;
mod packet;
mod path;
mod pipe;
pub mod queue;
pub mod seed;
mod store;
#[cfg(test)]
mod tests;

use lowtide_cc::units::Time;

pub use self::config::{AccessConfig, NetworkConfig, PipeConfig};
pub use self::direction::Direction;
use self::packet::Handle;
pub use self::packet::{Arrival, Departure, DropCause, Dropped, Packet, Tap};
use self::path::{Context, Path};
use self::store::Store;
use crate::schedule::Schedule;

/// A network at work. What can happen next has a slot of the schedule; slots of the same time
/// happen in the order of their numbers: first departures from the two links, then arrivals at
/// hosts, then arrivals at the shared path; of each, forward before reverse.
#[derive(Debug)]
pub struct Network<P> {
    schedule: Schedule,
    /// By [`Direction`].
    paths: [Path; 2],
    /// The packets on each path.
    packets: [Store<P>; 2],
    /// Where each kind of slot begins; links have the slots before.
    first_reverse_arriving: u32,
    first_entering: u32,
    first_reverse_entering: u32,
}

/// The first slot that is not a link's.
const FIRST_ARRIVING: u32 = 2;

impl<P> Network<P> {
    /// An idle network at time zero.
    #[must_use]
    pub fn new(config: &NetworkConfig) -> Self {
        let mut paths = Direction::BOTH.map(|d| Path::new(config, d, d as u32));
        let first_reverse_arriving = paths[0].arriving.take_slots(FIRST_ARRIVING);
        let first_entering = paths[1].arriving.take_slots(first_reverse_arriving);
        let first_reverse_entering = paths[0].entering.take_slots(first_entering);
        let slots = paths[1].entering.take_slots(first_reverse_entering);
        Self {
            schedule: Schedule::new(slots as usize),
            paths,
            packets: [Store::new(), Store::new()],
            first_reverse_arriving,
            first_entering,
            first_reverse_entering,
        }
    }

    /// A host sends a packet. All that happens before `now` must have happened: see
    /// [`advance`](Self::advance).
    ///
    /// # Panics
    /// When the packet's flow is not one of the configuration's.
    // Always inlined, so that a packet is put together in its place instead of copied to it.
    #[inline(always)]
    pub fn send(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet<P>,
        tap: &mut impl Tap<P>,
    ) {
        let (flow, bytes, ecn) = (packet.flow, packet.bytes, packet.ecn);
        let packets = &mut self.packets[direction as usize];
        let handle = Handle::new(packets.put(packet), flow, bytes, ecn);
        let mut context = Context {
            schedule: &mut self.schedule,
            packets,
            tap,
        };
        self.paths[direction as usize].send(now, handle, &mut context);
    }

    /// When something happens next, if no other packet comes.
    #[must_use]
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        self.schedule.peek().map(|(at, _)| at)
    }

    /// No packet arrives before this if no other comes; `None` when none can arrive. A host that
    /// need not know of departures when they happen may sleep until then.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Time> {
        let earliest = |(at, slot): (Time, u32)| {
            let on_its_way = (FIRST_ARRIVING..self.first_entering).contains(&slot);
            let least = self.paths[self.direction_of(slot) as usize].least_delay();
            if on_its_way { at } else { at + least }
        };
        self.schedule.entries().map(earliest).min()
    }

    /// Lets happen what happens until `until`, up to the next arrival at a host. `None` when no
    /// (further) packet arrives until then.
    #[inline]
    pub fn advance(&mut self, until: Time, tap: &mut impl Tap<P>) -> Option<Arrival<P>> {
        while let Some((now, slot)) = self.schedule.peek()
            && now <= until
        {
            let direction = self.direction_of(slot);
            let path = &mut self.paths[direction as usize];
            let mut context = Context {
                schedule: &mut self.schedule,
                packets: &mut self.packets[direction as usize],
                tap: &mut *tap,
            };
            if slot < FIRST_ARRIVING {
                path.depart(now, &mut context);
            } else if slot >= self.first_entering {
                if let Some(handle) = path.entering.pop(slot, context.schedule) {
                    path.enter(now, handle, &mut context);
                }
            } else if let Some(handle) = path.arriving.pop(slot, context.schedule)
                && let Some(mut packet) = context.packets.take(handle.id())
            {
                packet.ecn = handle.ecn();
                return Some(Arrival {
                    at: now,
                    direction,
                    packet,
                });
            }
        }
        None
    }

    #[inline]
    fn direction_of(&self, slot: u32) -> Direction {
        let is_reverse = if slot < FIRST_ARRIVING {
            slot == Direction::Reverse as u32
        } else if slot < self.first_entering {
            slot >= self.first_reverse_arriving
        } else {
            slot >= self.first_reverse_entering
        };
        Direction::BOTH[usize::from(is_reverse)]
    }
}
