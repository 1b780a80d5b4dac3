//! The omniscient sender's view of the bottleneck.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::link::Server;
use crate::transport::sender::SlotSource;

/// The bottleneck's transmissions as they would be if it were never idle, handed out one by one to
/// the oracle's flows.
#[derive(Debug)]
pub(super) struct BottleneckSlots {
    server: Server,
}

impl BottleneckSlots {
    pub(super) fn new(server: Server) -> Self {
        Self { server }
    }

    /// The slots as seen by a flow whose packets need some time to reach the bottleneck.
    pub(super) fn seen_from(&mut self, delay: Duration, rate: Option<Rate>) -> SlotsSeenFrom<'_> {
        SlotsSeenFrom {
            slots: self,
            delay,
            rate,
        }
    }
}

pub(super) struct SlotsSeenFrom<'a> {
    slots: &'a mut BottleneckSlots,
    delay: Duration,
    rate: Option<Rate>,
}

impl SlotSource for SlotsSeenFrom<'_> {
    fn claim(&mut self, now: Time, bytes: Bytes) -> Time {
        let upstream = self.delay + self.rate.map_or(Duration::ZERO, |r| r.time_for(bytes));
        let slot = self.slots.server.next_slot(now + upstream, bytes);
        slot.arrive_by - upstream
    }
}
