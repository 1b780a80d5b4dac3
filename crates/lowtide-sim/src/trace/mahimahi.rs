//! mahimahi's format: one integer a line, the millisecond of an opportunity. Lines that begin with `#` are comments, which
//! mahimahi itself does not know.

use std::io::{self, Write};

use lowtide_cc::units::{Bytes, Time};

use super::{MAX_FILE_BYTES, TraceError, shown};
use crate::link::{Link, MAX_TRACE_MS, Opportunities, Server};

/// Reads a trace. Lines may end in CRLF, blank lines at the end are ignored.
///
/// # Errors
/// When a line is no whole number from 0 to [`MAX_TRACE_MS`] or lower than the one before it, or
/// there is no line.
pub fn parse(bytes: &[u8], opportunity: Bytes) -> Result<Opportunities, TraceError> {
    let mut times: Vec<u32> = Vec::new();
    let body = bytes.trim_ascii_end();
    if body.is_empty() {
        return Err(TraceError::Empty);
    }
    for (line, text) in (1..).zip(body.split(|b| *b == b'\n')) {
        let text = text.trim_ascii();
        if text.first() == Some(&b'#') {
            continue;
        }
        let wrong = |problem: String| TraceError::Line { line, problem };
        let time = std::str::from_utf8(text)
            .ok()
            .filter(|t| t.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|t| t.parse::<u32>().ok())
            .filter(|t| *t <= MAX_TRACE_MS)
            .ok_or_else(|| {
                wrong(format!(
                    "'{}' is no millisecond: each line of a mahimahi trace is one whole number \
                     from 0 to {MAX_TRACE_MS} (a rate series must be named .csv)",
                    shown(text)
                ))
            })?;
        if let Some(last) = times.last().filter(|last| **last > time) {
            return Err(wrong(format!(
                "{time} is lower than {last} before it: sort the lines"
            )));
        }
        times.push(time);
    }
    if times.is_empty() {
        return Err(TraceError::Empty);
    }
    Ok(Opportunities::new(times, opportunity)?)
}

/// Writes a trace.
///
/// # Errors
/// When the output cannot be written.
pub fn write(trace: &Opportunities, mut out: impl Write) -> io::Result<()> {
    for t in trace.times_ms() {
        writeln!(out, "{t}")?;
    }
    Ok(())
}

/// The opportunities of `size` bytes that a link offers in `length_ms`: one whenever it has carried
/// so many bytes, in the millisecond in which it has.
///
/// # Errors
/// When there are none, the length is too long, or they are too many to be written.
pub fn from_link(
    link: &std::sync::Arc<Link>,
    length_ms: u32,
    size: Bytes,
) -> Result<Opportunities, TraceError> {
    if let Link::Unlimited = **link {
        return Err(TraceError::Empty);
    }
    let end = Time::from_nanos(u64::from(length_ms) * 1_000_000);
    let mut server = Server::new(link.clone());
    let mut times = Vec::new();
    let mut now = Time::ZERO;
    let mut written = 0;
    loop {
        now = server.serve(now, size, true);
        if now > end {
            break;
        }
        let ms = now.as_nanos().div_ceil(1_000_000) as u32;
        written += line_length(ms);
        if written > MAX_FILE_BYTES {
            return Err(TraceError::TooLarge);
        }
        times.push(ms);
    }
    // The last timestamp is the length of the repetition.
    if times.last().is_some_and(|t| *t < length_ms) {
        times.push(length_ms);
    }
    Ok(Opportunities::new(times, size)?)
}

/// Bytes of a timestamp's line.
fn line_length(ms: u32) -> u64 {
    u64::from(ms.checked_ilog10().unwrap_or(0)) + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_lines_counted_with_them() {
        let size = Bytes::new(1504);
        let text = b"# recorded\n0\n# not backlogged\n5\n7\n";
        assert_eq!(parse(text, size).unwrap().times_ms(), [0, 5, 7]);
        assert_eq!(parse(b"# nothing\n", size), Err(TraceError::Empty));
        let wrong = parse(b"# one\n0\nx\n", size).unwrap_err().to_string();
        assert!(wrong.starts_with("line 3"), "{wrong}");
    }
}
