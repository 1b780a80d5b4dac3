//! Traces and logs of others, as links or delays.
//!
//! What was logged each 0.1 to 1 s becomes a rate series: what happened within a step, scheduler
//! bursts and pauses above all, is not in it.

mod gnettrack;
mod iperf3;
mod lumos5g;
mod mahimahi_log;
mod pairs;
mod pcap;
mod replayer;
mod steps;

use std::net::IpAddr;
use std::sync::Arc;

use lowtide_cc::units::Bytes;

use super::{TraceError, mahimahi, series, shown};
use crate::impairment::MovingDelay;
use crate::link::Link;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Milliseconds of opportunities, as mahimahi, Pantheon's traces, LeoReplayer's `bw_*.txt` and
    /// CellReplay's `*-pdo` have them.
    Mahimahi,
    /// A rate series of this project.
    Series,
    /// The log of mahimahi's link, which Pantheon's tunnels write, too: opportunities (`#`), or where
    /// there are none, departures (`-`).
    MahimahiLog,
    /// LeoReplayer's `delay_*.txt`: a one-way delay in milliseconds each 10 ms.
    LeoReplayerDelay,
    /// CellReplay's `*-delay-light-pdo`: the time of each packet train and the delay of its first packet,
    /// milliseconds. What follows in a line is left out.
    CellReplayDelay,
    /// Lines of seconds and Mbit/s.
    Pairs,
    /// G-NetTrack's CSV, as in the Irish 4G and 5G data sets: `DL_bitrate` or `UL_bitrate`, kbit/s.
    GNetTrack,
    /// Lumos5G's CSV: `run_num`, `seq_num` (seconds), `Throughput` (Mbit/s).
    Lumos5g,
    /// The output of `iperf3 --json`.
    Iperf3,
    /// A capture, pcap or pcapng: the packets that came to a receiver.
    Pcap,
}

/// What of a file is wanted, where it holds more than one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// The uplink and not the downlink (G-NetTrack).
    pub uplink: bool,
    /// The run (Lumos5G).
    pub run: Option<u64>,
    /// Address of the receiver (captures); without it the address to which most bytes go.
    pub receiver: Option<IpAddr>,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A link's capacity.
    Link(Arc<Link>),
    /// Propagation delays.
    Delay(Arc<MovingDelay>),
}

/// Reads a file of a format; opportunities have `opportunity` bytes.
///
/// # Errors
/// When it has another format, or lacks what was chosen.
pub fn read(
    format: Format,
    bytes: &[u8],
    choice: Choice,
    opportunity: Bytes,
) -> Result<Imported, TraceError> {
    let link = match format {
        Format::Mahimahi => mahimahi::parse(bytes, opportunity).map(Link::Opportunities),
        Format::Series => series::parse(bytes).map(Link::Rates),
        Format::MahimahiLog => mahimahi_log::parse(bytes, opportunity).map(Link::Opportunities),
        Format::LeoReplayerDelay => {
            let delay = replayer::parse(bytes)?;
            return Ok(Imported::Delay(Arc::new(delay)));
        }
        Format::CellReplayDelay => {
            let delay = replayer::parse_trains(bytes)?;
            return Ok(Imported::Delay(Arc::new(delay)));
        }
        Format::Pairs => pairs::parse(bytes).map(Link::Rates),
        Format::GNetTrack => gnettrack::parse(bytes, choice.uplink).map(Link::Rates),
        Format::Lumos5g => lumos5g::parse(bytes, choice.run).map(Link::Rates),
        Format::Iperf3 => iperf3::parse(bytes).map(Link::Rates),
        Format::Pcap => pcap::parse(bytes, choice.receiver, opportunity).map(Link::Opportunities),
    };
    link.map(|link| Imported::Link(Arc::new(link)))
}

/// The lines of a text, counted from 1, without blanks at their ends; empty ones are left out.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..)
        .zip(bytes.split(|b| *b == b'\n'))
        .map(|(line, text)| (line, text.trim_ascii()))
        .filter(|(_, text)| !text.is_empty())
}

fn wrong<T>(line: u64, problem: String) -> Result<T, TraceError> {
    Err(TraceError::Line { line, problem })
}

/// A number; the error shows the text and says what it should have been.
fn number(line: u64, text: &[u8], what: &str) -> Result<f64, TraceError> {
    let parsed = std::str::from_utf8(text)
        .ok()
        .and_then(|t| t.trim().parse().ok());
    match parsed.filter(|number: &f64| number.is_finite()) {
        Some(number) => Ok(number),
        None => wrong(line, format!("'{}' is no {what}", shown(text))),
    }
}

/// The place of a column by its name.
fn column(headers: &csv::StringRecord, name: &str, format: &str) -> Result<usize, TraceError> {
    let found = headers.iter().position(|header| header.trim() == name);
    found.map_or_else(
        || wrong(1, format!("no column is called '{name}': is it {format}?")),
        Ok,
    )
}

/// A CSV with a header, whose lines may differ in length.
fn table(bytes: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().flexible(true).from_reader(bytes)
}

fn unreadable(e: &csv::Error) -> TraceError {
    TraceError::Line {
        line: e.position().map_or(1, csv::Position::line),
        problem: e.to_string(),
    }
}

#[cfg(test)]
mod tests;
