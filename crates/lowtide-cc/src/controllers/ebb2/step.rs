//! A path that has become longer.
//!
//! The law gives way to a standing queue, whosever it is. If the flow has cut its window by half and
//! the packets that it sent since then wait as long as before, they wait for nobody's packets: the
//! path has become longer. Any shorter RTT corrects that at once.

use crate::units::Duration;

/// A queue stands if it is longer than this share of the min RTT.
const STANDS: f64 = 0.25;
/// It stays if it moves by no more than this share of it …
const MOVES: f64 = 0.1;
/// … while the window falls to this share of what it was.
const WINDOW: f64 = 0.5;
/// Rounds for which that must last.
const ROUNDS: u32 = 3;

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
        cwnd: f64,
        floor: f64,
        queueing: Duration,
        min_rtt: Duration,
    ) -> bool {
        if queueing <= min_rtt.mul_f64(STANDS) {
            *self = Self::default();
            return false;
        }
        match self.began {
            Some((window, before)) if (queueing.ratio(before) - 1.0).abs() <= MOVES => {
                let small = cwnd <= window * WINDOW || cwnd <= floor;
                self.rounds = if small { self.rounds + 1 } else { 0 };
            }
            _ => {
                *self = Self {
                    began: Some((cwnd, queueing)),
                    rounds: 0,
                }
            }
        }
        if self.rounds < ROUNDS {
            return false;
        }
        *self = Self::default();
        true
    }
}
