//! What is told of transfers while they run and when they are over.
//!
//! The names in JSON are those of `compare --json` where both have the same value.

use std::net::SocketAddr;

use lowtide_lab::json::SCHEMA;
use serde::Serialize;

use crate::client::Plan;
use crate::protocol::Report;
use crate::statistics::SenderState;

/// One second of a transfer, or what is left of one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Interval {
    /// Its beginning, since that of the transfer.
    pub start_s: f64,
    /// Its end, likewise.
    pub end_s: f64,
    /// Data received in it.
    pub received_bytes: u64,
    /// Rate of that data.
    pub throughput_mbps: f64,
    /// All connections' senders at its end, as far as known.
    #[serde(flatten)]
    pub sender: Option<SenderState>,
}

impl Interval {
    pub(crate) fn new(start_s: f64, end_s: f64, bytes: u64, sender: Option<SenderState>) -> Self {
        Self {
            start_s,
            end_s,
            received_bytes: bytes,
            throughput_mbps: mbps(bytes, end_s - start_s),
            sender,
        }
    }
}

/// How a transfer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was asked for has come, or the time is over.
    Complete,
    /// By the user.
    Interrupted,
    /// By something else, said here.
    CutShort(String),
}

/// A whole transfer.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    schema: u32,
    command: &'static str,
    pub(crate) address: String,
    /// `download` or `upload`.
    pub direction: &'static str,
    /// `complete`, `interrupted` or `cut_short`.
    pub outcome: &'static str,
    /// Why it was cut short.
    pub problem: Option<String>,
    /// The controller of what was transferred; `None` where the server did not say so.
    pub controller: Option<String>,
    connections: u32,
    streams: u32,
    /// Until the end, or until the last data of a transfer that was cut short.
    pub duration_s: f64,
    /// Data received.
    pub received_bytes: u64,
    /// Rate of that data over the whole time.
    pub throughput_mbps: f64,
    loss_share: Option<f64>,
    /// All connections' senders at the end.
    #[serde(flatten)]
    pub sender: Option<SenderState>,
    /// What is said of the senders is of the end, and not some time before.
    pub is_final: bool,
    intervals: Vec<Interval>,
}

impl Summary {
    /// The report of a transfer whose sender's controller is known or not.
    pub(crate) fn new(
        plan: &Plan,
        outcome: &Outcome,
        controller: Option<String>,
        is_final: bool,
        intervals: &[Interval],
    ) -> Self {
        let (outcome, problem) = match outcome {
            Outcome::Complete => ("complete", None),
            Outcome::Interrupted => ("interrupted", None),
            Outcome::CutShort(problem) => ("cut_short", Some(problem.clone())),
        };
        let duration_s = intervals.last().map_or(0.0, |i| i.end_s);
        let received_bytes = intervals.iter().map(|i| i.received_bytes).sum();
        let sender = intervals.last().and_then(|i| i.sender);
        Self {
            schema: SCHEMA,
            command: "fetch",
            address: plan.target.to_string(),
            direction: if plan.is_upload { "upload" } else { "download" },
            outcome,
            problem,
            controller,
            connections: plan.connections,
            streams: plan.streams,
            duration_s,
            received_bytes,
            throughput_mbps: mbps(received_bytes, duration_s),
            loss_share: sender.map(|s| s.loss_share()),
            sender,
            is_final,
            intervals: intervals.to_vec(),
        }
    }
}

/// What happens at a server.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// It takes connections.
    Listening {
        /// Version of the JSON.
        schema: u32,
        /// `serve`.
        command: &'static str,
        /// Where it listens.
        address: SocketAddr,
        /// Controller of what it sends to clients that ask for none.
        controller: &'a str,
    },
    /// A connection has lasted a second more.
    Second {
        /// The client.
        peer: SocketAddr,
        /// What the client is told.
        #[serde(flatten)]
        report: &'a Report,
    },
    /// A connection has ended.
    Closed {
        /// The client.
        peer: SocketAddr,
        /// What was last known of it.
        #[serde(flatten)]
        report: &'a Report,
    },
}

/// Megabits a second; 0 for no time.
fn mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / 1e6 / seconds
    } else {
        0.0
    }
}
