//! §5: the path's round-trip time.

use lowtide_cc::units::{Duration, Time};

use super::least;

pub(super) const SPAN: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct PathRtt {
    pub(super) held: bool,
    pub(super) confirmed_at: Time,
    pub(super) latest: Option<Duration>,
    previous: Option<Duration>,
    current: Option<Duration>,
    span_ends: Time,
    previous_mean: Option<Duration>,
    current_mean: Option<Duration>,
    mean_span_ends: Time,
    samples: u64,
    sum: Duration,
    least: Option<Duration>,
    last_least: Option<Duration>,
}

impl PathRtt {
    pub(super) fn sample(&mut self, now: Time, rtt: Duration) {
        if now >= self.span_ends && !self.held {
            self.previous = self.current.or(self.previous);
            self.current = None;
            self.span_ends = now + SPAN;
        }
        if now >= self.mean_span_ends && !self.held {
            self.previous_mean = self.current_mean.or(self.previous_mean);
            self.current_mean = None;
            self.mean_span_ends = now + SPAN;
        }
        if self.minimum().is_none_or(|min| rtt <= min.mul_f64(1.03)) {
            self.confirmed_at = now;
        }
        self.current = least(self.current, Some(rtt));
        self.latest = Some(rtt);
        self.least = least(self.least, Some(rtt));
        self.samples += 1;
        self.sum += rtt;
    }

    pub(super) fn lately(&self) -> Duration {
        least(self.least, self.last_least).unwrap_or_default()
    }

    pub(super) fn end_round(&mut self) {
        self.last_least = self.least.take();
        if self.samples >= 8 {
            self.current_mean = least(self.current_mean, Some(self.sum.div(self.samples)));
            self.samples = 0;
            self.sum = Duration::ZERO;
        }
    }

    pub(super) fn minimum(&self) -> Option<Duration> {
        least(self.current, self.previous)
    }

    /// For `own` = max(2 P, B/2) / max(M, 1) and `calm`.
    pub(super) fn min_rtt(&self, own: f64, calm: f64) -> Option<Duration> {
        let minimum = self.minimum()?.max(Duration::from_nanos(1));
        let mean = least(self.current_mean, self.previous_mean).unwrap_or(minimum);
        let above = (mean - minimum).mul_f64(1.25) - minimum.mul_f64(own);
        Some(minimum + above.mul_f64(calm))
    }

    pub(super) fn replace(&mut self, now: Time, value: Duration) {
        self.previous = None;
        self.current = Some(value);
        self.span_ends = now + SPAN;
        self.previous_mean = None;
        self.current_mean = None;
        self.mean_span_ends = Time::ZERO;
    }
}
