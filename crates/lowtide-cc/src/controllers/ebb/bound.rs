//! The bound on the window that marks of L4S queues set.
//!
//! ECT(1) promises an answer in proportion to the marks (RFC 9331 §4.3), whatever the law thinks of the
//! queue. So from the first mark on a window is kept beside the law's that gives this answer, Prague's,
//! and binds while it is the smaller one. Without marks it grows until it bounds nothing, and is
//! forgotten.

use super::shadow::Shadow;
use crate::controller::Config;
use crate::controllers::prague::Prague;
use crate::units::Time;

/// A bound that is so many times the window bounds nothing.
const FORGOTTEN: f64 = 2.0;

/// The bound, while there is one.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) prague: Shadow<Prague>,
}

impl Bound {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            prague: Shadow::new(config),
        }
    }

    /// Takes newly marked packets, with a window of `cwnd` bytes.
    pub(super) fn on_marks(&mut self, now: Time, sent_at: Time, marked: u64, cwnd: f64) {
        if !self.prague.is_on() {
            self.prague.start(now, cwnd, Prague::in_avoidance);
        }
        self.prague.on_ecn_ce(now, sent_at, marked);
    }

    /// The part of a window, bytes, that the bound leaves.
    pub(super) fn apply(&mut self, window: f64) -> f64 {
        let Some(most) = self.prague.window() else {
            return window;
        };
        if most > FORGOTTEN * window {
            self.prague.stop();
        }
        window.min(most)
    }

    /// Whether it leaves no more than `window`.
    pub(super) fn binds(&self, window: f64) -> bool {
        self.prague.window().is_some_and(|most| most <= window)
    }
}
