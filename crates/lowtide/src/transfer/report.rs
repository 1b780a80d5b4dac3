//! What transfers show while they run and when they are over, in text and in JSON.
//!
//! The names in JSON are those of `compare --json` where both have the same value.

use std::fmt::Write as _;
use std::net::SocketAddr;

use lowtide_lab::json::SCHEMA;
use serde::Serialize;

use super::protocol::Report;
use super::statistics::{RttMs, SenderState};

/// One second of a transfer, or what is left of one.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Interval {
    /// Since the transfer began.
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    /// Data received in it.
    pub(super) received_bytes: u64,
    pub(super) throughput_mbps: f64,
    /// All connections' senders at its end, as far as known.
    #[serde(flatten)]
    pub(super) sender: Option<SenderState>,
}

impl Interval {
    pub(super) fn new(start_s: f64, end_s: f64, bytes: u64, sender: Option<SenderState>) -> Self {
        Self {
            start_s,
            end_s,
            received_bytes: bytes,
            throughput_mbps: mbps(bytes, end_s - start_s),
            sender,
        }
    }

    /// The heading of [`line`](Self::line).
    pub(super) const HEADING: &str =
        "    time        rate      RTT ms    min   cwnd kB  in flight kB   lost";

    pub(super) fn line(&self) -> String {
        let mut line = format!("{:7.1} s {:8.2} Mbit/s", self.end_s, self.throughput_mbps);
        if let Some(sender) = &self.sender {
            let ms = |ms: Option<f64>| ms.map_or_else(|| "-".to_string(), |ms| format!("{ms:.2}"));
            // Writing to a string cannot fail.
            let _ = write!(
                line,
                " {:>8} {:>6} {:>9.1} {:>13.1} {:>6}",
                ms(sender.rtt_ms.map(|rtt| rtt.last)),
                ms(sender.rtt_ms.map(|rtt| rtt.min)),
                sender.cwnd_bytes as f64 / 1e3,
                sender.inflight_bytes as f64 / 1e3,
                sender.lost_packets
            );
        }
        line
    }
}

/// How a transfer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All that was asked for has come, or the time is over.
    Complete,
    /// By the user; with the exit code for that.
    Interrupted(i32),
    /// By something else, said here.
    CutShort(String),
}

/// A whole transfer.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    schema: u32,
    command: &'static str,
    pub(super) address: String,
    /// `download` or `upload`.
    pub(super) direction: &'a str,
    /// `complete`, `interrupted` or `cut_short`.
    outcome: &'static str,
    /// Why it was cut short.
    problem: Option<&'a str>,
    /// Of what was transferred; `None` where the server did not say so.
    pub(super) controller: Option<String>,
    pub(super) connections: u32,
    pub(super) streams: u32,
    /// Until the end, or until the last data of a transfer that was cut short.
    pub(super) duration_s: f64,
    /// Data received.
    pub(super) received_bytes: u64,
    throughput_mbps: f64,
    loss_share: Option<f64>,
    /// All connections' senders at the end.
    #[serde(flatten)]
    sender: Option<SenderState>,
    /// What is said of the senders is of the end, and not some time before.
    is_final: bool,
    intervals: &'a [Interval],
}

/// What a [`Summary`] is made of.
pub(super) struct Transferred<'a> {
    pub(super) address: SocketAddr,
    pub(super) is_upload: bool,
    pub(super) outcome: &'a Outcome,
    pub(super) controller: Option<String>,
    pub(super) connections: u32,
    pub(super) streams: u32,
    pub(super) sender: Option<SenderState>,
    pub(super) is_final: bool,
    pub(super) intervals: &'a [Interval],
}

impl<'a> Summary<'a> {
    pub(super) fn new(transferred: Transferred<'a>) -> Self {
        let Transferred { intervals, .. } = transferred;
        let (outcome, problem) = match transferred.outcome {
            Outcome::Complete => ("complete", None),
            Outcome::Interrupted(_) => ("interrupted", None),
            Outcome::CutShort(problem) => ("cut_short", Some(problem.as_str())),
        };
        let duration_s = intervals.last().map_or(0.0, |i| i.end_s);
        let received_bytes = intervals.iter().map(|i| i.received_bytes).sum();
        Self {
            schema: SCHEMA,
            command: "fetch",
            address: transferred.address.to_string(),
            direction: if transferred.is_upload {
                "upload"
            } else {
                "download"
            },
            outcome,
            problem,
            controller: transferred.controller,
            connections: transferred.connections,
            streams: transferred.streams,
            duration_s,
            received_bytes,
            throughput_mbps: mbps(received_bytes, duration_s),
            loss_share: transferred.sender.map(|s| s.loss_share()),
            sender: transferred.sender,
            is_final: transferred.is_final,
            intervals,
        }
    }

    pub(super) fn text(&self) -> String {
        let mark = match (self.outcome, self.problem) {
            ("interrupted", _) => "INTERRUPTED: ".to_string(),
            (_, Some(problem)) => format!("CUT SHORT ({problem}): "),
            _ => String::new(),
        };
        let mut text = format!(
            "{mark}{} of {:.1} MB in {:.2} s: {:.2} Mbit/s",
            self.direction,
            self.received_bytes as f64 / 1e6,
            self.duration_s,
            self.throughput_mbps
        );
        // Writing to a string cannot fail.
        if let Some(name) = &self.controller {
            let _ = write!(text, ", sent by {name}");
        }
        if let Some(sender) = self.sender
            && let Some(RttMs { mean, min, .. }) = sender.rtt_ms
        {
            let (lost, sent) = (sender.lost_packets, sender.sent_packets);
            let share = 100.0 * lost as f64 / sent.max(1) as f64;
            let _ = write!(
                text,
                "\nRTT mean {mean:.2} ms, min {min:.2} ms; {lost} of {sent} packets lost ({share:.2} %)"
            );
            if sender.marked_packets > 0 {
                let _ = write!(text, ", {} marked ECN-CE", sender.marked_packets);
            }
            if !self.is_final {
                text.push_str(", as the sender last said before the end");
            }
        }
        text
    }
}

/// A line of `serve`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    Listening {
        schema: u32,
        command: &'static str,
        address: SocketAddr,
        controller: &'a str,
    },
    Second {
        peer: SocketAddr,
        #[serde(flatten)]
        report: &'a Report,
    },
    Closed {
        peer: SocketAddr,
        #[serde(flatten)]
        report: &'a Report,
    },
    /// So many lines are missing before this one.
    Missing { lines: u64 },
}

impl<'a> Line<'a> {
    pub(super) fn listening(address: SocketAddr, controller: &'a str) -> Self {
        Self::Listening {
            schema: SCHEMA,
            command: "serve",
            address,
            controller,
        }
    }

    /// As it is printed.
    pub(super) fn shown(&self, json: bool) -> String {
        match serde_json::to_string(self) {
            Ok(line) if json => line,
            _ => self.text(),
        }
    }

    fn text(&self) -> String {
        let state = |report: &Report| {
            let Report { sender, .. } = report;
            let rtt = sender.rtt_ms.map_or(f64::NAN, |rtt| rtt.last);
            format!(
                "{:.1} MB sent by {}, RTT {rtt:.2} ms, cwnd {:.1} kB, {} of {} packets lost, {} marked; \
                 {:.1} MB received",
                sender.sent_bytes as f64 / 1e6,
                report.controller,
                sender.cwnd_bytes as f64 / 1e3,
                sender.lost_packets,
                sender.sent_packets,
                sender.marked_packets,
                report.received_bytes as f64 / 1e6
            )
        };
        match self {
            Self::Listening {
                address,
                controller,
                ..
            } => format!("listening on {address}, sending by {controller}"),
            Self::Second { peer, report } => format!("{peer}: {}", state(report)),
            Self::Closed { peer, report } => format!("{peer}: closed; {}", state(report)),
            Self::Missing { lines } => {
                format!("{lines} lines are missing here: standard output was not read")
            }
        }
    }
}

/// Megabits a second; 0 for no time.
fn mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / 1e6 / seconds
    } else {
        0.0
    }
}
