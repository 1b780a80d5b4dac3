//! Drains: short cuts of the window that show the path's own delay.
//!
//! A link that moves empties its queue by itself, for the law leaves it idle now and then. On a
//! calm one a few packets always wait, and with several flows more: then no RTT shows the path
//! without a queue, and a flow that comes late takes the others' queue for the path's. One flow that
//! drains empties nothing but its own share. So all of a link's flows drain at about the same time,
//! by what all of them see: the age of the least RTT.

use super::Tuning;
use crate::estimators::{Minimum, Windowed};
use crate::units::{Duration, Time};

/// A drain's length at most: in the first round the window takes effect, in the second it shows.
const ROUNDS: u32 = 2;

/// When to drain, and which packets belong to the last drain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    /// Round trips since it began.
    rounds: u32,
    began_at: Time,
    ended_at: Time,
    /// The window when it began, bytes.
    cwnd: f64,
    /// The least RTT of late.
    least: Windowed<Duration, Minimum>,
}

impl Drain {
    pub(super) fn new(t: &Tuning) -> Self {
        Self {
            rounds: 0,
            began_at: Time::ZERO,
            ended_at: Time::ZERO,
            cwnd: 0.0,
            least: Windowed::new(Duration::from_secs(1).mul_f64(t.patience).as_nanos()),
        }
    }

    pub(super) fn on_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// How long ago the last one ended.
    pub(super) fn pause(&self, now: Time) -> Duration {
        now.since(self.ended_at)
    }

    /// Whether the least RTT of late is so old that a larger one has taken its place.
    pub(super) fn has_aged(&mut self, now: Time, rtt: Duration) -> bool {
        let before = self.least.get();
        let least = self.least.update(now.as_nanos(), rtt);
        before.is_some_and(|before| least > before)
    }

    /// It begins, with a window of `cwnd` bytes before the cut.
    pub(super) fn begin(&mut self, now: Time, cwnd: f64) {
        self.rounds = 0;
        self.began_at = now;
        self.cwnd = cwnd;
    }

    /// The window when it began, bytes.
    pub(super) fn cwnd_before(&self) -> f64 {
        self.cwnd
    }

    /// Whether it has lasted for as long as drains may.
    pub(super) fn is_whole(&self) -> bool {
        self.rounds >= ROUNDS
    }

    /// Whether it has shown what it can.
    pub(super) fn is_over(&self, is_empty: bool) -> bool {
        self.is_whole() || self.rounds >= 1 && is_empty
    }

    pub(super) fn end(&mut self, now: Time) {
        self.ended_at = now;
    }

    /// Whether a packet sent then was sent in the last drain or before: what it meets says nothing
    /// of the window that came after.
    pub(super) fn precedes_end(&self, sent_at: Time) -> bool {
        sent_at < self.ended_at
    }

    /// Whether it was sent during the last drain.
    pub(super) fn covers(&self, sent_at: Time) -> bool {
        self.precedes_end(sent_at) && sent_at >= self.began_at
    }
}
