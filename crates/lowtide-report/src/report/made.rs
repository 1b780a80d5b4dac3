//! What made a report, as its first lines say.

use serde::Serialize;

/// What made a report.
#[derive(Debug, Serialize)]
pub(super) struct Made<'a> {
    /// The command, or the call; empty where nobody knows.
    command: &'a str,
    version: &'static str,
    /// Where the environment has one (`SOURCE_DATE_EPOCH`): of itself a report says none, so that the same runs give the
    /// same bytes. A browser shows that of the file.
    date: Option<String>,
}

impl<'a> Made<'a> {
    pub(super) fn by(command: &'a str) -> Self {
        let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
        let seconds = epoch.and_then(|text| text.parse::<u64>().ok());
        Self {
            command,
            version: env!("CARGO_PKG_VERSION"),
            date: seconds.and_then(date),
        }
    }
}

/// The day of a time since 1970, UTC: `2026-11-23`; `None` beyond the year 9999.
fn date(seconds: u64) -> Option<String> {
    let mut day = seconds / 86_400;
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    for year in 1970..=9999 {
        let days = if is_leap(year) { 366 } else { 365 };
        if day >= days {
            day -= days;
            continue;
        }
        let february = if is_leap(year) { 29 } else { 28 };
        let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        for (month, days) in (1..).zip(months) {
            if day < days {
                return Some(format!("{year}-{month:02}-{:02}", day + 1));
            }
            day -= days;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // By `date -u -d @SECONDS +%F`.
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_392_000, "2026-11-23"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
        ] {
            assert_eq!(date(seconds).as_deref(), Some(day), "{seconds}");
        }
        assert_eq!(date(u64::MAX), None);
    }
}
