//! Hold: what a flow keeps while it does not know that the link is its own.
//!
//! A short queue can be kept on a link of one's own. Beside flows that keep a longer one it starves. So
//! there is one bit, and evidence for and against it: while the link is not known to be the flow's own,
//! the window does not go below what BBR would have (`Ebb2::envelope`). A mistake then costs a queue of
//! about a BDP, never the buffer, and the evidence may be light.
//!
//! ```text
//!        two drains leave others' queue, or 8 rounds of starvation
//!       ┌────────────────────────────────────────────────────────┐
//!   ┌───────┐                                                ┌───────┐
//!   │  own  │                                                │ held  │
//!   └───────┘                                                └───────┘
//!       └────────────────────────────────────────────────────────┘
//!        two drains of its own find the queue empty,
//!        or four leave the same RTT: the path is longer
//! ```
//!
//! A drain is an experiment. Who cuts his window by ΔW and is alone sees the queue fall by ΔW over the
//! link's rate, which is W/(T + Q) then. The part of this that it does fall by is the flow's share of
//! the link. Several flows of this kind drain together, so that the queue falls for each as if it were
//! alone.

use crate::estimators::{Maximum, Windowed};
use crate::units::{Bytes, Duration, Rate, Time};

/// A drain has failed if it leaves more queueing delay than this share of the min RTT …
const FULL: f64 = 0.15;
/// … and this, which timers and schedulers make …
const NOISE: Duration = Duration::from_millis(5);
/// … and if the cut shows no larger share of the link than this, where it shows any.
const SHARE: f64 = 0.6;
/// So many failures begin the hold. One may be a flow that has just come.
const FAILURES: u32 = 2;
/// A queue of less than this share of the min RTT …
const EMPTY: f64 = 0.1;
/// … and this is none, held.
const EMPTY_NOISE: Duration = Duration::from_millis(1);
/// So many drains in a row that empty the queue end the hold. One may be BBR's ProbeRTT.
const EMPTIED: u32 = 2;
/// So many that leave the same RTT as the one before, within this share of it, have found the path's
/// own.
const SAME_RTT: u32 = 3;
const SAME: f64 = 0.02;
/// With evidence the next drain comes after this time and so many round trips …
const LOOK: Duration = Duration::from_secs(1);
const LOOK_ROUND_TRIPS: u64 = 10;
/// … and held at the latest after this, as BBR's ProbeRTT.
const LOOK_AT_LAST: Duration = Duration::from_secs(10);
/// The flow starves with less than this share of the largest rate of this time …
const STARVED: f64 = 0.5;
const STARVED_MEMORY: Duration = Duration::from_secs(10);
/// … while the queue is longer than this share of the min RTT, and [`NOISE`] …
const STARVED_QUEUE: f64 = 0.5;
/// … for so many rounds: a link whose rate falls has shown it in less.
const STARVED_ROUNDS: u32 = 8;

/// What a drain has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drained {
    /// The queueing delay that all packets met.
    pub(super) queueing: Duration,
    /// How much of it batches of acknowledgments make.
    pub(super) explained: Duration,
    /// The flow's share of the link, where the cut was large enough to show it.
    pub(super) share: Option<f64>,
    /// It had its whole time, and the link hardly idled before.
    pub(super) busy: bool,
    /// It began by the flow's own clock, not because others drained.
    pub(super) timed: bool,
}

/// What comes of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing.
    Same,
    /// The hold has begun or ended.
    Changed,
    /// It has ended, for what looked like a queue is the path's own delay.
    Longer,
}

/// Whether the link is known to be the flow's own.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It is, but for so many drains that failed.
    Own { failures: u32 },
    /// It is not.
    Held {
        /// The least RTT since.
        least: Duration,
        /// Drains in a row that emptied the queue.
        emptied: u32,
        /// The RTT that the last drain left, and how many before it left the same.
        left: Duration,
        same: u32,
    },
}

/// The bit, and the evidence for it.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    state: State,
    /// The largest rate of late, and rounds in a row with much less.
    largest: Windowed<Rate, Maximum>,
    starved: u32,
}

impl Hold {
    pub(super) fn new() -> Self {
        Self {
            state: State::Own { failures: 0 },
            largest: Windowed::new(STARVED_MEMORY.as_nanos()),
            starved: 0,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        matches!(self.state, State::Held { .. })
    }

    /// It is on, or a drain has failed of late.
    pub(super) fn is_suspected(&self) -> bool {
        !matches!(self.state, State::Own { failures: 0 })
    }

    fn begin(&mut self, min_rtt: Duration) {
        debug_assert!(!self.is_on());
        self.starved = 0;
        self.state = State::Held {
            least: min_rtt,
            emptied: 0,
            left: Duration::ZERO,
            same: 0,
        };
    }

    /// Whether it is time for another drain, so long after the last one.
    pub(super) fn looks(&self, since_drain: Duration, min_rtt: Duration) -> bool {
        let soon = match self.state {
            State::Own { failures } => failures > 0,
            State::Held { emptied, same, .. } => emptied > 0 || same > 0,
        };
        soon && since_drain > LOOK.max(min_rtt * LOOK_ROUND_TRIPS)
            || self.is_on() && since_drain > LOOK_AT_LAST
    }

    /// A drain has ended.
    pub(super) fn on_drained(&mut self, drained: &Drained, min_rtt: Duration) -> Outcome {
        self.starved = 0;
        match &mut self.state {
            State::Own { failures } => {
                let others = drained.queueing > min_rtt.mul_f64(FULL) + NOISE + drained.explained
                    && drained.share.is_none_or(|share| share < SHARE);
                if others && drained.busy {
                    *failures += 1;
                    if *failures >= FAILURES {
                        self.begin(min_rtt);
                        return Outcome::Changed;
                    }
                } else if drained.timed {
                    *failures = failures.saturating_sub(1);
                }
                Outcome::Same
            }
            State::Held {
                least,
                emptied,
                left,
                same,
            } => {
                *least = (*least).min(min_rtt);
                let rtt = min_rtt + drained.queueing;
                let empty = rtt - *least < least.mul_f64(EMPTY) + EMPTY_NOISE;
                if drained.timed {
                    *emptied = if empty { *emptied + 1 } else { 0 };
                }
                let is_same = !empty && (rtt.ratio(*left) - 1.0).abs() <= SAME;
                *same = if is_same { *same + 1 } else { 0 };
                *left = rtt;
                let (emptied, longer) = (*emptied >= EMPTIED, *same >= SAME_RTT);
                if emptied || longer {
                    self.state = State::Own { failures: 0 };
                }
                match (emptied, longer) {
                    (true, _) => Outcome::Changed,
                    (false, true) => Outcome::Longer,
                    (false, false) => Outcome::Same,
                }
            }
        }
    }

    /// A round with this window has ended whose packets all met `queueing`. Whether it begins the hold.
    pub(super) fn on_round(
        &mut self,
        now: Time,
        cwnd: Bytes,
        queueing: Duration,
        min_rtt: Duration,
    ) -> bool {
        if self.is_on() {
            return false;
        }
        let rate = Rate::from_volume(cwnd, min_rtt + queueing);
        let largest = self.largest.update(now.as_nanos(), rate);
        let queued = queueing > min_rtt.mul_f64(STARVED_QUEUE) + NOISE;
        let starves = queued && rate.as_f64() < STARVED * largest.as_f64();
        self.starved = if starves { self.starved + 1 } else { 0 };
        if self.starved < STARVED_ROUNDS {
            return false;
        }
        self.begin(min_rtt);
        true
    }
}
