//! One direction of a network: every flow's way through the shared path.
//!
//! ```text
//!   flow's access link ─► line ─► queue ─► link ─► delay, loss ─► flow's access link ─► line
//!       entry           entering  └────────── pipe ──────────┘          exit          arriving
//! ```

use lowtide_cc::units::{Duration, Time};

use super::access::AccessLinks;
use super::config::NetworkConfig;
use super::cross::CrossFlow;
use super::direction::Direction;
use super::line::Lines;
use super::packet::{Departure, DropCause, Dropped, Handle, Tap};
use super::pipe::{Offer, Pipe, PipeSetup};
use super::seed::{Stream, derive};
use super::store::Store;
use crate::schedule::Schedule;

/// The streams of cross traffic, derived from the path's seed.
const FIRST_CROSS_STREAM: u64 = 1;

#[derive(Debug)]
pub(super) struct Path {
    direction: Direction,
    entry: AccessLinks,
    pub(super) entering: Lines<Handle>,
    pipe: Pipe,
    /// The slot of the link's next departure.
    link_slot: u32,
    cross: Vec<CrossFlow>,
    /// The slot of the first cross traffic's next packet, and the number of that flow.
    first_cross: (u32, u32),
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

    // Behind a call: few packets vanish.
    #[inline(never)]
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
            queue_seed: Stream::Queue(direction).seed(config.seed),
        };
        Self {
            direction,
            entering: Lines::new(entry.shared_delays()),
            arriving: Lines::new(exit.shared_delays()),
            entry,
            exit,
            pipe: Pipe::new(config.pipe(direction), &setup),
            link_slot,
            cross: config
                .pipe(direction)
                .cross
                .iter()
                .zip(FIRST_CROSS_STREAM..)
                .map(|(cross, stream)| CrossFlow::new(cross, derive(setup.seed, stream)))
                .collect(),
            first_cross: (0, config.access.len() as u32),
        }
    }

    /// Takes a slot for each cross traffic from `first` on; returns the first that is still free.
    pub(super) fn take_cross_slots(&mut self, first: u32) -> u32 {
        self.first_cross.0 = first;
        first + self.cross.len() as u32
    }

    /// Sets the slots of cross traffic.
    pub(super) fn start_cross(&self, schedule: &mut Schedule) {
        for (cross, slot) in self.cross.iter().zip(self.first_cross.0..) {
            schedule.set(slot, cross.next_at());
        }
    }

    /// The cross traffic of a slot has a packet.
    pub(super) fn cross<P>(
        &mut self,
        now: Time,
        slot: u32,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let (first_slot, first_flow) = self.first_cross;
        let number = slot - first_slot;
        let cross = &mut self.cross[number as usize];
        let bytes = cross.take();
        context.schedule.set(slot, cross.next_at());
        if let Some(bytes) = bytes {
            context.tap.on_cross(now, self.direction, bytes);
            self.enter(now, Handle::of_cross(first_flow + number, bytes), context);
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
        packet: Handle,
        context: &mut Context<'_, P, impl Tap<P>>,
    ) {
        let direction = self.direction;
        let offer = self.pipe.offer(now, packet, |packet, cause| {
            context.drop(now, direction, packet, cause);
        });
        match offer {
            Offer::Serving(until) => context.set_departure(self.link_slot, Some(until)),
            Offer::Passed(packet) => self.leave(now, packet, Duration::ZERO, context),
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
        if packet.is_cross() {
            return;
        }
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
                if let Some(detour) = self.pipe.detour() {
                    context.packets.note_detour(packet.id(), detour);
                }
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
