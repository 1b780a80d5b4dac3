//! A path that has become longer.
//!
//! The law gives way to a standing queue, whosever it is. If the flow has cut its window by half and
//! the packets that it sent since then wait as long as before, they wait for nobody's packets: the
//! path has become longer. Any shorter RTT corrects that at once.

use super::Tuning;
use crate::units::Duration;

/// A queue that stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// Window and queueing delay when it began.
    began: Option<(f64, Duration)>,
    /// Rounds with a small window.
    rounds: u32,
}

impl Step {
    /// A round has ended, with a window of `cwnd`, whose packets all met `queueing`. Whether that is the
    /// path's.
    pub(super) fn on_round(
        &mut self,
        t: &Tuning,
        cwnd: f64,
        floor: f64,
        queueing: Duration,
        min_rtt: Duration,
    ) -> bool {
        if queueing <= min_rtt.mul_f64(t.queue) {
            *self = Self::default();
            return false;
        }
        match self.began {
            Some((window, before)) if (queueing.ratio(before) - 1.0).abs() <= t.moves => {
                let small = cwnd <= window * t.starved || cwnd <= floor;
                self.rounds = if small { self.rounds + 1 } else { 0 };
            }
            _ => {
                *self = Self {
                    began: Some((cwnd, queueing)),
                    rounds: 0,
                }
            }
        }
        if self.rounds < t.path_rounds {
            return false;
        }
        *self = Self::default();
        true
    }
}
