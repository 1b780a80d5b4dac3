//! Two columns as CSV, a time and a value over it, their units in the header.

use lowtide_cc::units::{Duration, Time};

use super::{TraceError, length_of_last, shown};

/// A column's units: header, and what one of it is.
pub(super) type Units = &'static [(&'static str, f64)];

const TIME_UNITS: Units = &[("time_s", 1e9), ("time_ms", 1e6), ("time_us", 1e3)];
/// 10^6 s: larger values are in the wrong unit.
pub(super) const MAX_TIME_NS: f64 = 1e15;

/// A column of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// What a line is, as in `time,rate`.
    pub(super) line: &'static str,
    pub(super) units: Units,
    /// The largest value, of what the units count; larger ones are in the wrong unit.
    pub(super) max: f64,
    pub(super) times: Times,
    /// What the header of another kind of file means, and what to do with that file.
    pub(super) not: (&'static str, &'static str),
}

/// Which times may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// From zero on, each later than the one before it.
    Steps,
    /// Any, none earlier than the one before it.
    Any,
}

/// What was read: values and their times.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) steps: Vec<(Time, f64)>,
    /// How long the last value lasts.
    pub(super) last: Duration,
}

fn unit(header: &str, units: Units, hint: &str) -> Result<f64, TraceError> {
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
                    "the header '{}' names no unit: write one of {}{hint}",
                    shown(header.as_bytes()),
                    names.join(", ")
                ),
            }
        })
}

/// Reads the two columns. Lines that begin with `#` are comments.
pub(super) fn read(bytes: &[u8], column: Column) -> Result<Read, TraceError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let read_error = |e: csv::Error| TraceError::Line {
        line: e.position().map_or(1, csv::Position::line),
        problem: format!("{e}; each line is {}", column.line),
    };
    let headers = reader.headers().map_err(read_error)?.clone();
    if headers.is_empty() {
        return Err(TraceError::Empty);
    }
    let is_number = |field: &str| field.parse::<f64>().is_ok();
    if headers.iter().all(is_number) {
        let (line, time, value) = (column.line, TIME_UNITS[1].0, column.units[0].0);
        let problem = format!(
            "there is no header: the first line names the columns of {line} with their units, as in {time},{value}"
        );
        return Err(TraceError::Line { line: 1, problem });
    }
    if headers.len() != 2 {
        let problem = format!(
            "{} columns instead of the two {}",
            headers.len(),
            column.line
        );
        return Err(TraceError::Line { line: 1, problem });
    }
    let time_unit = unit(&headers[0], TIME_UNITS, "")?;
    let (other, remedy) = column.not;
    let hint = if headers[1].starts_with(other) {
        remedy
    } else {
        ""
    };
    let value_unit = unit(&headers[1], column.units, hint)?;
    let mut steps: Vec<(Time, f64)> = Vec::new();
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
        let value = value(1, value_unit, column.max)?;
        let last = steps.last().map(|(last, _)| *last);
        let fits = match column.times {
            Times::Steps => last.map_or(time == Time::ZERO, |last| last < time),
            Times::Any => last.is_none_or(|last| last <= time),
        };
        if !fits {
            let problem = if column.times == Times::Any {
                format!("time '{}' is earlier than the one before it", &record[0])
            } else if steps.is_empty() {
                format!("the first time must be 0, not '{}'", &record[0])
            } else {
                format!("time '{}' is not later than the one before it", &record[0])
            };
            return Err(TraceError::Line { line, problem });
        }
        steps.push((time, value));
    }
    let last = length_of_last(&steps)?;
    Ok(Read { steps, last })
}
