//! Drains: short cuts of the window that show the path's own delay.
//!
//! A link that moves empties its queue by itself, for the law leaves it idle now and then. On a
//! calm one a few packets always wait, and with several flows more: then no RTT shows the path
//! without a queue, and a flow that comes late takes the others' queue for the path's. One flow that
//! drains empties nothing but its own share. So all of a link's flows drain at about the same time,
//! by what all of them see: the age of the least RTT, and the fall of the queue when others begin.

use crate::estimators::{Minimum, Windowed};
use crate::units::{Duration, Time};

/// Age of the least RTT at which a calm flow drains. The same for all, whatever their RTT or what they
/// take for it, for those that see the same least RTT are to drain together.
const PATIENCE: Duration = Duration::from_secs(3);
/// Without a sample near the minimum for so long any flow drains, calm or not.
const LONGEST: Duration = Duration::from_secs(10);
/// A margin below this means a calm link.
pub(super) const CALM: f64 = 0.02;
/// Rounds that a drain lasts at most: in the first the window takes effect, in the second it shows.
const ROUNDS: u64 = 2;
/// It ends as soon as an RTT is so close to the minimum.
const EMPTY: f64 = 1.01;
/// After a drain, rounds until the queue stands as it will, and until its fall is others' doing.
const SETTLED: u64 = 6;
const JOINABLE: u64 = 20;
/// Others drain when the standing queue falls by this share, and by no less than this.
const FALL: f64 = 0.3;
/// The same of a flow that holds, which sees others' queue, and how long after a drain at the soonest.
const HELD_FALL: f64 = 0.2;
const HELD_PAUSE: Duration = Duration::from_secs(5);
const LEAST_FALL: Duration = Duration::from_micros(500);

/// Why a flow drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// By its own clock.
    Own,
    /// Others drain.
    Others,
}

/// When to drain, and which packets belong to the last drain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    /// Round trips since it began or ended.
    rounds: u64,
    began_at: Option<Time>,
    ended_at: Time,
    /// The least RTT of late.
    least: Windowed<Duration, Minimum>,
    /// The least standing queue since the last drain.
    plateau: Option<Duration>,
}

impl Drain {
    pub(super) fn new() -> Self {
        Self {
            rounds: 0,
            began_at: None,
            ended_at: Time::ZERO,
            least: Windowed::new(PATIENCE.as_nanos()),
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

    /// An RTT sample. Whether to drain, and why; `unconfirmed`: how long no sample was near the minimum.
    pub(super) fn is_due(
        &mut self,
        now: Time,
        rtt: Duration,
        min_rtt: Duration,
        margin: f64,
        unconfirmed: Duration,
        holds: bool,
    ) -> Option<Why> {
        let aged = self.least_has_aged(now, rtt);
        if margin < CALM && aged || unconfirmed > LONGEST {
            return Some(Why::Own);
        }
        let (may_join, fall) = if holds {
            (now.since(self.ended_at) > HELD_PAUSE, HELD_FALL)
        } else {
            (margin < CALM, FALL)
        };
        let joins = self.rounds > JOINABLE
            && self.plateau.is_some_and(|plateau| {
                rtt - min_rtt + plateau.mul_f64(fall).max(LEAST_FALL) < plateau
            });
        (may_join && joins).then_some(Why::Others)
    }

    /// Whether the least RTT of late is so old that a larger one has taken its place.
    fn least_has_aged(&mut self, now: Time, rtt: Duration) -> bool {
        let before = self.least.get();
        let least = self.least.update(now.as_nanos(), rtt);
        before.is_some_and(|before| least > before)
    }

    /// A drain begins.
    pub(super) fn begin(&mut self, now: Time) {
        self.rounds = 0;
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

    /// It ends.
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
