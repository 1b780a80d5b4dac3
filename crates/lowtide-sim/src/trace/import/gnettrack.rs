//! G-NetTrack's CSV, as in the 4G and 5G data sets of Raca and others (MMSys 2018, 2020): a line a second,
//! `Timestamp` as `2019.12.14_10.16.30`, `DL_bitrate` and `UL_bitrate` in kbit/s.

use super::steps::Steps;
use super::{column, number, table, unreadable, wrong};
use crate::link::RateSchedule;
use crate::trace::{TraceError, shown};

pub(super) fn parse(bytes: &[u8], uplink: bool) -> Result<RateSchedule, TraceError> {
    let mut reader = table(bytes);
    let headers = reader.headers().map_err(|e| unreadable(&e))?.clone();
    let format = "G-NetTrack's CSV";
    let time = column(&headers, "Timestamp", format)?;
    let name = if uplink { "UL_bitrate" } else { "DL_bitrate" };
    let rate = column(&headers, name, format)?;
    let mut steps = Steps::default();
    for record in reader.records() {
        let record = record.map_err(|e| unreadable(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let (Some(at), Some(kbps)) = (record.get(time), record.get(rate)) else {
            return wrong(line, format!("it ends before '{name}'"));
        };
        let Some(seconds) = seconds(at) else {
            let shown = shown(at.as_bytes());
            return wrong(
                line,
                format!("'{shown}' is no time as in 2019.12.14_10.16.30"),
            );
        };
        let kbps = number(line, kbps.as_bytes(), "rate in kbit/s")?;
        steps.push(line, seconds, kbps * 125.0)?;
    }
    steps.finish(None)
}

/// Seconds since a fixed day.
fn seconds(text: &str) -> Option<f64> {
    let parts: Option<Vec<i64>> = text
        .trim()
        .split(['.', '_', ':', '-', ' '])
        .map(|part| part.parse().ok().filter(|n| (0..10_000).contains(n)))
        .collect();
    let [year, month, day, hour, minute, second] = parts?[..] else {
        return None;
    };
    let fits = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    // Days in a calendar whose years begin with March, so that leap days come last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day;
    fits.then_some((((days * 24 + hour) * 60 + minute) * 60 + second) as f64)
}
