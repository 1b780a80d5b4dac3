//! Drains: short cuts of the window that show the path's own delay.
//!
//! A link that moves empties its queue by itself, for the law leaves it idle now and then. On a
//! steady one a few packets always wait, and with several flows more: then no RTT shows the path
//! without a queue, and a flow that comes late would take the others' queue for the path's. All of
//! them see the same queue; so all of them drain at about the same time, and it empties.

use super::path::Path;
use crate::units::{Duration, Time};

/// Round trips without a confirmed minimum after which a calm flow drains …
const PATIENCE_ROUND_TRIPS: u64 = 50;
/// … but not more often than this …
const SHORTEST: Duration = Duration::from_millis(500);
/// … and not less often, calm or not.
const LONGEST: Duration = Duration::from_secs(10);
/// A queue of this share of the min RTT beyond what the window's margin makes is a reason by itself:
/// another flow has come.
const FOREIGN: f64 = 0.125;
/// Rounds between two drains for that reason.
const PAUSE: u64 = 10;
/// Rounds that a drain lasts at most: in the first the window takes effect, in the second it shows.
pub(super) const ROUNDS: u64 = 2;
/// A margin below this means a calm link.
const CALM: f64 = 0.02;

/// When to drain, and from what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Drain {
    began_in: u64,
    /// The least queueing delay in the round under way, and in the last whole one.
    least: Option<Duration>,
    standing: Duration,
}

impl Drain {
    pub(super) fn on_arrival(&mut self, queueing: Duration) {
        self.least = Some(self.least.map_or(queueing, |least| least.min(queueing)));
    }

    pub(super) fn on_round(&mut self) {
        if let Some(least) = self.least.take() {
            self.standing = least;
        }
    }

    /// The queueing delay that every packet of the last round met.
    pub(super) fn standing(&self) -> Duration {
        self.standing
    }

    /// A drain begins in this round.
    pub(super) fn begin(&mut self, round: u64) {
        self.began_in = round;
    }

    /// Whether the drain has had its time.
    pub(super) fn is_over(&self, round: u64) -> bool {
        round.saturating_sub(self.began_in) >= ROUNDS
    }

    /// Whether to drain. `own` is the queueing delay that the flow's own margin makes.
    pub(super) fn is_due(
        &self,
        now: Time,
        path: &Path,
        min_rtt: Duration,
        margin: f64,
        own: Duration,
        round: u64,
    ) -> bool {
        let unconfirmed = path.unconfirmed(now);
        if unconfirmed > LONGEST {
            return true;
        }
        let patience = (min_rtt * PATIENCE_ROUND_TRIPS).max(SHORTEST);
        let foreign = self.standing > min_rtt.mul_f64(FOREIGN) + own
            && round.saturating_sub(self.began_in) > PAUSE;
        margin < CALM && (unconfirmed > patience || foreign)
    }
}
