//! Rate schedules in one line: `0s:10mbit,5s:2mbit,10s:20mbit`. The last rate stays.

use lowtide_cc::units::{Rate, Time, quantity};

use crate::link::{AfterLast, RateSchedule};

/// Reads a schedule.
///
/// # Errors
/// A sentence that names the part in question and the remedy.
pub fn parse(text: &str) -> Result<RateSchedule, String> {
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    for part in text.split(',') {
        let (time, rate) = part.split_once(':').ok_or_else(|| {
            format!(
                "'{}' is no step: write TIME:RATE, as in 5s:2mbit",
                part.escape_debug()
            )
        })?;
        let time = quantity::duration_or_zero(time).map_err(|e| e.to_string())?;
        let rate = quantity::rate_or_zero(rate).map_err(|e| e.to_string())?;
        steps.push((Time::ZERO + time, rate));
    }
    RateSchedule::new(steps, AfterLast::Hold).map_err(|e| e.to_string())
}
