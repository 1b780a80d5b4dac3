//! Jain's fairness index over windows.

use lowtide_cc::units::{Bytes, Duration, Time};

/// Length of a window.
pub(super) const WINDOW: Duration = Duration::from_secs(1);

/// `(Σx)² / (n·Σx²)`: 1 when all are equal, 1/n when one has all; NaN without values or when all
/// are zero (Jain, Chiu, Hawe 1984).
#[must_use]
pub fn jain(shares: impl Iterator<Item = f64>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in shares {
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    sum * sum / (n * squares)
}

/// Mean of the index over windows of a second in which at least two flows are under way, each for
/// the whole window.
#[derive(Clone, Debug)]
pub(super) struct Fairness {
    /// In the current window, by flow.
    received: Vec<Bytes>,
    starts: Vec<Time>,
    /// When each flow was complete.
    ends: Vec<Time>,
    window_end: Time,
    sum: f64,
    windows: u64,
}

impl Fairness {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            received: vec![Bytes::ZERO; flows],
            starts: vec![Time::MAX; flows],
            ends: vec![Time::MAX; flows],
            window_end: Time::ZERO + WINDOW,
            sum: 0.0,
            windows: 0,
        }
    }

    pub(super) fn on_flow_start(&mut self, flow: usize, now: Time) {
        self.starts[flow] = now;
    }

    pub(super) fn on_flow_complete(&mut self, flow: usize, now: Time) {
        self.ends[flow] = now;
    }

    #[inline]
    pub(super) fn on_deliver(&mut self, flow: usize, now: Time, bytes: Bytes) {
        if self.received.len() < 2 {
            return;
        }
        while now >= self.window_end {
            self.close_window();
        }
        self.received[flow] += bytes;
    }

    fn close_window(&mut self) {
        let began = self.window_end - WINDOW;
        let active = self
            .starts
            .iter()
            .zip(&self.ends)
            .zip(&self.received)
            .filter(|((start, end), _)| **start <= began && **end >= self.window_end);
        let shares = active.map(|(_, received)| received.as_f64());
        let index = jain(shares.clone());
        if shares.count() >= 2 && index.is_finite() {
            self.sum += index;
            self.windows += 1;
        }
        self.received.fill(Bytes::ZERO);
        self.window_end += WINDOW;
    }

    /// 1 for a single flow; NaN when no window had two.
    pub(super) fn mean(&self) -> f64 {
        let together = self.starts.iter().filter(|start| **start != Time::MAX);
        if together.count() < 2 {
            1.0
        } else {
            self.sum / self.windows as f64
        }
    }
}
