//! A series of rates or delays as it is put together.

use lowtide_cc::units::{Duration, Rate, Time};

use super::wrong;
use crate::link::{AfterLast, RateSchedule};
use crate::trace::{TraceError, length_of_last};

/// Limits of 1 Tbit/s and 10^6 s: larger values are in another unit.
const MAX_RATE: f64 = 1.25e11;
const MAX_SECONDS: f64 = 1e6;

/// Values from the first time on, which is the zero of the series.
#[derive(Debug, Default)]
pub(super) struct Steps<T> {
    zero: Option<f64>,
    steps: Vec<(Time, T)>,
}

impl<T> Steps<T> {
    /// From `at` on it is `value`. Of several at the same time the last one holds.
    pub(super) fn put(&mut self, line: u64, at: Time, value: T) -> Result<(), TraceError> {
        let step = (at, value);
        match self.steps.last_mut() {
            Some(last) if last.0 == at => *last = step,
            Some(last) if last.0 > at => {
                return wrong(
                    line,
                    "its time is earlier than the one before it".to_string(),
                );
            }
            _ => self.steps.push(step),
        }
        Ok(())
    }

    /// All of them, and how long the last one lasts.
    pub(super) fn take(self) -> Result<(Vec<(Time, T)>, Duration), TraceError> {
        let last = length_of_last(&self.steps)?;
        Ok((self.steps, last))
    }
}

impl Steps<Rate> {
    /// From `seconds` on the rate is `bytes` a second.
    pub(super) fn push(&mut self, line: u64, seconds: f64, bytes: f64) -> Result<(), TraceError> {
        let zero = *self.zero.get_or_insert(seconds);
        let since = seconds - zero;
        if !(0.0..=MAX_SECONDS).contains(&since) {
            let problem =
                format!("the time {seconds} s is not within {MAX_SECONDS} s of the first");
            return wrong(line, problem);
        }
        if !(0.0..=MAX_RATE).contains(&bytes) {
            let problem = format!("the rate {} Mbit/s is none from 0 to 10^6", bytes * 8e-6);
            return wrong(line, problem);
        }
        let at = Time::from_nanos(libm::round(since * 1e9) as u64);
        self.put(line, at, Rate::from_bytes_per_sec(bytes as u64))
    }

    /// The series; its last value lasts for `last`, or as long as the one before it.
    pub(super) fn finish(self, last: Option<Duration>) -> Result<RateSchedule, TraceError> {
        let (steps, before) = self.take()?;
        let after = AfterLast::RepeatAfter(last.unwrap_or(before));
        Ok(RateSchedule::new(steps, after)?)
    }
}
