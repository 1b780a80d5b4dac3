//! Drain: send slower than the bottleneck until the queue of Startup is gone (§5.3.2).

use super::Bbr3;
use super::phase::Phase;
use crate::units::{Bytes, Time};

/// Rounds after which draining is given up: the bandwidth was then overestimated, which the next
/// cycles of ProbeBW set right (§5.3.2).
const MAX_ROUNDS: u64 = 3;

impl Bbr3 {
    pub(super) fn enter_drain(&mut self) {
        self.enter(Phase::Drain);
        self.drain_began_at_round = self.model.rounds.count();
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, now: Time, inflight: Bytes) {
        if self.model.phase != Phase::Drain {
            return;
        }
        let is_drained = inflight <= self.model.drained_inflight(self.model.bandwidth);
        if is_drained || self.model.rounds.count() > self.drain_began_at_round + MAX_ROUNDS {
            self.start_down(now);
        }
    }
}
