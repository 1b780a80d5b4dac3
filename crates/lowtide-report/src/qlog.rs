//! A single flow as qlog, for qvis and other tools.
//!
//! Written as a stream (JSON text sequences, RFC 7464), so that memory does not grow with the run:
//! draft-ietf-quic-qlog-main-schema-14 (file schema `sequential`) with the events of
//! draft-ietf-quic-qlog-quic-events-13, the newest in November 2026; or qlog 0.3
//! (draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01), the newest that
//! qvis opens. The vantage point is the sender's. The simulator has no
//! handshake, streams or frames: packets are 1-RTT and tell their length only, and an
//! acknowledgment's frame names the packets that it newly acknowledges. Of s2n-quic no more is seen,
//! so that the few packets of its handshake count as 1-RTT, too.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lowtide_cc::controller::AckedPacket;
use lowtide_cc::units::Time;
use lowtide_lab::contender::Contender;
use lowtide_lab::run::{self, Stop};
use lowtide_lab::setting::{Host, Setting};
use lowtide_lab::transfer::SampledFlow;
use lowtide_sim::Probe;
use lowtide_sim::probe::{AckSeen, LossSeen, Sent};
use lowtide_sim::transport::TransportConfig;
use serde::Serialize;
use serde_json::json;

/// Which qlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// main-schema-14 and quic-events-13.
    #[default]
    Draft14,
    /// 0.3, for qvis: events are named by category, and a header has `qlog_version`.
    V03,
}

/// Why there is no qlog.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// qlog's files have one connection each.
    #[error("qlog shows one flow, not {0}")]
    SeveralFlows(usize),
    /// The flow is over TCP, and qlog's events are QUIC's.
    #[error("qlog's events are those of QUIC, not of TCP")]
    NotQuic,
    /// A program's own would have to be asked for.
    #[error("a program is seen from the link, whose events are not a sender's")]
    NotSimulated,
    /// The setting cannot be run.
    #[error("{0}")]
    Run(String),
    /// The log cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// Where the qlog of something lies in a folder: specs have characters that not every file system takes.
#[must_use]
pub fn path(folder: &Path, name: &str) -> PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.=".contains(c);
    let letters = name.chars().map(|c| if plain(c) { c } else { '_' });
    folder.join(format!("{}.sqlog", letters.collect::<String>()))
}

/// Whether a setting's runs can be written.
///
/// # Errors
/// When it has several flows or no QUIC.
pub fn check(setting: &Setting) -> Result<(), Error> {
    match setting.groups.as_slice() {
        [group] if matches!(group.contender, Contender::Program(_)) => Err(Error::NotSimulated),
        [group] if group.count == 1 => match group.transport {
            TransportConfig::Quic { .. } => Ok(()),
            TransportConfig::Tcp { .. } => Err(Error::NotQuic),
        },
        _ => Err(Error::SeveralFlows(setting.flow_count())),
    }
}

/// Runs a setting once with its first seed, writes what the sender sees, and hands `out` back.
///
/// # Errors
/// When the setting has several flows or no QUIC, cannot be simulated, or writing fails.
pub fn write<W: Write + Send + 'static>(
    setting: &Setting,
    version: Version,
    out: W,
) -> Result<W, Error> {
    check(setting)?;
    let seed = setting.seeds.first;
    let name = setting.controllers().join(" + ");
    let title = format!("{name} on {}", setting.link_name);
    let description = match Host::of(setting).stack() {
        None => format!("simulated by Lowtide, seed {seed}"),
        Some(stack) => format!("{stack} in virtual time by Lowtide, seed {seed}"),
    };
    let log = Log::new(out, version, &title, &description, &name);
    let (_, log) = run::watched(setting, seed, log, &Stop::default()).map_err(Error::Run)?;
    Ok(log.finish()?)
}

/// Writes one connection of a transfer. Its packets are not recorded one by one: the file has the sender's
/// metrics and its controller's phases.
///
/// # Errors
/// When it cannot be written.
pub fn write_sampled(
    title: &str,
    controller: &str,
    flow: &SampledFlow,
    version: Version,
    out: impl Write,
) -> io::Result<()> {
    let description = "a transfer, sampled by Lowtide";
    let mut log = Log::new(out, version, title, description, controller).without_packets();
    flow.replay(0, &mut log);
    log.finish().map(drop)
}

/// Writes events as they come; after a failure nothing more.
struct Log<W> {
    out: W,
    version: Version,
    phase: Option<&'static str>,
    has_packets: bool,
    outcome: io::Result<()>,
}

impl<W: Write> Log<W> {
    /// Begins a file. `sender` names whose view it is.
    fn new(out: W, version: Version, title: &str, description: &str, sender: &str) -> Self {
        let mut log = Self {
            out,
            version,
            phase: None,
            has_packets: true,
            outcome: Ok(()),
        };
        let vantage_point = json!({ "name": sender, "type": "server" });
        log.record(&match version {
            Version::Draft14 => json!({
                "file_schema": "urn:ietf:params:qlog:file:sequential",
                "serialization_format": "application/qlog+json-seq",
                "title": title,
                "trace": {
                    "title": title,
                    "description": description,
                    "vantage_point": vantage_point,
                    "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
                    "common_fields": {
                        "time_format": "relative_to_epoch",
                        "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                    },
                },
            }),
            Version::V03 => json!({
                "qlog_version": "0.3",
                "qlog_format": "JSON-SEQ",
                "title": title,
                "trace": {
                    "title": title,
                    "description": description,
                    "vantage_point": vantage_point,
                    "common_fields": { "time_format": "relative", "reference_time": 0 },
                },
            }),
        });
        log
    }

    /// Leaves out packets, which have not been seen one by one.
    fn without_packets(mut self) -> Self {
        self.has_packets = false;
        self
    }

    /// Ends the file; the error is that of the first write that failed.
    fn finish(mut self) -> io::Result<W> {
        self.outcome?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn packet(&mut self, now: Time, category: &str, name: &str, data: serde_json::Value) {
        if self.has_packets {
            self.event(now, category, name, data);
        }
    }

    fn record(&mut self, value: &impl Serialize) {
        if self.outcome.is_ok() {
            self.outcome = (|| {
                // RFC 7464: a record separator before, a line feed behind.
                self.out.write_all(b"\x1e")?;
                serde_json::to_writer(&mut self.out, value)?;
                self.out.write_all(b"\n")
            })();
        }
    }

    /// `category`: what the event's name begins with in 0.3.
    fn event(&mut self, now: Time, category: &str, name: &str, data: serde_json::Value) {
        let ms = now.as_nanos() as f64 / 1e6;
        let name = match self.version {
            Version::Draft14 => format!("quic:{name}"),
            // 0.3 has no recovery_ before what is in that category.
            Version::V03 => format!("{category}:{}", name.trim_start_matches("recovery_")),
        };
        self.record(&json!({ "time": ms, "name": name, "data": data }));
    }
}

fn header(number: u64) -> serde_json::Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// Runs of consecutive numbers, first and last.
fn ranges(packets: &[AckedPacket]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for number in packets.iter().map(|p| p.number) {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => ranges.push([number, number]),
        }
    }
    ranges
}

impl<W: Write> Probe for Log<W> {
    fn on_send(&mut self, sent: &Sent) {
        let data = json!({
            "header": header(sent.number),
            "raw": { "length": sent.bytes.get() },
        });
        self.packet(sent.now, "transport", "packet_sent", data);
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        let frame = json!({ "frame_type": "ack", "acked_ranges": ranges(ack.packets) });
        let data = json!({ "header": { "packet_type": "1RTT" }, "frames": [frame] });
        self.packet(ack.now, "transport", "packet_received", data);
        let mut data = json!({
            "smoothed_rtt": ack.smoothed_rtt.as_millis_f64(),
            "bytes_in_flight": ack.inflight.get(),
        });
        if let Some(rtt) = ack.rtt {
            data["latest_rtt"] = json!(rtt.as_millis_f64());
        }
        let Some(controller) = ack.controller else {
            return self.event(ack.now, "recovery", "recovery_metrics_updated", data);
        };
        let snapshot = controller.snapshot();
        data["congestion_window"] = json!(controller.cwnd().get());
        if let Some(rate) = controller.pacing_rate() {
            data["pacing_rate"] = json!(rate.as_bytes_per_sec().saturating_mul(8));
        }
        if let Some(min_rtt) = snapshot.min_rtt {
            data["min_rtt"] = json!(min_rtt.as_millis_f64());
        }
        if let Some(ssthresh) = snapshot.ssthresh {
            data["ssthresh"] = json!(ssthresh.get());
        }
        self.event(ack.now, "recovery", "recovery_metrics_updated", data);
        if self.phase != Some(snapshot.phase) && !snapshot.phase.is_empty() {
            let mut data = json!({ "new": snapshot.phase });
            if let Some(old) = self.phase.replace(snapshot.phase) {
                data["old"] = json!(old);
            }
            self.event(ack.now, "recovery", "congestion_state_updated", data);
        }
    }

    fn on_loss(&mut self, _flow: usize, loss: &LossSeen<'_>) {
        for packet in loss.packets {
            let data = json!({ "header": header(packet.number) });
            self.packet(loss.now, "recovery", "packet_lost", data);
        }
    }

    fn on_timeout(&mut self, _flow: usize, now: Time) {
        let data = json!({ "timer_type": "pto", "event_type": "expired" });
        self.event(now, "recovery", "loss_timer_updated", data);
    }
}
