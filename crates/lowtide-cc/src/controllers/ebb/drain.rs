//! Drains: short cuts of the window that show the path's own delay.
//!
//! A link that moves empties its queue by itself, for the law leaves it idle now and then. On a
//! calm one a few packets always wait, and with several flows more: then no RTT shows the path
//! without a queue, and a flow that comes late takes the others' queue for the path's. One flow that
//! drains empties nothing but its own share. So all of a link's flows drain at about the same time,
//! by what all of them see: the age of the least RTT, and the fall of the queue when others begin.

use crate::estimators::{Minimum, Windowed};
use crate::units::{Duration, Time};

/// Age of the least RTT, in round trips, at which a calm flow drains.
const PATIENCE_ROUND_TRIPS: u64 = 75;
/// The least age at which a calm flow drains.
const SHORTEST: Duration = Duration::from_millis(500);
/// The greatest age at which a calm flow drains. Without a sample near the minimum for so long any
/// flow drains.
const LONGEST: Duration = Duration::from_secs(10);
/// A margin below this means a calm link.
pub(super) const CALM: f64 = 0.02;
/// Rounds that a drain lasts at most: in the first the window takes effect, in the second it shows.
const ROUNDS: u64 = 2;
/// A drain ends as soon as an RTT is below this multiple of the minimum.
const EMPTY: f64 = 1.01;
/// A min RTT below this multiple of what it was has fallen.
const SHORTER: f64 = 0.98;
/// After a drain, rounds until the queue stands as it will, and until its fall is others' doing.
const SETTLED: u64 = 6;
const JOINABLE: u64 = 20;
/// Others drain when the standing queue falls by this share, and by no less than this.
const FALL: f64 = 0.3;
const LEAST_FALL: Duration = Duration::from_micros(500);

/// When to drain, and which packets belong to the last drain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    /// Round trips since it began or ended.
    rounds: u64,
    began_at: Option<Time>,
    ended_at: Time,
    /// The least RTT of late.
    least: Windowed<Duration, Minimum>,
    /// The min RTT when it began.
    min_rtt: Duration,
    /// The least standing queue since the last drain.
    plateau: Option<Duration>,
}

impl Drain {
    pub(super) fn new() -> Self {
        Self {
            rounds: 0,
            began_at: None,
            ended_at: Time::ZERO,
            least: Windowed::new(0),
            min_rtt: Duration::ZERO,
            plateau: None,
        }
    }

    /// A round has ended whose packets all met `queueing`, if it had any.
    pub(super) fn on_round(&mut self, queueing: Option<Duration>) {
        self.rounds += 1;
        if let Some(queueing) = queueing
            && self.rounds > SETTLED
        {
            let least = |plateau: Duration| plateau.min(queueing);
            self.plateau = Some(self.plateau.map_or(queueing, least));
        }
    }

    /// Since when there is none.
    pub(super) fn ended_at(&self) -> Time {
        self.ended_at
    }

    /// An RTT sample. Whether to drain; `unconfirmed`: how long no sample was near the minimum.
    pub(super) fn is_due(
        &mut self,
        now: Time,
        rtt: Duration,
        min_rtt: Duration,
        margin: f64,
        unconfirmed: Duration,
        competes: bool,
    ) -> bool {
        let patience = (min_rtt * PATIENCE_ROUND_TRIPS).max(SHORTEST).min(LONGEST);
        let aged = self.least_has_aged(now, rtt, patience);
        let joins = self.rounds > JOINABLE
            && self.plateau.is_some_and(|plateau| {
                rtt - min_rtt + plateau.mul_f64(FALL).max(LEAST_FALL) < plateau
            });
        margin < CALM && (aged && !competes || joins) || unconfirmed > LONGEST && !competes
    }

    /// Whether the least RTT of late is so old that a larger one has taken its place.
    fn least_has_aged(&mut self, now: Time, rtt: Duration, patience: Duration) -> bool {
        self.least.set_window(patience.as_nanos());
        let before = self.least.get();
        let least = self.least.update(now.as_nanos(), rtt);
        before.is_some_and(|before| least > before)
    }

    /// A drain begins.
    pub(super) fn begin(&mut self, now: Time, min_rtt: Duration) {
        self.rounds = 0;
        self.min_rtt = min_rtt;
        self.began_at = Some(now);
        self.plateau = None;
    }

    /// Whether the drain has shown what it can, with this newest RTT.
    pub(super) fn is_over(&self, rtt: Duration, min_rtt: Duration) -> bool {
        self.is_whole() || self.rounds >= 1 && rtt <= min_rtt.mul_f64(EMPTY)
    }

    /// Whether it has lasted for as long as drains may.
    pub(super) fn is_whole(&self) -> bool {
        self.rounds >= ROUNDS
    }

    /// Whether the min RTT has fallen in it, so that the queue is not as empty as it looks.
    pub(super) fn has_shortened(&self, min_rtt: Duration) -> bool {
        min_rtt < self.min_rtt.mul_f64(SHORTER)
    }

    /// Ends the drain.
    pub(super) fn end(&mut self, now: Time) {
        self.rounds = 0;
        self.ended_at = now;
    }

    /// Whether a packet sent then was sent in the last drain or before: what it meets says nothing
    /// of the window that came after.
    pub(super) fn precedes_end(&self, sent_at: Time) -> bool {
        sent_at < self.ended_at
    }

    /// Whether it was sent during the last drain.
    pub(super) fn covers(&self, sent_at: Time) -> bool {
        self.precedes_end(sent_at) && self.began_at.is_some_and(|began| sent_at >= began)
    }
}
