//! Rate series as CSV: `time,rate` with the units in the header, at any interval.
//!
//! ```text
//! time_ms,rate_mbps
//! 0,12.5
//! 10,14.1
//! ```
//! The series repeats; its last value lasts as long as the one before it.

use lowtide_cc::units::{Duration, Rate, Time};

use super::columns::{self, Column, MAX_TIME_NS, Times};
use super::{MAX_FILE_BYTES, TraceError, length_of_last};
use crate::link::{AfterLast, Link, RateSchedule};

const COLUMN: Column = Column {
    line: "time,rate",
    // In bytes/s.
    units: &[
        ("rate_bps", 0.125),
        ("rate_kbps", 125.0),
        ("rate_mbps", 125_000.0),
        ("rate_gbps", 125_000_000.0),
    ],
    // 1 Tbit/s.
    max: 1.25e11,
    times: Times::Steps,
    not: (
        "delay",
        " (delays go with --delay-trace, or path.delay_trace)",
    ),
};

/// Reads a series.
///
/// # Errors
/// When the header names no units, a line does not hold two numbers in range, times do not start
/// at 0 and increase, or no rate is above zero.
pub fn parse(bytes: &[u8]) -> Result<RateSchedule, TraceError> {
    let read = columns::read(bytes, COLUMN)?;
    let steps = read.steps.iter();
    let steps = steps.map(|(at, rate)| (*at, Rate::from_bytes_per_sec(*rate as u64)));
    Ok(RateSchedule::new(
        steps.collect(),
        AfterLast::RepeatAfter(read.last),
    )?)
}

/// A series of times in seconds and rates in Mbit/s; as those of a file it repeats.
///
/// # Errors
/// When there are not as many of the one as of the other, a value is not in range, times do not start at
/// 0 and increase, or no rate is above zero.
pub fn from_arrays(time_s: &[f64], rate_mbps: &[f64]) -> Result<RateSchedule, TraceError> {
    let wrong = |array, at, problem| Err(TraceError::Item { array, at, problem });
    let (times, rates) = (time_s.len(), rate_mbps.len());
    if times != rates {
        let problem = format!("there are {times} times and {rates} rates: each needs the other");
        return wrong("time_s", times.min(rates), problem);
    }
    let (most_s, most_mbps) = (MAX_TIME_NS / 1e9, COLUMN.max / 125_000.0);
    let mut steps: Vec<(Time, Rate)> = Vec::with_capacity(times);
    for (at, (time, rate)) in time_s.iter().zip(rate_mbps).enumerate() {
        if !(0.0..=most_s).contains(time) {
            return wrong(
                "time_s",
                at,
                format!("{time} is no time from 0 to {most_s} s"),
            );
        }
        if !(0.0..=most_mbps).contains(rate) {
            let problem = format!("{rate} is no rate from 0 to {most_mbps} Mbit/s");
            return wrong("rate_mbps", at, problem);
        }
        let start = Time::from_nanos((time * 1e9).round() as u64);
        match steps.last() {
            None if start != Time::ZERO => {
                return wrong(
                    "time_s",
                    at,
                    format!("the first time must be 0, not {time}"),
                );
            }
            Some((last, _)) if *last >= start => {
                let problem = format!("{time} is not later than the one before it");
                return wrong("time_s", at, problem);
            }
            _ => steps.push((start, Rate::from_bytes_per_sec((rate * 125_000.0) as u64))),
        }
    }
    let last = length_of_last(&steps)?;
    Ok(RateSchedule::new(steps, AfterLast::RepeatAfter(last))?)
}

/// The mean rate of each `interval` of a link, as text.
///
/// # Errors
/// When they are too many to be read again.
pub fn from_link(link: &Link, length: Duration, interval: Duration) -> Result<Vec<u8>, TraceError> {
    let mut text = b"time_ms,rate_kbps\n".to_vec();
    let mut at = Time::ZERO;
    while at.since(Time::ZERO) < length {
        let volume = link.volume_between(at, at + interval);
        let rate = Rate::from_volume(volume, interval);
        let ms = at.since(Time::ZERO).as_millis_f64();
        let line = format!("{ms},{}\n", rate.as_bytes_per_sec() as f64 / 125.0);
        text.extend_from_slice(line.as_bytes());
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(TraceError::TooLarge);
        }
        at += interval;
    }
    Ok(text)
}
