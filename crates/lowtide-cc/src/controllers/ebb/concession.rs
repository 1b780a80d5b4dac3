//! How much a flow concedes to a queue that it does not move.
//!
//! The law gives way to a standing queue, whosever it is. If the flow has cut its window by more than
//! half and the packets that it sent since then wait exactly as long as before, they wait for
//! nobody's packets: the path has become longer. Any shorter RTT corrects that at once.

use crate::units::{Duration, Time};

/// A queue stands if it is longer than this share of the min RTT.
const STANDS: f64 = 0.25;
/// The most that is conceded: this share of the window at which the queue began to stand.
const WINDOW: f64 = 0.4;
/// A queue that moves by more than this share starts a concession anew: others come and go, and their
/// windows move.
const MOVES: f64 = 0.05;

/// What has been conceded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Concession {
    /// Window and queueing delay when the queue began to stand.
    began: Option<(f64, Duration)>,
    /// Since when the window is at its limit.
    limit_at: Option<Time>,
}

impl Concession {
    /// A round that began at `round_began_at` has ended; all its packets met `queueing` at least.
    /// Returns by how much longer the path is than was thought, if that is what it is.
    pub(super) fn on_round(
        &mut self,
        now: Time,
        round_began_at: Time,
        cwnd: f64,
        queueing: Duration,
        min_rtt: Duration,
    ) -> Option<Duration> {
        if queueing <= min_rtt.mul_f64(STANDS) {
            *self = Self::default();
            return None;
        }
        match self.began {
            Some((window, before)) if (queueing.ratio(before) - 1.0).abs() <= MOVES => {
                if cwnd > window * WINDOW {
                    self.limit_at = None;
                    return None;
                }
                let limit_at = *self.limit_at.get_or_insert(now);
                if round_began_at <= limit_at {
                    return None;
                }
                *self = Self::default();
                Some(queueing)
            }
            _ => {
                self.began = Some((cwnd, queueing));
                self.limit_at = None;
                None
            }
        }
    }

    /// The queue is no calm one.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
