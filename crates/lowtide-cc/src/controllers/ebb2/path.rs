//! T: the path's own delay, what an RTT is when the flow meets no queue.
//!
//! The least RTT is a lower bound that single packets reach. On a path with jitter most do not, and
//! a window that is made for it starves the flow. There the least of the rounds' mean RTTs is the
//! path's own delay, as far as drains empty the queue. On a link whose rate moves a mean holds some
//! queue: there the law has a margin above zero, and by that measure the least RTT counts instead.
//!
//! Beside others, T includes the queue that they leave when this flow makes room. A window for the path
//! alone would shrink against a queue that it cannot empty. There spans last from probe to probe.

use super::Tuning;
use crate::units::{Duration, Time};

/// The least of what was seen in the span under way and in the one before.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    current: Option<Duration>,
    previous: Option<Duration>,
}

impl Least {
    fn turn(&mut self) {
        self.previous = self.current.take().or(self.previous);
    }

    fn add(&mut self, sample: Duration) {
        self.current = Some(self.current.map_or(sample, |least| least.min(sample)));
    }

    fn get(&self) -> Option<Duration> {
        self.current.into_iter().chain(self.previous).min()
    }
}

/// What is known of the path's delay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    span_ends: Time,
    minimum: Least,
    /// Of rounds' mean RTTs.
    mean: Least,
    latest: Duration,
    /// Of the round under way: RTTs, their sum, the least.
    count: u64,
    sum: Duration,
    least: Option<Duration>,
}

impl Path {
    /// The least RTT of an acknowledgment's packets. Spans end by the clock where they are `timed`.
    pub(super) fn on_rtt(&mut self, tuning: &Tuning, now: Time, rtt: Duration, timed: bool) {
        if timed && now >= self.span_ends {
            self.turn(tuning, now);
        }
        self.minimum.add(rtt);
        self.latest = rtt;
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.sum += rtt;
        self.count += 1;
    }

    /// A span begins; the one before the last is forgotten.
    pub(super) fn turn(&mut self, tuning: &Tuning, now: Time) {
        self.minimum.turn();
        self.mean.turn();
        self.span_ends = now + Duration::from_secs(1).mul_f64(tuning.span);
    }

    /// A round has ended. Its mean counts if it had no queue: its least RTT lies nearer to the path's
    /// than to the mean.
    pub(super) fn on_round(&mut self, tuning: &Tuning) {
        let least = self.least.take();
        let (count, sum) = (self.count, self.sum);
        if count < tuning.samples {
            return;
        }
        (self.count, self.sum) = (0, Duration::ZERO);
        let mean = sum.div(count);
        let minimum = self.minimum.get().unwrap_or(mean);
        if least.unwrap_or(mean) - minimum <= (mean - minimum).mul_f64(tuning.emptied) {
            self.mean.add(mean);
        }
    }

    /// T on a link that is `calm` to this degree; the flow's own packets wait for each other for `own` of
    /// a min RTT. `None` before the first sample.
    pub(super) fn min_rtt(&self, tuning: &Tuning, calm: f64, own: f64) -> Option<Duration> {
        let minimum = self.minimum.get()?.max(Duration::from_nanos(1));
        let mean = self.mean.get().unwrap_or(minimum);
        let excess = (mean - minimum).mul_f64(tuning.jitter) - minimum.mul_f64(own);
        Some(minimum + excess.mul_f64(calm))
    }

    /// What the mean RTT of a round without a queue is above the least.
    pub(super) fn jitter(&self) -> Duration {
        match (self.mean.get(), self.minimum.get()) {
            (Some(mean), Some(minimum)) => mean - minimum,
            _ => Duration::ZERO,
        }
    }

    /// The newest sample.
    pub(super) fn latest(&self) -> Duration {
        self.latest
    }

    /// The path has another delay: forgets all but this.
    pub(super) fn replace(&mut self, tuning: &Tuning, now: Time, rtt: Duration) {
        self.span_ends = now + Duration::from_secs(1).mul_f64(tuning.span);
        let current = Some(rtt);
        self.minimum = Least {
            current,
            previous: None,
        };
        self.mean = Least::default();
    }
}
