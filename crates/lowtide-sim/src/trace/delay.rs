//! Propagation delays over time as CSV: `time,delay` with the units in the header, at any interval.
//!
//! ```text
//! time_ms,delay_ms
//! 0,12
//! 10,16
//! ```
//! They are one-way delays of the direction that the bottleneck limits. Like a rate series they
//! repeat; the last one lasts as long as the one before it.

use lowtide_cc::units::{Duration, Time};

use super::columns::{self, Column, Times};
use super::{MAX_FILE_BYTES, TraceError};
use crate::impairment::MovingDelay;
use crate::link::AfterLast;

const COLUMN: Column = Column {
    line: "time,delay",
    units: &[("delay_s", 1e9), ("delay_ms", 1e6), ("delay_us", 1e3)],
    // 100 s.
    max: 1e11,
    times: Times::Steps,
    not: ("rate", " (a rate series is a link's trace, not its delay)"),
};

/// Reads delays.
///
/// # Errors
/// When the header names no units, a line does not hold two numbers in range, or times do not start
/// at 0 and increase.
pub fn parse(bytes: &[u8]) -> Result<MovingDelay, TraceError> {
    let read = columns::read(bytes, COLUMN)?;
    let steps = read.steps.iter();
    let steps = steps.map(|(at, nanos)| (*at, Duration::from_nanos(*nanos as u64)));
    Ok(MovingDelay::new(
        steps.collect(),
        AfterLast::RepeatAfter(read.last),
    )?)
}

/// Delays as text that [`parse`] reads.
///
/// # Errors
/// When it would be too large to be read again.
pub fn write(delay: &MovingDelay) -> Result<Vec<u8>, TraceError> {
    let mut text = b"time_ms,delay_ms\n".to_vec();
    for (at, delay) in delay.steps() {
        let ms = at.since(Time::ZERO).as_millis_f64();
        text.extend_from_slice(format!("{ms},{}\n", delay.as_millis_f64()).as_bytes());
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(TraceError::TooLarge);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_with_their_units_and_errors_say_what_fits() {
        let ms = Duration::from_millis;
        let text = "time_ms, delay_ms\n# a pass\n0,12\n10,16.5\n20,6\n";
        let delay = parse(text.as_bytes()).unwrap();
        assert_eq!(
            (delay.least(), delay.mean()),
            (ms(6), Duration::from_micros(11_500))
        );
        assert_eq!(parse(b"time_s,delay_us\n0,5000\n").unwrap().mean(), ms(5));
        let wrong = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert!(wrong("time_ms,rate_mbps\n0,1\n").contains("is a link's trace"));
        assert!(wrong("0,12\n10,16\n").starts_with("line 1: there is no header"));
        assert!(wrong("time_ms,delay_ms\n0,1\n5,-1\n").starts_with("line 3: '-1' is no delay_ms"));
        assert!(wrong("time_ms,delay_ms\n0,1\n0,2\n").starts_with("line 3: time '0' is not later"));
        assert!(wrong("time_ms,delay_s\n0,101\n").contains("from 0 to 100"));
        assert!(wrong("time_ms,delay_ms\n").contains("no entries"));
    }
}
