//! Rate series as CSV: `time,rate` with the units in the header, at any interval.
//!
//! ```text
//! time_ms,rate_mbps
//! 0,12.5
//! 10,14.1
//! ```
//! The series repeats; its last value lasts as long as the one before it.

use lowtide_cc::units::{Duration, Rate, Time};

use super::{MAX_FILE_BYTES, TraceError, shown};
use crate::link::{AfterLast, Link, RateSchedule};

const TIME_UNITS: &[(&str, f64)] = &[("time_s", 1e9), ("time_ms", 1e6), ("time_us", 1e3)];
/// Header and bytes/s.
const RATE_UNITS: &[(&str, f64)] = &[
    ("rate_bps", 0.125),
    ("rate_kbps", 125.0),
    ("rate_mbps", 125_000.0),
    ("rate_gbps", 125_000_000.0),
];
/// Limits of 1 Tbit/s and 10^6 s: larger values are in the wrong unit.
const MAX_RATE: f64 = 1.25e11;
const MAX_TIME_NS: f64 = 1e15;

fn unit(header: &str, units: &[(&str, f64)]) -> Result<f64, TraceError> {
    let header = header.trim().to_ascii_lowercase();
    units
        .iter()
        .find(|(name, _)| *name == header)
        .map(|(_, factor)| *factor)
        .ok_or_else(|| {
            let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
            TraceError::Line {
                line: 1,
                problem: format!(
                    "the header '{}' names no unit: write one of {}",
                    shown(header.as_bytes()),
                    names.join(", ")
                ),
            }
        })
}

/// Reads a series.
///
/// # Errors
/// When the header names no units, a line does not hold two numbers in range, times do not start
/// at 0 and increase, or no rate is above zero.
pub fn parse(bytes: &[u8]) -> Result<RateSchedule, TraceError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let read_error = |e: csv::Error| TraceError::Line {
        line: e.position().map_or(1, csv::Position::line),
        problem: format!("{e}; each line of a rate series is time,rate"),
    };
    let headers = reader.headers().map_err(read_error)?.clone();
    if headers.is_empty() {
        return Err(TraceError::Empty);
    }
    if headers.len() != 2 {
        let problem = format!("{} columns instead of the two time,rate", headers.len());
        return Err(TraceError::Line { line: 1, problem });
    }
    let time_unit = unit(&headers[0], TIME_UNITS)?;
    let rate_unit = unit(&headers[1], RATE_UNITS)?;
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(read_error)?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |at: usize, factor: f64, max: f64| {
            record[at]
                .parse::<f64>()
                .ok()
                .map(|v| v * factor)
                .filter(|v| (0.0..=max).contains(v))
        };
        let value = |at: usize, factor: f64, max: f64| {
            number(at, factor, max).ok_or_else(|| TraceError::Line {
                line,
                problem: format!(
                    "'{}' is no {} from 0 to {}",
                    shown(record[at].as_bytes()),
                    &headers[at],
                    max / factor
                ),
            })
        };
        let time = Time::from_nanos(value(0, time_unit, MAX_TIME_NS)? as u64);
        let rate = Rate::from_bytes_per_sec(value(1, rate_unit, MAX_RATE)? as u64);
        if steps
            .last()
            .map_or(time != Time::ZERO, |(last, _)| *last >= time)
        {
            let problem = if steps.is_empty() {
                format!("the first time must be 0, not '{}'", &record[0])
            } else {
                format!("time '{}' is not later than the one before it", &record[0])
            };
            return Err(TraceError::Line { line, problem });
        }
        steps.push((time, rate));
    }
    let interval = match steps.as_slice() {
        [] => return Err(TraceError::Empty),
        [_] => Duration::from_secs(1),
        [.., (a, _), (b, _)] => b.since(*a),
    };
    Ok(RateSchedule::new(steps, AfterLast::RepeatAfter(interval))?)
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
