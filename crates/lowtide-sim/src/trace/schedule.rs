//! Rate schedules in one line: `0s:10mbit,5s:2mbit,10s:20mbit`. The last rate stays, or all repeats:
//! `0s:60mbit,5ms:0mbit,15ms:repeat` sends for 5 of each 15 ms.

use lowtide_cc::units::{Rate, Time, quantity};

use crate::link::{AfterLast, RateSchedule};

/// Reads a schedule.
///
/// # Errors
/// A sentence that names the part in question and the remedy.
pub fn parse(text: &str) -> Result<RateSchedule, String> {
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    let mut end = None;
    for part in text.split(',') {
        if end.is_some() {
            return Err("'repeat' is the last step".to_string());
        }
        let (time, rate) = part.split_once(':').ok_or_else(|| {
            format!(
                "'{}' is no step: write TIME:RATE, as in 5s:2mbit",
                part.escape_debug()
            )
        })?;
        let time = quantity::duration_or_zero(time).map_err(|e| e.to_string())?;
        let at = Time::ZERO + time;
        if rate.trim() == "repeat" {
            end = Some(at);
            continue;
        }
        let rate = quantity::rate_or_zero(rate).map_err(|e| e.to_string())?;
        steps.push((at, rate));
    }
    let last = steps.last().map_or(Time::ZERO, |(at, _)| *at);
    let after = match end {
        None => AfterLast::Hold,
        Some(end) if end <= last => {
            return Err("'repeat' does not come after the last rate".to_string());
        }
        Some(end) => AfterLast::RepeatAfter(end.since(last)),
    };
    RateSchedule::new(steps, after).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Duration;

    use super::*;
    use crate::link::Link;

    #[test]
    fn a_schedule_holds_its_last_rate_or_repeats() {
        let served = |text: &str| -> Result<u64, String> {
            let link = Link::Rates(parse(text)?);
            let end = Time::ZERO + Duration::from_millis(150);
            Ok(link.volume_between(Time::ZERO, end).get())
        };
        assert_eq!(served("0s:8mbit,50ms:16mbit"), Ok(50_000 + 200_000));
        assert_eq!(served("0s:24mbit,5ms:0mbit,15ms:repeat"), Ok(10 * 15_000));
        let wrong = |text: &str| served(text).unwrap_err();
        assert!(wrong("0s:8mbit,15ms:repeat,20ms:8mbit").contains("last"));
        assert!(wrong("0s:8mbit,15ms:0mbit,15ms:repeat").contains("after"));
        assert!(wrong("0s:repeat").contains("after"));
    }
}
