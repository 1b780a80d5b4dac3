//! The log of mahimahi's link, and of Pantheon's tunnels: `TIME # BYTES` is an opportunity, `TIME + BYTES`
//! an arrival at the queue, `TIME - BYTES DELAY` a departure; times in milliseconds.

use lowtide_cc::units::Bytes;

use super::{lines, number, wrong};
use crate::link::{MAX_TRACE_MS, Opportunities};
use crate::trace::{TraceError, shown};

pub(super) fn parse(bytes: &[u8], opportunity: Bytes) -> Result<Opportunities, TraceError> {
    let (mut offered, mut departed) = (Vec::new(), Vec::new());
    let mut zero = None;
    for (line, text) in lines(bytes) {
        if text.starts_with(b"#") {
            continue;
        }
        let mut parts = text
            .split(u8::is_ascii_whitespace)
            .filter(|part| !part.is_empty());
        let (Some(time), Some(kind)) = (parts.next(), parts.next()) else {
            return wrong(line, "a line is a time, one of # + - and bytes".to_string());
        };
        let time = number(line, time, "time in milliseconds")?;
        let ms = time - *zero.get_or_insert(time);
        if !(0.0..=f64::from(MAX_TRACE_MS)).contains(&ms) {
            let problem = format!("{time} ms is not within {MAX_TRACE_MS} ms of the first line");
            return wrong(line, problem);
        }
        let times: &mut Vec<u32> = match kind {
            b"#" => &mut offered,
            b"-" => &mut departed,
            b"+" => continue,
            other => return wrong(line, format!("'{}' is none of # + -", shown(other))),
        };
        if times.last().is_some_and(|last| *last > ms as u32) {
            return wrong(
                line,
                "its time is earlier than the one before it".to_string(),
            );
        }
        times.push(ms as u32);
    }
    let times = if offered.is_empty() {
        departed
    } else {
        offered
    };
    if times.is_empty() {
        return Err(TraceError::Empty);
    }
    Ok(Opportunities::new(times, opportunity)?)
}
