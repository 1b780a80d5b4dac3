//! Lines of seconds and Mbit/s, as streaming studies keep them.

use super::steps::Steps;
use super::{lines, number, wrong};
use crate::link::RateSchedule;
use crate::trace::TraceError;

pub(super) fn parse(bytes: &[u8]) -> Result<RateSchedule, TraceError> {
    let mut steps = Steps::default();
    for (line, text) in lines(bytes) {
        if text.starts_with(b"#") {
            continue;
        }
        let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',' || *b == b';';
        let mut parts = text.split(is_gap).filter(|part| !part.is_empty());
        let (Some(time), Some(rate), None) = (parts.next(), parts.next(), parts.next()) else {
            return wrong(
                line,
                "a line is a time in seconds and a rate in Mbit/s".to_string(),
            );
        };
        let seconds = number(line, time, "time in seconds")?;
        let mbps = number(line, rate, "rate in Mbit/s")?;
        steps.push(line, seconds, mbps * 125e3)?;
    }
    steps.finish(None)
}
