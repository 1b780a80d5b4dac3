//! One direction of a network: every flow's way through the shared path.
//!
//! ```text
//!   flow's access link ─► line ─► queue ─► link ─► delay, loss ─► flow's access link ─► line
//!       entry           entering  └────────── pipe ──────────┘          exit          arriving
//! ```

use lowtide_cc::units::{Duration, Time};

use super::access::AccessLinks;
use super::config::NetworkConfig;
use super::direction::Direction;
use super::line::Lines;
use super::packet::{Departure, DropCause, Dropped, Handle, Tap};
use super::pipe::{Offer, Pipe, PipeSetup};
use super::seed::Stream;
use super::store::Store;
use crate::schedule::Schedule;

#[derive(Debug)]
pub(super) struct Path {
    direction: Direction,
    entry: AccessLinks,
    pub(super) entering: Lines<Handle>,
    pipe: Pipe,
    /// The slot of the link's next departure.
    link_slot: u32,
    exit: AccessLinks,
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

impl Path {
    pub(super) fn new(config: &NetworkConfig, direction: Direction, link_slot: u32) -> Self {
        let access = || config.access.iter();
        let entry = AccessLinks::new(access().map(|a| a.entry(direction)).collect());
        let exit = AccessLinks::new(access().map(|a| a.exit(direction)).collect());
        let setup = PipeSetup {
            base_rtt: config.base_rtt,
            seed: Stream::Path(direction).seed(config.seed),
        };
        Self {
            direction,
            entering: Lines::new(entry.shared_delays()),
            arriving: Lines::new(exit.shared_delays()),
            entry,
            exit,
            pipe: Pipe::new(config.pipe(direction), &setup),
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
        let at = self.entry.pass(packet.flow(), now, packet.bytes);
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
        mut packet: Handle,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let direction = self.direction;
        let offer = self.pipe.offer(now, &mut packet, |packet, cause| {
            context.drop(now, direction, packet, cause);
        });
        match offer {
            Offer::Serving(until) => context.set_departure(self.link_slot, Some(until)),
            Offer::Passed => self.leave(now, packet, Duration::ZERO, context),
            Offer::Queued => {}
        }
    }

    /// The link has something to do: mostly it has sent a packet.
    #[inline]
    pub(super) fn depart<P>(&mut self, now: Time, context: &mut Context<'_, P, impl Tap<P>>) {
        let direction = self.direction;
        let served = self.pipe.serve(now, |packet, cause| {
            context.drop(now, direction, packet, cause);
        });
        context.set_departure(self.link_slot, served.next);
        if let Some(sent) = served.sent {
            self.leave(now, sent.packet, sent.sojourn, context);
        }
    }

    /// A packet is behind the link.
    #[inline]
    fn leave<P>(
        &mut self,
        now: Time,
        mut packet: Handle,
        sojourn: Duration,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let direction = self.direction;
        context.tap.on_departure(&Departure {
            at: now,
            direction,
            flow: packet.flow(),
            bytes: packet.bytes,
            ecn: packet.ecn(),
            sojourn,
            queued: self.pipe.queued(),
        });
        match self.pipe.arrival(now, &mut packet) {
            Some(arrival) => {
                let at = self.exit.pass(packet.flow(), arrival, packet.bytes);
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
