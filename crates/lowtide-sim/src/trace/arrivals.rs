//! Packets of others as CSV: `time,bytes` with the units in the header, a line for each packet.
//!
//! ```text
//! time_ms,bytes
//! 0.5,1500
//! 0.5,400
//! ```

use lowtide_cc::units::{Bytes, Time};

use super::TraceError;
use super::columns::{self, Column, Times};
use crate::network::Arrivals;

const COLUMN: Column = Column {
    line: "time,bytes",
    units: &[("bytes", 1.0)],
    // What IP can carry.
    max: 65_535.0,
    times: Times::Any,
    not: ("rate", " (a rate series is a link's trace)"),
};

/// Reads packets: several may have the same time, and none may be earlier than the one before it.
///
/// # Errors
/// When the header names no units, or a line does not hold two numbers in range.
pub fn parse(bytes: &[u8]) -> Result<Arrivals, TraceError> {
    let read = columns::read(bytes, COLUMN)?;
    let packet = |(at, bytes): (Time, f64)| (at, Bytes::new((bytes as u64).max(1)));
    Ok(read.steps.into_iter().map(packet).collect())
}
