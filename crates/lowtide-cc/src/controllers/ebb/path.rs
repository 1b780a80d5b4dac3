//! The path's own delay: what an RTT is when the flow meets no queue.
//!
//! The least RTT is a lower bound that single packets reach. On a path with jitter most do not, and
//! a window that is made for it starves the flow. There the least of the rounds' mean RTTs is the
//! path's own delay, as far as drains empty the queue. On a link whose rate moves a mean holds some
//! queue: there the law has a margin above zero, and by that measure the least RTT counts instead.

use super::least::Least;
use crate::units::{Duration, Time};

/// A sample up to this multiple of the minimum confirms it.
const NEAR: f64 = 1.03;
/// Fewer samples than this do not show a round's mean.
const SAMPLES: u64 = 8;

/// What is known of the path's delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    minimum: Least<Duration>,
    /// The least mean RTT of a round.
    mean: Least<Duration>,
    confirmed_at: Time,
    latest: Duration,
    round: Samples,
    /// The least RTT of the round under way, and of the last one.
    least: Option<Duration>,
    last_least: Option<Duration>,
    /// The minima are not forgotten.
    held: bool,
}

/// The RTTs of a round.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    count: u64,
    sum: Duration,
}

impl Path {
    /// The least RTT of an acknowledgment's packets.
    pub(super) fn on_rtt(&mut self, now: Time, rtt: Duration) {
        if !self.held {
            self.minimum.turn(now);
            self.mean.turn(now);
        }
        if self
            .minimum
            .get()
            .is_none_or(|min| rtt <= min.mul_f64(NEAR))
        {
            self.confirmed_at = now;
        }
        self.minimum.add(rtt);
        self.latest = rtt;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.round.sum += rtt;
        self.round.count += 1;
    }

    /// A round has ended.
    pub(super) fn on_round(&mut self) {
        self.last_least = self.least.take();
        if self.round.count < SAMPLES {
            return;
        }
        self.mean.add(self.round.sum.div(self.round.count));
        self.round = Samples::default();
    }

    /// RTT of a packet that meets no queue. `calm`, from 0 to 1, tells how much of a mean RTT above
    /// the least one can be the path's: `jitter` times what it is, but for `own` min RTTs, in which
    /// the flow's own packets wait for each other. `None` before the first sample.
    pub(super) fn min_rtt(&self, calm: f64, jitter: f64, own: f64) -> Option<Duration> {
        let minimum = self.minimum.get()?.max(Duration::from_nanos(1));
        let mean = self.mean.get().unwrap_or(minimum);
        let excess = (mean - minimum).mul_f64(jitter) - minimum.mul_f64(own);
        Some(minimum + excess.mul_f64(calm))
    }

    /// The least RTT since the last round began.
    pub(super) fn lately(&self) -> Duration {
        let both = self.least.into_iter().chain(self.last_least);
        both.min().unwrap_or_default()
    }

    /// The newest sample.
    pub(super) fn latest(&self) -> Duration {
        self.latest
    }

    /// The path has another minimum.
    pub(super) fn replace(&mut self, now: Time, min_rtt: Duration) {
        self.minimum.restart(now, min_rtt);
        self.mean = Least::default();
    }

    /// Holds the minima while others' queue hides them, or no more.
    pub(super) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// How long no sample has been close to the minimum.
    pub(super) fn unconfirmed(&self, now: Time) -> Duration {
        now.since(self.confirmed_at)
    }

    /// Begins to wait for the next confirmation.
    pub(super) fn wait_anew(&mut self, now: Time) {
        self.confirmed_at = now;
    }
}
