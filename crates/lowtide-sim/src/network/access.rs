//! A flow's own link to or from the shared path, in one direction.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

/// A FIFO link without a limit to its queue. It knows only until when it is busy, so that the time
/// a packet leaves is known when it enters and no event is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessLink {
    rate: Option<Rate>,
    delay: Duration,
    free_at: Time,
}

impl AccessLink {
    /// An idle link; without a rate it takes only its delay.
    pub(super) fn new(rate: Option<Rate>, delay: Duration) -> Self {
        Self {
            rate,
            delay,
            free_at: Time::ZERO,
        }
    }

    /// When a packet of `bytes` that enters at `entry` arrives.
    #[inline]
    pub(super) fn pass(&mut self, entry: Time, bytes: Bytes) -> Time {
        match self.rate {
            None => entry + self.delay,
            Some(rate) => {
                self.free_at = self.free_at.max(entry) + rate.time_for(bytes);
                self.free_at + self.delay
            }
        }
    }

    /// The delay, where nothing else tells the packets of two flows apart: those of equal delay
    /// come out in the order in which they went in.
    pub(super) fn shared_delay(&self) -> Option<Duration> {
        self.rate.is_none().then_some(self.delay)
    }
}

/// The access links of all flows at one place.
#[derive(Debug)]
pub(super) struct AccessLinks {
    links: Vec<AccessLink>,
    /// The delay of all of them, if they take nothing else: with thousands of flows their links are
    /// a good part of what the processor's cache holds.
    common: Option<Duration>,
}

impl AccessLinks {
    pub(super) fn new(links: Vec<AccessLink>) -> Self {
        let common = links.first().and_then(AccessLink::shared_delay);
        let is_common = links.iter().all(|l| l.shared_delay() == common);
        Self {
            links,
            common: common.filter(|_| is_common),
        }
    }

    /// When a packet of `bytes` of a flow that enters at `entry` arrives.
    #[inline]
    pub(super) fn pass(&mut self, flow: u32, entry: Time, bytes: Bytes) -> Time {
        match self.common {
            Some(delay) => entry + delay,
            None => self.links[flow as usize].pass(entry, bytes),
        }
    }

    /// [`AccessLink::shared_delay`] of each flow's.
    pub(super) fn shared_delays(&self) -> impl Iterator<Item = Option<Duration>> {
        self.links.iter().map(AccessLink::shared_delay)
    }
}
