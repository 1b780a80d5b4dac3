//! Link traces: reading, writing, describing, generating. All of it in memory; files are others' job.

pub mod arrivals;
mod columns;
pub mod delay;
pub mod generate;
pub mod import;
pub mod info;
pub mod mahimahi;
pub mod schedule;
pub mod series;

use std::path::Path;

use lowtide_cc::units::{Bytes, Duration, Time};

use crate::link::{Link, LinkError};

/// The largest trace that is read or written, in bytes: 64 MiB hold hours of any real link.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// What would be written is too large to be read again.
    #[error(
        "it would be larger than {} MiB, the most for a trace: \
         take a shorter one, a lower rate or a longer interval",
        MAX_FILE_BYTES >> 20
    )]
    TooLarge,
    /// The trace is empty.
    #[error("it has no entries; is it a trace?")]
    Empty,
    /// A line is wrong.
    #[error("line {line}: {problem}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A value of an array is wrong.
    #[error("{array}[{at}]: {problem}")]
    Item {
        /// The array.
        array: &'static str,
        /// Counted from 0.
        at: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A file that has no lines is wrong.
    #[error("{0}")]
    Binary(String),
    /// The lines are right, but make no link.
    #[error("{0}")]
    Link(#[from] LinkError),
}

/// How long the last of these steps lasts: as long as the one before it; a single one lasts a second.
fn length_of_last<T>(steps: &[(Time, T)]) -> Result<Duration, TraceError> {
    match steps {
        [] => Err(TraceError::Empty),
        [_] => Ok(Duration::from_secs(1)),
        [.., (a, _), (b, _)] => Ok(b.since(*a)),
    }
}

/// Reads a trace. Which of the formats it has its name says, which ends in `.csv` for rate series,
/// or without a name (`None`) the first character that is not a comment's: rate series begin with a header,
/// mahimahi's opportunities, of `opportunity` bytes each, with a digit.
///
/// # Errors
/// When it is no trace.
pub fn parse(name: Option<&Path>, bytes: &[u8], opportunity: Bytes) -> Result<Link, TraceError> {
    let is_series = match name {
        Some(name) => name
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("csv")),
        None => bytes
            .split(|b| *b == b'\n')
            .find(|line| line.first() != Some(&b'#'))
            .and_then(<[u8]>::first)
            .is_some_and(|b| !b.is_ascii_digit()),
    };
    if is_series {
        series::parse(bytes).map(Link::Rates)
    } else {
        mahimahi::parse(bytes, opportunity).map(Link::Opportunities)
    }
}

/// A line's text as an error message may show it: short and printable.
fn shown(text: &[u8]) -> String {
    let mut shown: String = String::from_utf8_lossy(&text[..text.len().min(40)])
        .escape_debug()
        .collect();
    if text.len() > 40 {
        shown.push('…');
    }
    shown
}
