//! The least of what was seen lately: in the span under way and in the one before.

use crate::units::{Duration, Time};

/// Length of a span, as long as BBR's window of the minimum RTT (Linux `bbr_min_rtt_win_sec`): routes
/// change, radio links hand over, and clocks drift.
const SPAN: Duration = Duration::from_secs(10);

/// A minimum that lasts for one to two spans.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Least<T> {
    current: Option<T>,
    previous: Option<T>,
    span_ends: Time,
}

impl<T: Copy + Ord> Least<T> {
    /// Begins a span, where the last one is over. Who does not call this forgets nothing.
    pub(super) fn turn(&mut self, now: Time) {
        if now >= self.span_ends {
            self.previous = self.current.take().or(self.previous);
            self.span_ends = now + SPAN;
        }
    }

    pub(super) fn add(&mut self, sample: T) {
        self.current = Some(self.current.map_or(sample, |least| least.min(sample)));
    }

    /// `None` before the first sample.
    pub(super) fn get(&self) -> Option<T> {
        self.current.into_iter().chain(self.previous).min()
    }

    /// Forgets all but this.
    pub(super) fn restart(&mut self, now: Time, sample: T) {
        *self = Self {
            current: Some(sample),
            previous: None,
            span_ends: now + SPAN,
        };
    }
}
