//! Whether the link is the flow's own: the evidence, and what it leads to.
//!
//! A drain is an experiment: it empties the queue of a link of one's own, and of one that is shared with flows
//! of this kind, since they drain at the same time. A queue that stays is that of others.

use super::Tuning;
use crate::units::Duration;

/// What a drain has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drained {
    /// The queueing delay that all packets met.
    pub(super) queueing: Duration,
    /// How much of it batches of acknowledgments make.
    pub(super) explained: Duration,
    /// It had its whole time, and the link hardly idled before.
    pub(super) busy: bool,
}

/// Drains that contradict what is believed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    drains: u32,
    /// Shared: the least RTT since.
    least: Duration,
}

impl Evidence {
    /// Drains in a row, or nearly.
    pub(super) fn drains(&self) -> u32 {
        self.drains
    }

    pub(super) fn any(&self) -> bool {
        self.drains > 0
    }

    /// Shared: the least RTT since.
    pub(super) fn least(&self) -> Duration {
        self.least
    }

    /// What is believed has changed.
    pub(super) fn restart(&mut self, min_rtt: Duration) {
        *self = Self {
            drains: 0,
            least: min_rtt,
        };
    }

    /// The link was believed to be the flow's own. Whether it is not.
    pub(super) fn against_own(&mut self, t: &Tuning, drained: &Drained, min_rtt: Duration) -> bool {
        let queue = min_rtt.mul_f64(t.others)
            + Duration::from_millis(1).mul_f64(t.others_noise)
            + drained.explained;
        let others = drained.queueing > queue;
        if others && drained.busy {
            self.drains += 1;
        } else {
            self.drains = self.drains.saturating_sub(1);
        }
        self.drains >= t.twice
    }

    /// The link was believed to be shared. Whether it is not.
    pub(super) fn against_shared(
        &mut self,
        t: &Tuning,
        drained: &Drained,
        min_rtt: Duration,
    ) -> bool {
        self.least = self.least.min(min_rtt);
        let rtt = min_rtt + drained.queueing;
        let empty = rtt - self.least
            < self.least.mul_f64(t.queue)
                + Duration::from_millis(1).mul_f64(t.noise)
                + if t.x_pk > 0.0 {
                    drained.explained
                } else {
                    Duration::ZERO
                };
        self.drains = if empty { self.drains + 1 } else { 0 };
        self.drains >= t.twice
    }
}
