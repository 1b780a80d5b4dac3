//! §6: rounds.

use lowtide_cc::units::{Duration, Time};

use super::least;

#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) count: u64,
    pub(super) standing: Duration,
    pub(super) least_q: Option<Duration>,
    pub(super) began: Time,
    pub(super) cwnd: f64,
    pub(super) used_max: u64,
    next: u64,
    ends_at: u64,
}

impl Round {
    pub(super) fn sent(&mut self, number: u64) {
        self.next = self.next.max(number.saturating_add(1));
    }

    pub(super) fn acked(&mut self, last: u64, prior: u64) -> bool {
        self.used_max = self.used_max.max(prior);
        let ends = last >= self.ends_at;
        if ends {
            self.count += 1;
            self.restart();
        }
        ends
    }

    pub(super) fn restart(&mut self) {
        self.ends_at = self.next;
    }

    pub(super) fn arrival(&mut self, q: Duration) {
        self.least_q = least(self.least_q, Some(q));
    }

    pub(super) fn met(&self) -> Duration {
        self.least_q.unwrap_or(self.standing)
    }

    pub(super) fn stood(&self) -> Duration {
        self.met().min(self.standing)
    }
}
