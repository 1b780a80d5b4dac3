//! The omniscient sender's view of the bottleneck.

use lowtide_cc::units::{Bytes, Duration, Time};

use crate::network::AccessConfig;
use crate::network::link::Server;
use crate::transport::sender::SlotSource;

/// The bottleneck's transmissions as they would be if it were never idle, handed out one by one to
/// the oracle's flows.
#[derive(Debug)]
pub(super) struct BottleneckSlots {
    server: Server,
    /// Whether there is an oracle, and others send over its links as well.
    are_shared: bool,
}

impl BottleneckSlots {
    pub(super) fn new(server: Server, are_shared: bool) -> Self {
        Self { server, are_shared }
    }

    /// Packets of others take up slots, too, where there is an oracle that they matter to.
    #[inline]
    pub(super) fn give_away(&mut self, now: Time, bytes: Bytes) {
        if self.are_shared {
            self.server.next_slot(now, bytes);
        }
    }

    /// The slots as seen by a flow whose packets need some time to reach the bottleneck.
    #[inline]
    pub(super) fn seen_from<'a>(&'a mut self, access: &'a AccessConfig) -> SlotsSeenFrom<'a> {
        SlotsSeenFrom {
            slots: self,
            access,
        }
    }
}

pub(super) struct SlotsSeenFrom<'a> {
    slots: &'a mut BottleneckSlots,
    access: &'a AccessConfig,
}

impl SlotSource for SlotsSeenFrom<'_> {
    fn claim(&mut self, now: Time, bytes: Bytes) -> Time {
        let rate = self.access.sender_rate;
        let transmission = rate.map_or(Duration::ZERO, |r| r.time_for(bytes));
        let upstream = self.access.sender_delay + transmission;
        let slot = self.slots.server.next_slot(now + upstream, bytes);
        slot.arrive_by - upstream
    }
}
