//! Delays of replayers. LeoReplayer's (LeoCC, SIGCOMM 2025): the i-th line is the one-way delay, in
//! milliseconds, of the i-th 10 ms. CellReplay's (NSDI 2025): a line for each packet train, its time and
//! the delay of its first packet in milliseconds, then what it is about the others.

use lowtide_cc::units::{Duration, Time};

use super::steps::Steps;
use super::{lines, number, wrong};
use crate::impairment::MovingDelay;
use crate::link::AfterLast;
use crate::trace::TraceError;

const STEP: Duration = Duration::from_millis(10);
/// Longer ones are in another unit.
const MAX_MS: f64 = 100e3;

fn delay(line: u64, text: &[u8]) -> Result<Duration, TraceError> {
    let ms = number(line, text, "delay in milliseconds")?;
    if !(0.0..=MAX_MS).contains(&ms) {
        return wrong(line, format!("{ms} ms is no delay from 0 to {MAX_MS} ms"));
    }
    Ok(Duration::from_nanos((ms * 1e6) as u64))
}

pub(super) fn parse(bytes: &[u8]) -> Result<MovingDelay, TraceError> {
    let mut steps = Vec::new();
    for (line, text) in lines(bytes) {
        let at = Time::ZERO + STEP * steps.len() as u64;
        steps.push((at, delay(line, text)?));
    }
    if steps.is_empty() {
        return Err(TraceError::Empty);
    }
    Ok(MovingDelay::new(steps, AfterLast::RepeatAfter(STEP))?)
}

pub(super) fn parse_trains(bytes: &[u8]) -> Result<MovingDelay, TraceError> {
    let mut steps = Steps::default();
    let mut zero = None;
    for (line, text) in lines(bytes) {
        let mut parts = text
            .split(u8::is_ascii_whitespace)
            .filter(|part| !part.is_empty());
        let (Some(time), Some(first)) = (parts.next(), parts.next()) else {
            return wrong(
                line,
                "a line is a time and a delay in milliseconds".to_string(),
            );
        };
        let time = number(line, time, "time in milliseconds")?;
        let since = time - *zero.get_or_insert(time);
        if !(0.0..=1e9).contains(&since) {
            return wrong(
                line,
                format!("{time} ms is not within 10^9 ms of the first line"),
            );
        }
        let at = Time::from_nanos((since * 1e6) as u64);
        steps.put(line, at, delay(line, first)?)?;
    }
    let (steps, last) = steps.take()?;
    Ok(MovingDelay::new(steps, AfterLast::RepeatAfter(last))?)
}
