//! One direction of a network: every flow's way through the shared path.
//!
//! ```text
//!   flow's access link ─► line ─► queue ─► link ─► delay, loss ─► flow's access link ─► line
//!       entry           entering  └────────── pipe ──────────┘          exit          arriving
//! ```

use lowtide_cc::units::{Duration, Time};

use super::access::AccessLink;
use super::config::NetworkConfig;
use super::direction::Direction;
use super::line::Lines;
use super::packet::{Departure, DropCause, Dropped, Handle, Tap};
use super::pipe::{Offer, Pipe};
use super::seed::Stream;
use super::store::Store;
use crate::schedule::Schedule;

#[derive(Debug)]
pub(super) struct Path {
    direction: Direction,
    /// By flow.
    entry: Vec<AccessLink>,
    pub(super) entering: Lines<Handle>,
    pipe: Pipe,
    /// The slot of the link's next departure.
    link_slot: u32,
    /// By flow.
    exit: Vec<AccessLink>,
    pub(super) arriving: Lines<Handle>,
}

/// What a path works on, and its observer.
pub(super) struct Context<'a, P, T> {
    pub(super) schedule: &'a mut Schedule,
    /// The packets of the path; a [`Handle`] has the number.
    pub(super) packets: &'a mut Store<P>,
    pub(super) tap: &'a mut T,
}

impl<P, T: Tap<P>> Context<'_, P, T> {
    /// `None` and [`Time::MAX`]: the link sends nothing before another packet comes, or never again.
    #[inline]
    fn set_departure(&mut self, slot: u32, at: Option<Time>) {
        match at {
            Some(at) if at != Time::MAX => self.schedule.set(slot, at),
            _ => self.schedule.clear(slot),
        }
    }

    fn drop(&mut self, at: Time, direction: Direction, packet: Handle, cause: DropCause) {
        if let Some(packet) = self.packets.take(packet.id()) {
            self.tap.on_drop(Dropped {
                at,
                direction,
                cause,
                packet,
            });
        }
    }
}

fn shared_delays(links: &[AccessLink]) -> impl Iterator<Item = Option<Duration>> {
    links.iter().map(AccessLink::shared_delay)
}

impl Path {
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
    pub(super) fn send<P>(
        &mut self,
        now: Time,
        packet: Handle,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let at = self.entry[packet.flow() as usize].pass(now, packet.bytes);
        if at == now {
            self.enter(now, packet, context);
        } else {
            self.entering
                .push(packet.flow(), at, packet, context.schedule);
        }
    }

    /// A packet comes to the pipe.
    #[inline]
    pub(super) fn enter<P>(
        &mut self,
        now: Time,
        packet: Handle,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let direction = self.direction;
        let offer = self.pipe.offer(now, packet, |packet, cause| {
            context.drop(now, direction, packet, cause);
        });
        match offer {
            Offer::Serving(until) => context.set_departure(self.link_slot, Some(until)),
            Offer::Passed => self.leave(now, packet, Duration::ZERO, context),
            Offer::Queued => {}
        }
    }

    /// The link has sent a packet.
    #[inline]
    pub(super) fn depart<P>(&mut self, now: Time, context: &mut Context<'_, P, impl Tap<P>>) {
        let direction = self.direction;
        let sent = self.pipe.send(now, |packet, cause| {
            context.drop(now, direction, packet, cause);
        });
        context.set_departure(self.link_slot, sent.and_then(|s| s.next));
        if let Some(sent) = sent {
            self.leave(now, sent.packet, sent.sojourn, context);
        }
    }

    /// A packet is behind the link.
    #[inline]
    fn leave<P>(
        &mut self,
        now: Time,
        packet: Handle,
        sojourn: Duration,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let direction = self.direction;
        context.tap.on_departure(&Departure {
            at: now,
            direction,
            flow: packet.flow(),
            bytes: packet.bytes,
            sojourn,
            queued: self.pipe.queued(),
        });
        match self.pipe.arrival(now) {
            Some(arrival) => {
                let at = self.exit[packet.flow() as usize].pass(arrival, packet.bytes);
                self.arriving
                    .push(packet.flow(), at, packet, context.schedule);
            }
            None => context.drop(now, direction, packet, DropCause::LinkLoss),
        }
    }

    /// No packet takes less from its departure from the link to the far end.
    pub(super) fn least_delay(&self) -> Duration {
        self.pipe.least_delay()
    }
}
