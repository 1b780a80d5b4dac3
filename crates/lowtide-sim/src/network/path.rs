//! One direction of a network: every flow's way through the shared path.
//!
//! ```text
//!   flow's access link ─► line ─► queue ─► link ─► delay, loss ─► flow's access link ─► line
//!       entry           entering  └────────── pipe ──────────┘          exit          arriving
//! ```

use std::fmt::Debug;

use lowtide_cc::units::{Duration, Time};

use super::access::AccessLink;
use super::config::NetworkConfig;
use super::direction::Direction;
use super::line::Lines;
use super::packet::{Departure, DropCause, Dropped, Packet, Tap};
use super::pipe::Pipe;
use super::seed::Stream;
use crate::schedule::Schedule;

#[derive(Debug)]
pub(super) struct Path<P> {
    direction: Direction,
    /// By flow.
    entry: Vec<AccessLink>,
    pub(super) entering: Lines<Packet<P>>,
    pipe: Pipe<P>,
    /// The slot of the link's next departure.
    link_slot: u32,
    /// By flow.
    exit: Vec<AccessLink>,
    pub(super) arriving: Lines<Packet<P>>,
}

fn shared_delays(links: &[AccessLink]) -> impl Iterator<Item = Option<Duration>> {
    links.iter().map(AccessLink::shared_delay)
}

impl<P: Debug + Send + 'static> Path<P> {
    pub(super) fn new(config: &NetworkConfig, direction: Direction, link_slot: u32) -> Self {
        let entry: Vec<_> = config.access.iter().map(|a| a.entry(direction)).collect();
        let exit: Vec<_> = config.access.iter().map(|a| a.exit(direction)).collect();
        let seed = Stream::Path(direction).seed(config.seed);
        Self {
            direction,
            entering: Lines::new(shared_delays(&entry)),
            arriving: Lines::new(shared_delays(&exit)),
            entry,
            exit,
            pipe: Pipe::new(config.pipe(direction), config.base_rtt, seed),
            link_slot,
        }
    }

    /// A host sends a packet.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Time,
        packet: Packet<P>,
        schedule: &mut Schedule,
        tap: &mut impl Tap<P>,
    ) {
        let flow = packet.flow;
        let at = self.entry[flow as usize].pass(now, packet.bytes);
        if at == now {
            self.enter(now, packet, schedule, tap);
        } else {
            self.entering.push(flow, at, packet, schedule);
        }
    }

    /// A packet comes to the pipe.
    #[inline]
    pub(super) fn enter(
        &mut self,
        now: Time,
        packet: Packet<P>,
        schedule: &mut Schedule,
        tap: &mut impl Tap<P>,
    ) {
        let direction = self.direction;
        let until = self.pipe.offer(now, packet, &mut |packet, cause| {
            tap.on_drop(Dropped {
                at: now,
                direction,
                cause,
                packet,
            });
        });
        match until {
            // No event for what happens at once.
            Some(_) if self.pipe.takes_no_time() => self.depart(now, schedule, tap),
            Some(until) => schedule_departure(schedule, self.link_slot, Some(until)),
            None => {}
        }
    }

    /// The link has sent a packet.
    #[inline]
    pub(super) fn depart(&mut self, now: Time, schedule: &mut Schedule, tap: &mut impl Tap<P>) {
        let direction = self.direction;
        let sent = self.pipe.send(now, &mut |packet, cause| {
            tap.on_drop(Dropped {
                at: now,
                direction,
                cause,
                packet,
            });
        });
        schedule_departure(schedule, self.link_slot, sent.as_ref().and_then(|s| s.next));
        let Some(sent) = sent else {
            return;
        };
        let packet = sent.packet;
        tap.on_departure(&Departure {
            at: now,
            direction,
            flow: packet.flow,
            bytes: packet.bytes,
            sojourn: sent.sojourn,
            queued: self.pipe.queued(),
        });
        let Some(arrival) = sent.arrival else {
            tap.on_drop(Dropped {
                at: now,
                direction,
                cause: DropCause::LinkLoss,
                packet,
            });
            return;
        };
        let flow = packet.flow;
        let at = self.exit[flow as usize].pass(arrival, packet.bytes);
        self.arriving.push(flow, at, packet, schedule);
    }

    /// No packet takes less from its departure from the link to the far end.
    pub(super) fn least_delay(&self) -> Duration {
        self.pipe.least_delay()
    }
}

/// `None` and [`Time::MAX`]: the link sends nothing before another packet comes, or never again.
#[inline]
fn schedule_departure(schedule: &mut Schedule, slot: u32, at: Option<Time>) {
    match at {
        Some(at) if at != Time::MAX => schedule.set(slot, at),
        _ => schedule.clear(slot),
    }
}
