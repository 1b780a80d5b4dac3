//! Link traces: reading, writing, describing, generating.

pub mod generate;
pub mod info;
pub mod mahimahi;
pub mod schedule;
pub mod series;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use lowtide_cc::units::Bytes;

use crate::link::{Link, LinkError};

/// The largest file that is read: 64 MiB hold hours of any real link.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Read(String),
    /// The file is too large.
    #[error("it is larger than {} MiB; is it a trace?", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// There is nothing in it.
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
    /// The lines are right, but make no link.
    #[error("{0}")]
    Link(#[from] LinkError),
}

/// Reads a trace file: rate series where the name ends in `.csv`, mahimahi opportunities of
/// `opportunity` bytes otherwise.
///
/// # Errors
/// When the file cannot be read, is too large or is no trace.
pub fn load(path: &Path, opportunity: Bytes) -> Result<Link, TraceError> {
    let bytes = read(path)?;
    if path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("csv"))
    {
        series::parse(&bytes).map(Link::Rates)
    } else {
        mahimahi::parse(&bytes, opportunity).map(Link::Opportunities)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TraceError> {
    let io = |e: std::io::Error| TraceError::Read(e.to_string());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io)?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(TraceError::TooLarge);
    }
    Ok(bytes)
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
