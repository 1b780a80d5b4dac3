//! Competition with flows that fill the buffer.
//!
//! A flow that keeps queues short beside one that fills them is left with crumbs. Then it must fill
//! them, too, and no faster than the other: its window is CUBIC's where that is larger than the
//! law's.
//!
//! The mode is entered by evidence that the queue is another's and that the other fills the buffer:
//! the flow drained, several times, and its packets met a queue all the same; and packets were lost
//! while there was a queue. Neither jitter nor a link whose rate falls gives both. Several flows of
//! this kind leave the mode together, for they join each other's drains; it ends when drains find
//! the queue empty, or when the buffer has not overflowed for long.

use super::shadow::Shadow;
use crate::controller::{Config, LossEvent};
use crate::controllers::cubic::{Cubic, HyStart};
use crate::units::{Duration, Time};

/// A drain failed if it left more queueing delay than this share of the min RTT, and `NOISE`
/// besides.
const FULL: f64 = 0.15;
/// Queueing delay that timers and schedulers make.
const NOISE: Duration = Duration::from_millis(5);
/// In the mode, a drain that leaves less than this share of the min RTT has emptied the queue.
const EMPTY: f64 = 0.05;
/// Failed drains that are evidence of others.
const FAILURES: u32 = 3;
/// Failures that each successful drain takes back.
const SUCCESS: u32 = 2;
/// The most failures that are remembered.
const MOST_FAILURES: u32 = 8;
/// Drains in a row that emptied the queue which are evidence that others have left.
const EMPTIED: u32 = 2;
/// How long a loss counts as evidence: a CUBIC flow on a large buffer loses once in tens of
/// seconds.
const OVERFLOW_COUNTS: Duration = Duration::from_secs(60);
/// In the mode, how often the flow looks for its end: a time, and round trips.
const LOOK: Duration = Duration::from_secs(4);
const LOOK_ROUND_TRIPS: u64 = 25;
/// In the mode, when the flow looks again once it has found the queue empty.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const LOOK_AGAIN_ROUND_TRIPS: u64 = 10;
/// Drains in a row that leave the same RTT, within a share, after which that RTT is taken for the
/// path's own.
const SAME_RTT: u32 = 3;
const SAME: f64 = 0.01;
/// Time without a loss after which no other flow fills the buffer: such a flow loses packets.
const NO_LOSS: Duration = Duration::from_secs(15);
/// How long the mode is barred after it found no other flow.
const BARRED: Duration = Duration::from_secs(60);

/// What comes of a drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing.
    Same,
    /// The mode has begun or ended.
    Changed,
    /// The mode has ended, for what looked like a queue is the path's own delay.
    Longer,
}

/// What a drain has shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drained {
    /// The queueing delay that all packets met.
    pub(super) queueing: Duration,
    /// How much of it batches of acknowledgments make.
    pub(super) explained: Duration,
    /// The drain had its whole time, and the link was not seen to idle before.
    pub(super) busy: bool,
    /// The min RTT fell in it, so that the queue was not as empty as it looks.
    pub(super) shortened: bool,
}

/// The mode, and the evidence for it.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    /// CUBIC in the flow's place, while the mode lasts.
    pub(super) rival: Shadow<Cubic>,
    /// Failed drains; in the mode, drains in a row that emptied the queue.
    evidence: u32,
    /// The last loss while there was a queue, and the last loss at all.
    overflow_at: Option<Time>,
    /// The RTT that the last drain of the mode left, and how many before it left the same.
    left_rtt: Duration,
    same: u32,
    lost_at: Time,
    barred_until: Time,
}

impl Competition {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rival: Shadow::new(config),
            evidence: 0,
            overflow_at: None,
            left_rtt: Duration::ZERO,
            same: 0,
            lost_at: Time::ZERO,
            barred_until: Time::ZERO,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.rival.is_on()
    }

    /// The mode is on, or a drain has failed of late.
    pub(super) fn is_suspected(&self) -> bool {
        self.is_on() || self.evidence > 0
    }

    /// The window that CUBIC would have, bytes; 0 outside the mode.
    pub(super) fn window(&self) -> f64 {
        self.rival.window().unwrap_or(0.0)
    }

    /// Packets were lost, while packets met a queue or not.
    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>, queued: bool) {
        self.lost_at = loss.now;
        if queued {
            self.overflow_at = Some(loss.now);
        }
        self.rival.on_loss(loss);
    }

    /// Packets were marked: a queue says that it is too long.
    pub(super) fn on_marks(&mut self, now: Time, sent_at: Time, marked: u64) {
        self.lost_at = now;
        self.overflow_at = Some(now);
        self.rival.on_ecn_ce(now, sent_at, marked);
    }

    /// Whether it is time to look for the end of the mode, so long after the last drain. In minimum
    /// RTTs: a flow that has been left alone with a deep buffer makes its own RTT ever longer.
    pub(super) fn looks(&self, since_drain: Duration, min_rtt: Duration) -> bool {
        let (pause, round_trips) = if self.evidence > 0 {
            (LOOK_AGAIN, LOOK_AGAIN_ROUND_TRIPS)
        } else {
            (LOOK, LOOK_ROUND_TRIPS)
        };
        self.is_on() && since_drain > pause.max(min_rtt * round_trips)
    }

    /// A drain has ended. `cwnd`: the law's window.
    pub(super) fn on_drained(
        &mut self,
        now: Time,
        drained: &Drained,
        min_rtt: Duration,
        cwnd: f64,
    ) -> Outcome {
        if self.is_on() {
            let empty = drained.queueing < min_rtt.mul_f64(EMPTY);
            self.evidence = if empty && !drained.shortened {
                self.evidence + 1
            } else {
                0
            };
            let rtt = min_rtt + drained.queueing;
            let is_same = (rtt.ratio(self.left_rtt) - 1.0).abs() <= SAME;
            self.same = if is_same && !empty { self.same + 1 } else { 0 };
            self.left_rtt = rtt;
            let longer = self.same >= SAME_RTT;
            let unopposed = !empty && now.since(self.lost_at) > NO_LOSS;
            if unopposed {
                self.barred_until = now + BARRED;
            }
            let ends = longer || unopposed || self.evidence >= EMPTIED;
            if ends {
                self.rival.stop();
                self.evidence = 0;
            }
            return match (longer, ends) {
                (true, _) => Outcome::Longer,
                (false, true) => Outcome::Changed,
                (false, false) => Outcome::Same,
            };
        }
        let failed =
            drained.busy && drained.queueing > min_rtt.mul_f64(FULL) + NOISE + drained.explained;
        self.evidence = if failed {
            (self.evidence + 1).min(MOST_FAILURES)
        } else {
            self.evidence.saturating_sub(SUCCESS)
        };
        let overflowed = self
            .overflow_at
            .is_some_and(|at| now.since(at) < OVERFLOW_COUNTS);
        let begins = failed && self.evidence >= FAILURES && overflowed && now >= self.barred_until;
        if begins {
            self.rival
                .start(now, cwnd, |config| Cubic::new(config, HyStart::Off));
            self.evidence = 0;
            self.lost_at = now;
            self.left_rtt = Duration::ZERO;
            self.same = 0;
            return Outcome::Changed;
        }
        Outcome::Same
    }
}
