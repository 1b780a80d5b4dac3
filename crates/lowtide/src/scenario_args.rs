//! The flags that make a scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::scenario::{self, LinkSource, Scenario};
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source;
use lowtide_sim::trace::{self, quantity};
use lowtide_sim::transport::TransportConfig;

use crate::failure::Failure;

/// Flows beyond which a comparison would not fit into the memory of a laptop.
const MAX_FLOWS: u64 = 10_000;

#[derive(Clone, Copy, clap::ValueEnum)]
enum Transport {
    Quic,
    Tcp,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Link")]
pub(crate) struct ScenarioArgs {
    /// Built-in scenario to start from: 4g, media or video
    #[arg(long, value_name = "NAME", help_heading = "Scenario")]
    scenario: Option<String>,

    /// Trace of the bottleneck: mahimahi opportunities, or a rate series if named .csv.
    /// Repeat it to compare on several
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "schedule", "scenario"])]
    trace: Vec<PathBuf>,

    /// All traces below a folder, one comparison each
    #[arg(long, value_name = "DIR", conflicts_with_all = ["trace", "rate", "schedule", "scenario"])]
    traces: Option<PathBuf>,

    /// Constant rate of the bottleneck, as in 100mbit
    #[arg(long, conflicts_with_all = ["schedule", "scenario"], value_parser = quantity::rate)]
    rate: Option<Rate>,

    /// Rates over time, as in 0s:10mbit,5s:2mbit
    #[arg(long, conflicts_with = "scenario")]
    schedule: Option<String>,

    /// Round-trip propagation delay [default: 40ms, or the scenario's]
    #[arg(long, value_parser = quantity::duration)]
    rtt: Option<Duration>,

    /// Queue before the bottleneck: 2bdp, 100p (packets), 64kB, 50ms or inf
    /// [default: inf on traces, 2bdp at --rate and --schedule, or the scenario's]
    #[arg(long, value_parser = quantity::queue_limit)]
    buffer: Option<QueueLimit>,

    /// Bytes of one opportunity of a mahimahi trace
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    opportunity: Option<Bytes>,

    /// Random loss behind the bottleneck, as in 0.1%
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    loss: Option<f64>,

    /// Bursty loss behind the bottleneck: mean share and mean burst in packets, as in 1%:10
    #[arg(long, value_name = "SHARE:PACKETS", conflicts_with = "loss")]
    burst_loss: Option<String>,

    /// Random loss of acknowledgments
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    ack_loss: Option<f64>,

    /// Random extra delay behind the bottleneck, up to this
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    jitter: Option<Duration>,

    /// Let jitter reorder packets
    #[arg(long, requires = "jitter")]
    reorder: bool,

    /// Acknowledgments arrive in batches, this far apart
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    ack_aggregation: Option<Duration>,

    /// How many flows share the bottleneck
    #[arg(long, value_name = "N", help_heading = "Flows", value_parser = clap::value_parser!(u64).range(1..=MAX_FLOWS))]
    flows: Option<u64>,

    /// Time between the starts of two flows
    #[arg(long, value_name = "TIME", help_heading = "Flows", value_parser = quantity::duration_or_zero)]
    stagger: Option<Duration>,

    /// Transport protocol
    #[arg(long, help_heading = "Flows")]
    transport: Option<Transport>,

    /// Packets that a QUIC receiver acknowledges at once [default: 2]
    #[arg(long, value_name = "N", help_heading = "Flows", value_parser = clap::value_parser!(u32).range(1..=1000))]
    ack_every: Option<u32>,

    /// What each flow sends: bulk, 10MB (a volume), 10mbit (a constant rate), video:2mbit,
    /// onoff:10mbit:1s:500ms (rate, on, off) [default: bulk, or the scenario's]
    #[arg(long, help_heading = "Flows")]
    source: Option<String>,

    /// Size of a full packet on the wire [default: 1500B]
    #[arg(long, value_name = "SIZE", help_heading = "Flows", value_parser = quantity::bytes)]
    packet_size: Option<Bytes>,

    /// Rate of each sender's access link
    #[arg(long, value_name = "RATE", help_heading = "Flows", value_parser = quantity::rate)]
    access_rate: Option<Rate>,

    /// How long the simulation runs [default: 30s, or the scenario's, or the trace's up to 120s]
    #[arg(long, value_name = "TIME", help_heading = "Run", value_parser = quantity::duration)]
    duration: Option<Duration>,
}

/// The longest default duration on a trace.
const MAX_DEFAULT_DURATION: Duration = Duration::from_secs(120);
/// The longest duration that a run may have.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The largest packet: what IP can carry.
const MAX_PACKET: Bytes = Bytes::new(65_535);

impl ScenarioArgs {
    /// The scenarios that the flags describe: one, or one for each trace.
    pub(crate) fn scenarios(&self) -> Result<Vec<Scenario>, Failure> {
        let mut scenarios = Vec::new();
        for base in self.links()? {
            scenarios.push(self.apply(base)?);
        }
        Ok(scenarios)
    }

    /// The scenarios before all other flags.
    fn links(&self) -> Result<Vec<Scenario>, Failure> {
        if let Some(dir) = &self.traces {
            let mut files = Vec::new();
            collect_traces(dir, &mut files)?;
            if files.is_empty() {
                return Err(Failure::input(format!(
                    "{}: there is no trace in it",
                    dir.display()
                )));
            }
            return files
                .iter()
                .map(|file| self.trace_scenario(file, dir))
                .collect();
        }
        if !self.trace.is_empty() {
            return self
                .trace
                .iter()
                .map(|f| self.trace_scenario(f, Path::new("")))
                .collect();
        }
        if let Some(rate) = self.rate {
            let link = Link::constant(rate).map_err(Failure::input)?;
            let name = format!("constant {} Mbit/s", rate.as_mbps());
            return Ok(vec![constant_scenario(&name, link)]);
        }
        if let Some(text) = &self.schedule {
            let schedule = trace::schedule::parse(text)
                .map_err(|e| Failure::input(format!("--schedule: {e}")))?;
            return Ok(vec![constant_scenario(text, Link::Rates(schedule))]);
        }
        let built_in = scenario::built_in();
        match &self.scenario {
            None => Ok(vec![built_in[0].scenario()]),
            Some(name) => match built_in.iter().find(|b| b.name == name) {
                Some(found) => Ok(vec![found.scenario()]),
                None => {
                    let known: Vec<String> = built_in
                        .iter()
                        .map(|b| format!("{} ({})", b.name, b.summary))
                        .collect();
                    Err(Failure::input(format!(
                        "--scenario: there is no '{}'; known are {}",
                        name.escape_debug(),
                        known.join("; ")
                    )))
                }
            },
        }
    }

    fn trace_scenario(&self, file: &Path, below: &Path) -> Result<Scenario, Failure> {
        let link = load_trace(file, self.opportunity)?;
        let length = trace::info::natural_length(&link).unwrap_or(MAX_DEFAULT_DURATION);
        let name = file
            .strip_prefix(below)
            .unwrap_or(file)
            .display()
            .to_string();
        Ok(Scenario {
            duration: length.min(MAX_DEFAULT_DURATION),
            ..Scenario::on_link(&name, LinkSource::Fixed(Arc::new(link)))
        })
    }

    fn apply(&self, mut s: Scenario) -> Result<Scenario, Failure> {
        let set = |field: &mut Duration, value: Option<Duration>| {
            if let Some(value) = value {
                *field = value;
            }
        };
        set(&mut s.rtt, self.rtt);
        set(&mut s.duration, self.duration);
        set(&mut s.stagger, self.stagger);
        s.buffer = self.buffer.unwrap_or(s.buffer);
        s.packet_size = self.packet_size.unwrap_or(s.packet_size);
        s.flows = self.flows.map_or(s.flows, |n| n as usize);
        if s.packet_size > MAX_PACKET {
            return Err(Failure::input(format!(
                "--packet-size: the most is {MAX_PACKET}"
            )));
        }
        if s.duration > MAX_DURATION {
            return Err(Failure::input(
                "--duration: the longest is 24 hours (86400s)",
            ));
        }
        let last_start = s.stagger * (s.flows as u64).saturating_sub(1);
        if last_start >= s.duration {
            return Err(Failure::input(format!(
                "--stagger: the last flow would start at {} s, when the run of {} s is over; \
                 shorten it or lengthen --duration",
                last_start.as_secs_f64(),
                s.duration.as_secs_f64()
            )));
        }
        if let Some(share) = self.loss {
            s.loss = LossModel::Random(share);
        }
        if let Some(text) = &self.burst_loss {
            s.loss = quantity::burst_loss(text)
                .map_err(|e| Failure::input(format!("--burst-loss: {e}")))?;
        }
        if let Some(share) = self.ack_loss {
            s.ack_loss = LossModel::Random(share);
        }
        if let Some(max) = self.jitter {
            s.jitter = Some(Jitter {
                max,
                reorder: self.reorder,
            });
        }
        if let Some(period) = self.ack_aggregation {
            s.aggregation = Some(Aggregation { period });
        }
        if let Some(transport) = self.transport {
            s.transport = match transport {
                Transport::Quic => TransportConfig::quic(),
                Transport::Tcp => TransportConfig::tcp(),
            };
        }
        if let Some(every) = self.ack_every {
            match &mut s.transport {
                TransportConfig::Quic { ack_every, .. } => *ack_every = every,
                TransportConfig::Tcp { .. } => {
                    return Err(Failure::input("--ack-every is for --transport quic only"));
                }
            }
        }
        if let Some(text) = &self.source {
            s.source = source::parse(text).map_err(|e| Failure::input(format!("--source: {e}")))?;
        }
        s.access.sender_rate = self.access_rate.or(s.access.sender_rate);
        Ok(s)
    }
}

fn constant_scenario(name: &str, link: Link) -> Scenario {
    Scenario {
        buffer: QueueLimit::Bdp(2.0),
        ..Scenario::on_link(name, LinkSource::Fixed(Arc::new(link)))
    }
}

/// Reads a trace; the error names the file.
pub(crate) fn load_trace(file: &Path, opportunity: Option<Bytes>) -> Result<Link, Failure> {
    trace::load(file, opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY))
        .map_err(|e| Failure::input(format!("{}: {e}", file.display())))
}

/// All files below a folder in the order of their names, texts that describe them left out.
fn collect_traces(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |e: std::io::Error| Failure::input(format!("{}: {e}", dir.display()));
    let entries: Result<Vec<_>, _> = std::fs::read_dir(dir).map_err(unreadable)?.collect();
    let mut paths: Vec<PathBuf> = entries
        .map_err(unreadable)?
        .iter()
        .map(|e| e.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect_traces(&path, files)?;
        } else if path.extension().is_none_or(|e| e != "md") {
            files.push(path);
        }
    }
    Ok(())
}
