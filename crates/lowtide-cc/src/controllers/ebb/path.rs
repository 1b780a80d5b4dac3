//! The path's own delay: what an RTT is when the flow meets no queue.
//!
//! The minimum of the RTTs is a lower bound that single packets reach. On a path with jitter most
//! do not, and a window that is made for the minimum starves the flow. Within a round on a calm link
//! the queue hardly changes, so that the scatter of the RTTs, their mean above their least, is the
//! path's. On a link whose rate moves it is the queue's: there the law holds a margin above zero,
//! and by that measure the scatter is left out.

use super::least::Least;
use crate::units::{Duration, Time};

/// A sample up to this multiple of the minimum confirms it.
const NEAR: f64 = 1.03;
/// Fewer samples than this do not show a round's scatter.
const SAMPLES: u64 = 8;

/// What is known of the path's delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    minimum: Least<Duration>,
    confirmed_at: Time,
    latest: Duration,
    round: Samples,
    /// Mean scatter of a round, over about eight rounds.
    scatter: Duration,
    /// The minimum is not forgotten.
    held: bool,
}

/// The RTTs of a round.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    count: u64,
    sum: Duration,
    least: Duration,
}

impl Path {
    /// The least RTT of an acknowledgment's packets.
    pub(super) fn on_rtt(&mut self, now: Time, rtt: Duration) {
        if !self.held {
            self.minimum.turn(now);
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
        let round = &mut self.round;
        round.least = if round.count == 0 {
            rtt
        } else {
            round.least.min(rtt)
        };
        round.sum += rtt;
        round.count += 1;
    }

    /// A round has ended.
    pub(super) fn on_round(&mut self) {
        if self.round.count < SAMPLES {
            return;
        }
        let scatter = self.round.sum.div(self.round.count) - self.round.least;
        self.scatter = (self.scatter * 7 + scatter).div(8);
        self.round = Samples::default();
    }

    /// RTT of a packet that meets no queue. `calm`, from 0 to 1, tells how much of the scatter can
    /// be the path's; `batch` is the duration of a batch in min RTTs, which scatters RTTs, too.
    /// `None` before the first sample.
    pub(super) fn min_rtt(&self, calm: f64, share: f64, batch: f64) -> Option<Duration> {
        let minimum = self.minimum.get()?.max(Duration::from_nanos(1));
        let scatter = self.scatter.mul_f64(share) - minimum.mul_f64(batch);
        Some(minimum + scatter.mul_f64(calm))
    }

    /// The newest sample.
    pub(super) fn latest(&self) -> Duration {
        self.latest
    }

    /// The minimum is no more what it was.
    pub(super) fn replace(&mut self, now: Time, min_rtt: Duration) {
        self.minimum.restart(now, min_rtt);
        self.scatter = Duration::ZERO;
    }

    /// Holds the minimum while others' queue hides it, or no more.
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
