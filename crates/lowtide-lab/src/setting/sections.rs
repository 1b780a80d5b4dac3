//! What a person says about a simulation: the sections of a scenario file, which flags fill as well.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lowtide_sim::Direction;
use lowtide_sim::transport::{EcnFeedback, Lie, Pacing};
use schemars::JsonSchema;
use serde::Deserialize;

use super::host::Host;
use super::measures::Measure;
use super::quantity::{
    BufferText, BurstText, BytesText, EcnTreatmentText, PolicerText, QueueText, RateText,
    ShareText, SourceText, SpanText, TimeText,
};

/// One simulation: what is left of a file once a case and a cell of the sweep have been chosen, or
/// what the flags of a command say. What is not said has a default.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sections {
    /// The bottleneck.
    #[serde(default)]
    pub link: LinkSection,
    /// The bottleneck of the way back, as `link`; without it only delays.
    #[serde(default)]
    pub reverse: LinkSection,
    /// The path around it.
    #[serde(default)]
    pub path: PathSection,
    /// How long, how often.
    #[serde(default)]
    pub run: RunSection,
    /// Groups of flows.
    #[serde(default)]
    pub flows: Vec<FlowSection>,
    /// What happens once a flow has entered a phase.
    pub trigger: Option<TriggerSection>,
    /// What is measured besides the metrics, by name.
    #[serde(default)]
    pub measures: BTreeMap<String, Measure>,
}

/// What happens once a flow has entered a phase. Times of `schedule`, `source`, `scripted_loss` and
/// `held_back` count from that moment. The setting is run twice: to find the moment, and with it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerSection {
    /// Whose phase, counted from 0 (default 0).
    #[serde(default)]
    pub flow: u64,
    /// The phase by the controller's own name for it, as in `ProbeBW_UP`.
    pub phase: String,
    /// At which entry into it (default 1).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub visit: Option<u64>,
    /// When it happens at the latest, whatever the flow does; without it a run fails in which the phase
    /// is not entered that often.
    pub by: Option<TimeText>,
    /// The link's rates from then on, as in `0s:4mbit`; the link must be a rate or a schedule.
    pub schedule: Option<String>,
    /// What the flow sends from then on, as in `0s:off,1s:bulk`.
    pub source: Option<String>,
    /// As in `[path]`.
    pub scripted_loss: Option<String>,
    /// As in `[path]`.
    pub held_back: Option<String>,
    /// As in `[path]`, from then on.
    pub ack_aggregation: Option<TimeText>,
}

/// The bottleneck: exactly one of `rate`, `schedule`, `trace` and `model`, and its queue.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// What it is called in tables and reports (default: what it is made of).
    pub name: Option<String>,
    /// A constant rate, as in `100mbit`.
    pub rate: Option<RateText>,
    /// What may pass at once after a pause, as in `100kB`: makes the constant rate a token-bucket shaper.
    pub burst: Option<BytesText>,
    /// Rates over time, as in `0s:10mbit,5s:2mbit`; the last one stays.
    pub schedule: Option<String>,
    /// A trace: mahimahi opportunities, or a rate series if named `.csv`. A path from the file's
    /// folder.
    pub trace: Option<PathBuf>,
    /// A generated link; `lowtide trace models` lists the models.
    pub model: Option<String>,
    /// The model's mean rate; without it the model's own.
    pub mean: Option<RateText>,
    /// The seed of the generated link; without it each run's own seed, and so another link.
    pub seed: Option<u64>,
    /// Bytes of one opportunity of a mahimahi trace (default 1504).
    pub opportunity: Option<BytesText>,
    /// How the queue before the bottleneck is managed, as in `codel` or `codel:target=5ms` (default
    /// `droptail`); `lowtide list queues` names what there is.
    pub queue: Option<QueueText>,
    /// How much that queue holds: `2bdp`, `100p` (packets), `64kB`, `50ms` or `inf` (default `2bdp`, and at
    /// least `1200kB` on traces and models).
    pub buffer: Option<BufferText>,
    /// Traffic of others over it: `cbr:5mbit`, `onoff:10mbit:1s:500ms` (rate, on, off), `video:2mbit`,
    /// `web:30%` (short CUBIC flows of that load), `file:PATH` (CSV with `time_ms` and `bytes`).
    #[serde(default)]
    pub cross: Vec<String>,
    /// A policer before that queue, as in `10mbit:100kB`: what exceeds rate and burst is dropped.
    pub policer: Option<PolicerText>,
}

/// The path around the bottleneck.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSection {
    /// Round-trip propagation delay of the shared path, half of it each way (default 40 ms).
    pub rtt: Option<SpanText>,
    /// Round-trip propagation delays that it has later, as in `20s:60ms,40s:40ms`.
    pub rtt_steps: Option<String>,
    /// The round-trip delay becomes shorter again and again, as in `500ms:100us`: each 500 ms by 100 µs.
    pub rtt_drift: Option<String>,
    /// One-way delays of the direction of the bottleneck over time, as CSV with the columns `time_ms`
    /// and `delay_ms`; the way back keeps half of `rtt`. A path from the file's folder.
    pub delay_trace: Option<PathBuf>,
    /// What becomes of ECN bits behind the bottleneck: `kept`, `bleached`, `downgraded` (ECT(1) to ECT(0)),
    /// `unmarked` (CE to ECT(0)) or `marked` (all) (default `kept`).
    pub ecn: Option<EcnTreatmentText>,
    /// Independent loss behind the bottleneck, as in `0.1%`.
    pub loss: Option<ShareText>,
    /// Bursty loss behind the bottleneck, instead of `loss`: mean share and mean burst in packets, as in `1%:10`.
    pub burst_loss: Option<BurstText>,
    /// Losses behind the bottleneck at set moments, as in `2s:600ms:1/20`: of what leaves it from 2 s on
    /// for 600 ms the last of each 20 packets; `2s:60p:1/20`: of 60 packets.
    pub scripted_loss: Option<String>,
    /// Likewise of acknowledgments; `10s:10s:1/1`: none comes through for 10 s.
    pub ack_scripted_loss: Option<String>,
    /// Packets that arrive late while those behind them pass, as in `6s:3p:25ms`: the first three that
    /// leave the bottleneck from 6 s on; `6s:40ms:1.5s`: all that leave it within 40 ms;
    /// `6s:10s:1/20:50ms`: within 10 s the last of each 20.
    pub held_back: Option<String>,
    /// Independent loss of acknowledgments.
    pub ack_loss: Option<ShareText>,
    /// Random extra delay behind the bottleneck, up to this.
    pub jitter: Option<TimeText>,
    /// A busy Wi-Fi's delays, both ways, with this mean: `7ms`; or from when on each, as in `0s:999us,1s:12ms`.
    pub wifi_jitter: Option<String>,
    /// Whether jitter, or a delay that becomes shorter, may reorder packets.
    #[serde(default)]
    pub reorder: bool,
    /// Acknowledgments arrive in batches, this far apart.
    pub ack_aggregation: Option<TimeText>,
    /// Acknowledgments are aggregated from then on (default: from the beginning).
    pub ack_aggregation_from: Option<TimeText>,
    /// Size of a full packet on the wire (default 1500 B).
    pub packet_size: Option<BytesText>,
}

/// How long, how often, measured from when.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSection {
    /// What carries the flows: the simulator's own transports (`model`), or s2n-quic (`quic`), noq or quinn in
    /// virtual time on the same links (default `model`).
    pub host: Option<Host>,
    /// Length of a run (default 30 s, or the trace's up to 120 s).
    pub duration: Option<TimeText>,
    /// Runs of each cell, each with its own seed; mean and 95 % interval are shown (default 1).
    #[schemars(range(min = 1, max = 10_000))]
    pub seeds: Option<u64>,
    /// The first seed (default 1).
    pub first_seed: Option<u64>,
    /// Nothing before this moment is measured (default 0 s: all is).
    pub measure_from: Option<SpanText>,
}

/// Flows that are alike.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSection {
    /// The controller, as in `bbr` or `cubic:abe=true`; or `oracle`.
    pub controller: Option<String>,
    /// Parameters of the controller, instead of or on top of those behind its name.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Which way its data goes (default `forward`); `reverse` needs a `[reverse]`.
    pub direction: Option<Direction>,
    /// How many flows (default 1).
    #[schemars(range(min = 1, max = 10_000))]
    pub count: Option<u64>,
    /// When the first of them starts (default 0 s).
    pub start: Option<SpanText>,
    /// Time between the starts of two of them (default 0 s).
    pub every: Option<SpanText>,
    /// The flows start at random, as a Poisson process has it, `every` apart on average (default false).
    #[serde(default)]
    pub poisson: bool,
    /// When all of them stop (default: never).
    pub stop: Option<TimeText>,
    /// What each sends: `bulk`, `10MB` (a volume), `10mbit` (a constant rate), `video:2mbit`,
    /// `onoff:10mbit:1s:500ms` (rate, on, off), `steps:0s:bulk,3s:off,9s:2mbit` (default `bulk`).
    pub source: Option<SourceText>,
    /// Its transport (default `quic`).
    pub transport: Option<Transport>,
    /// QUIC: packets that a receiver acknowledges at once (default 2).
    #[schemars(range(min = 1, max = 1000))]
    pub ack_every: Option<u32>,
    /// QUIC: receivers report when packets arrived, and controllers that make use of it are told
    /// (default false).
    pub timestamps: Option<bool>,
    /// Whether packets are ECN-capable as the controller wants, and how receivers report marks
    /// (default `accurate`).
    pub ecn: Option<EcnFeedback>,
    /// TCP: what the retransmission timer adds to the smoothed RTT at least (default 200 ms).
    pub min_rto: Option<TimeText>,
    /// TCP: selective acknowledgments (default true). Without them losses are found by timeouts
    /// alone.
    pub sack: Option<bool>,
    /// QUIC: what its receiver lies about (default: nothing).
    pub lie: Option<Lie>,
    /// How its host paces (default `rate`).
    pub pacing: Option<Pacing>,
    /// Its access links.
    #[serde(default)]
    pub access: AccessSection,
}

/// A controller's parameter.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A name, or a quantity with its unit.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(value) => write!(f, "{value}"),
            Self::Whole(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// RFC 9000, RFC 9002.
    Quic,
    /// With SACK and RACK-TLP (RFC 8985).
    Tcp,
}

/// A flow's own links on both sides of the bottleneck.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessSection {
    /// Rate between sender and bottleneck; without it no limit.
    pub sender_rate: Option<RateText>,
    /// Delay between sender and bottleneck, each way (default 0 s).
    pub sender_delay: Option<SpanText>,
    /// Rate between bottleneck and receiver; without it no limit.
    pub receiver_rate: Option<RateText>,
    /// Delay between bottleneck and receiver, each way (default 0 s).
    pub receiver_delay: Option<SpanText>,
}
