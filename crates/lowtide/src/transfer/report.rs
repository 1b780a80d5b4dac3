//! What a transfer shows while it runs and when it is over.

use std::fmt::Write as _;

use serde::Serialize;

use super::statistics::SenderState;

/// One second of a transfer, or what is left of one.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Interval {
    /// Since the transfer began.
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    /// Data received in it.
    pub(super) bytes: u64,
    pub(super) rate_mbps: f64,
    /// The sender at its end, as far as known.
    pub(super) sender: Option<SenderState>,
}

impl Interval {
    pub(super) fn new(start_s: f64, end_s: f64, bytes: u64, sender: Option<SenderState>) -> Self {
        Self {
            start_s,
            end_s,
            bytes,
            rate_mbps: mbps(bytes, end_s - start_s),
            sender,
        }
    }

    /// The heading of [`line`](Self::line).
    pub(super) const HEADING: &str =
        "    time        rate      RTT ms    min   cwnd kB  in flight kB   lost";

    pub(super) fn line(&self) -> String {
        let mut line = format!("{:7.1} s {:8.2} Mbit/s", self.end_s, self.rate_mbps);
        if let Some(sender) = &self.sender {
            let ms = |ms: Option<f64>| ms.map_or_else(|| "-".to_string(), |ms| format!("{ms:.2}"));
            // Writing to a string cannot fail.
            let _ = write!(
                line,
                " {:>8} {:>6} {:>9.1} {:>13.1} {:>6}",
                ms(sender.rtt_ms),
                ms(sender.min_rtt_ms),
                sender.cwnd as f64 / 1e3,
                sender.inflight as f64 / 1e3,
                sender.lost_packets
            );
        }
        line
    }
}

/// A whole transfer.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'a> {
    pub(super) address: String,
    /// `download` or `upload`.
    pub(super) direction: &'a str,
    /// This side's controller.
    pub(super) controller: &'a str,
    /// The server's, where it said so.
    pub(super) server_controller: Option<String>,
    pub(super) connections: u32,
    pub(super) streams: u32,
    pub(super) duration_s: f64,
    /// Data received.
    pub(super) bytes: u64,
    pub(super) rate_mbps: f64,
    /// The sender at the end, of the first connection.
    pub(super) sender: Option<SenderState>,
    pub(super) intervals: &'a [Interval],
}

impl Summary<'_> {
    /// The controller of what was transferred, as far as known.
    pub(super) fn sending_controller(&self) -> Option<&str> {
        match self.direction {
            "upload" => Some(self.controller),
            _ => self.server_controller.as_deref(),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{} of {:.1} MB in {:.2} s: {:.2} Mbit/s",
            self.direction,
            self.bytes as f64 / 1e6,
            self.duration_s,
            self.rate_mbps
        );
        if let Some(name) = self.sending_controller() {
            let _ = write!(text, ", sent by {name}");
        }
        if let Some(SenderState {
            mean_rtt_ms: Some(mean),
            min_rtt_ms: Some(least),
            sent_packets,
            lost_packets,
            ..
        }) = self.sender
        {
            let share = 100.0 * lost_packets as f64 / sent_packets.max(1) as f64;
            let _ = write!(
                text,
                "\nRTT mean {mean:.2} ms, min {least:.2} ms; {lost_packets} of {sent_packets} \
                 packets lost ({share:.2} %)"
            );
        }
        text
    }
}

/// Megabits a second; 0 for no time.
pub(super) fn mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / 1e6 / seconds
    } else {
        0.0
    }
}
