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
mod bucket;
mod chance;
mod config;
mod cross;
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

pub use self::bucket::TokenBucket;
pub use self::config::{AccessConfig, NetworkConfig, PipeConfig};
pub use self::cross::{Arrivals, Cross};
pub use self::direction::Direction;
use self::packet::Handle;
pub use self::packet::{Arrival, Departure, DropCause, Dropped, Packet, Tap};
use self::path::{Context, Path};
use self::store::Store;
use crate::schedule::Schedule;

/// A network at work. What can happen next has a slot of the schedule; slots of the same time
/// happen in the order of their numbers: first departures from the two links, then arrivals at
/// hosts, then arrivals at the shared path, cross traffic last; of each, forward before reverse.
#[derive(Debug)]
pub struct Network<P> {
    schedule: Schedule,
    /// By [`Direction`].
    paths: [Path; 2],
    /// The packets on each path.
    packets: [Store<P>; 2],
    /// What each slot of the schedule stands for.
    events: Vec<(Event, Direction)>,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The link has something to do.
    Departure,
    /// A packet arrives at a host.
    Arrival,
    /// A packet arrives at the shared path.
    Entry,
    /// Cross traffic does.
    Cross,
}

impl<P> Network<P> {
    /// An idle network at time zero.
    #[must_use]
    pub fn new(config: &NetworkConfig) -> Self {
        let mut paths = Direction::BOTH.map(|d| Path::new(config, d, d as u32));
        let mut events = Vec::from(Direction::BOTH.map(|d| (Event::Departure, d)));
        let mut take = |event, take_slots: fn(&mut Path, u32) -> u32| {
            for (path, direction) in paths.iter_mut().zip(Direction::BOTH) {
                let end = take_slots(path, events.len() as u32);
                events.resize(end as usize, (event, direction));
            }
        };
        take(Event::Arrival, |path, first| {
            path.arriving.take_slots(first)
        });
        take(Event::Entry, |path, first| path.entering.take_slots(first));
        take(Event::Cross, Path::take_cross_slots);
        let mut schedule = Schedule::new(events.len());
        for path in &paths {
            path.start_cross(&mut schedule);
        }
        Self {
            schedule,
            paths,
            packets: [Store::new(), Store::new()],
            events,
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
        let earliest = |(at, slot): (Time, u32)| match self.events[slot as usize] {
            (Event::Arrival, _) => at,
            (_, direction) => at + self.paths[direction as usize].least_delay(),
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
            let (event, direction) = self.events[slot as usize];
            let path = &mut self.paths[direction as usize];
            let mut context = Context {
                schedule: &mut self.schedule,
                packets: &mut self.packets[direction as usize],
                tap: &mut *tap,
            };
            match event {
                Event::Departure => path.depart(now, &mut context),
                Event::Arrival => {
                    if let Some(handle) = path.arriving.pop(slot, context.schedule)
                        && let Some(mut packet) = context.packets.take(handle.id())
                    {
                        packet.ecn = handle.ecn();
                        return Some(Arrival {
                            at: now,
                            direction,
                            detour: context.packets.detour(handle.id()),
                            packet,
                        });
                    }
                }
                Event::Entry => {
                    if let Some(handle) = path.entering.pop(slot, context.schedule) {
                        path.enter(now, handle, &mut context);
                    }
                }
                Event::Cross => path.cross(now, slot, &mut context),
            }
        }
        None
    }
}
