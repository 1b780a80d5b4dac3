//! From a setting to a simulation.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel};
use lowtide_sim::link::{Link, LinkError, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::{self, generate};
use lowtide_sim::transport::{Pacing, TransportConfig};
use lowtide_sim::{AccessConfig, FlowConfig, PipeConfig, SenderKind, SimConfig};

use super::cells::Traces;
use super::error::Source;
use super::sections::{FlowSection, HostPacing, LinkSection, Setting, Transport};
use crate::compare::Contender;
use crate::experiment::key::Key;
use crate::scenario::{LinkSource, Scenario};

/// The longest run.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The largest packet: what IP can carry.
const MAX_PACKET: Bytes = Bytes::new(65_535);
/// The most flows of a run.
const MAX_FLOWS: u64 = 10_000;
/// The most runs of a cell.
const MAX_SEEDS: u64 = 10_000;

/// What is wrong with the value at a key.
pub(super) struct Problem {
    pub(super) at: String,
    pub(super) problem: String,
}

fn wrong<T>(at: &str, problem: impl ToString) -> Result<T, Problem> {
    Err(Problem {
        at: at.to_string(),
        problem: problem.to_string(),
    })
}

/// A flow that is still without its place among the others.
#[derive(Clone, Debug)]
struct Flow {
    group: usize,
    config: FlowConfig,
}

/// A setting whose every value has been checked.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The path without its flows, as a report needs it.
    pub scenario: Scenario,
    flows: Vec<Flow>,
    /// What each group of flows runs.
    pub controllers: Vec<String>,
    /// The seed of a generated link, where it is the same in all runs.
    link_seed: Option<u64>,
    /// Runs.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// Nothing before this is measured.
    pub measure_from: Time,
}

impl Prepared {
    pub(super) fn new(
        setting: &Setting,
        source: &Source,
        traces: &mut Traces,
    ) -> Result<(Self, String), Problem> {
        let (link, name, trace_key) = link(&setting.link, source, traces)?;
        let mut scenario = Scenario::on_link(&name, link);
        if setting.link.rate.is_some() || setting.link.schedule.is_some() {
            scenario.buffer = QueueLimit::Bdp(2.0);
        }
        if let Some(buffer) = setting.link.buffer {
            scenario.buffer = buffer.0;
        }
        let path = &setting.path;
        if let Some(rtt) = path.rtt {
            scenario.rtt = rtt.0;
        }
        if path.loss.is_some() && path.burst_loss.is_some() {
            return wrong("path.burst_loss", "there is 'loss' already; leave one out");
        }
        if let Some(share) = path.loss {
            scenario.loss = LossModel::Random(share.0);
        }
        if let Some(model) = path.burst_loss {
            scenario.loss = model.0;
        }
        if let Some(share) = path.ack_loss {
            scenario.ack_loss = LossModel::Random(share.0);
        }
        scenario.jitter = path.jitter.map(|max| Jitter {
            max: max.0,
            reorder: path.reorder,
        });
        scenario.aggregation = path.ack_aggregation.map(|p| Aggregation { period: p.0 });
        if let Some(size) = path.packet_size {
            scenario.packet_size = size.0;
            if size.0 > MAX_PACKET {
                return wrong("path.packet_size", format!("the most is {MAX_PACKET}"));
            }
        }
        if let Some(duration) = setting.run.duration {
            scenario.duration = duration.0;
            if duration.0 > MAX_DURATION {
                return wrong("run.duration", "the longest is 24 hours (86400s)");
            }
        }
        let seeds = setting.run.seeds.unwrap_or(1);
        if seeds == 0 || seeds > MAX_SEEDS {
            return wrong("run.seeds", format!("must lie between 1 and {MAX_SEEDS}"));
        }
        let measure_from = Time::ZERO + setting.run.measure_from.map_or(Duration::ZERO, |t| t.0);
        if measure_from >= Time::ZERO + scenario.duration {
            return wrong("run.measure_from", "the run is over by then");
        }
        if setting.flows.is_empty() {
            return wrong(
                "flows",
                "there is nobody to send: write a [[flows]] with a controller",
            );
        }
        let mut flows = Vec::new();
        let mut controllers = Vec::new();
        for (group, section) in setting.flows.iter().enumerate() {
            let name = add_flows(section, group, scenario.duration, &mut flows)?;
            controllers.push(name);
        }
        scenario.flows = flows.len();
        if let Some(first) = flows.first() {
            scenario.access = first.config.access;
            scenario.transport = first.config.transport;
            scenario.pacing = first.config.pacing;
            scenario.source = first.config.source;
        }
        let prepared = Self {
            scenario,
            flows,
            controllers,
            link_seed: setting.link.seed,
            seeds,
            first_seed: setting.run.first_seed.unwrap_or(1),
            measure_from,
        };
        Ok((prepared, trace_key))
    }

    /// The simulation of a seed.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn config(&self, seed: u64) -> Result<SimConfig, LinkError> {
        let s = &self.scenario;
        let link_seed = self.link_seed.unwrap_or(seed);
        let there = s.rtt.div(2);
        let link = s.link.link(s.duration, link_seed)?;
        let mut forward = PipeConfig::link_with_delay(link, s.buffer, there);
        forward.loss = s.loss;
        forward.jitter = s.jitter;
        let mut reverse = PipeConfig::delay_only(s.rtt - there);
        reverse.loss = s.ack_loss;
        reverse.aggregation = s.aggregation;
        Ok(SimConfig {
            forward,
            reverse,
            flows: self.flows.iter().map(|f| f.config.clone()).collect(),
            duration: s.duration,
            packet_size: s.packet_size,
            ack_size: Scenario::ACK_SIZE,
            seed,
        })
    }

    /// The group of each flow.
    #[must_use]
    pub fn groups(&self) -> Vec<usize> {
        self.flows.iter().map(|f| f.group).collect()
    }

    /// The seeds of its runs.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first_seed;
        (0..self.seeds).map(move |n| first.wrapping_add(n))
    }

    /// The seed of the link in the run of a seed.
    #[must_use]
    pub fn link_seed(&self, seed: u64) -> u64 {
        self.link_seed.unwrap_or(seed)
    }
}

/// A link, what it is for people, and the key of the trace's content where it is one.
fn link(
    section: &LinkSection,
    source: &Source,
    traces: &mut Traces,
) -> Result<(LinkSource, String, String), Problem> {
    let given = [
        section.rate.is_some(),
        section.schedule.is_some(),
        section.trace.is_some(),
        section.model.is_some(),
    ];
    if given.iter().filter(|g| **g).count() != 1 {
        return wrong(
            "link",
            "needs exactly one of 'rate', 'schedule', 'trace' and 'model'",
        );
    }
    let fixed = |link: Link| LinkSource::Fixed(Arc::new(link));
    if let Some(rate) = section.rate {
        let link = Link::constant(rate.0).or_else(|e| wrong("link.rate", e))?;
        let name = format!("constant {} Mbit/s", rate.0.as_mbps());
        return Ok((fixed(link), name, String::new()));
    }
    if let Some(text) = &section.schedule {
        let schedule = trace::schedule::parse(text).or_else(|e| wrong("link.schedule", e))?;
        return Ok((fixed(Link::Rates(schedule)), text.clone(), String::new()));
    }
    if let Some(path) = &section.trace {
        let opportunity = section.opportunity.map_or(MAHIMAHI_OPPORTUNITY, |b| b.0);
        let file = source.resolve(path);
        let cached = (file.clone(), opportunity.get());
        if !traces.read.contains_key(&cached) {
            let problem = |e: String| format!("{}: {e}", file.display());
            let link = trace::load(&file, opportunity)
                .or_else(|e| wrong("link.trace", problem(e.to_string())))?;
            let bytes =
                std::fs::read(&file).or_else(|e| wrong("link.trace", problem(e.to_string())))?;
            let entry = (Arc::new(link), Key::of(&[&bytes]));
            traces.read.insert(cached.clone(), entry);
        }
        let (link, key) = &traces.read[&cached];
        let name = path.display().to_string();
        return Ok((LinkSource::Fixed(link.clone()), name, key.to_string()));
    }
    let name = section.model.as_deref().unwrap_or_default();
    let named = generate::named();
    let Some(found) = named.iter().find(|n| n.name == name) else {
        let known: Vec<&str> = named.iter().map(|n| n.name).collect();
        return wrong(
            "link.model",
            format!("there is no '{name}'; known are {}", known.join(", ")),
        );
    };
    let mut model = found.model();
    if let Some(mean) = section.mean {
        model = model.with_mean(mean.0);
    }
    let about = format!("{name} of {} Mbit/s", model.mean().as_mbps());
    Ok((LinkSource::Generated(model), about, String::new()))
}

/// Adds a group's flows; its controller for people.
fn add_flows(
    section: &FlowSection,
    group: usize,
    duration: Duration,
    flows: &mut Vec<Flow>,
) -> Result<String, Problem> {
    let at = |key: &str| format!("flows.{group}.{key}");
    let count = section.count.unwrap_or(1);
    if count == 0 || flows.len() as u64 + count > MAX_FLOWS {
        return wrong(
            &at("count"),
            format!("all together must be 1 to {MAX_FLOWS}"),
        );
    }
    let mut spec = section
        .controller
        .clone()
        .unwrap_or_else(|| "bbr".to_string());
    for (key, value) in &section.parameters {
        let join = if spec.contains(':') { ',' } else { ':' };
        spec = format!("{spec}{join}{key}={value}");
    }
    let sender: SenderKind = Contender::parse(&spec)
        .or_else(|e| {
            let key = if section.parameters.is_empty() {
                "controller"
            } else {
                "parameters"
            };
            wrong(&at(key), e)
        })?
        .sender();
    let transport = match section.transport.unwrap_or(Transport::Quic) {
        Transport::Quic => {
            if section.min_rto.is_some() {
                return wrong(&at("min_rto"), "is for transport = \"tcp\" only");
            }
            if section.sack.is_some() {
                return wrong(&at("sack"), "is for transport = \"tcp\" only");
            }
            let mut config = TransportConfig::quic();
            if let (TransportConfig::Quic { ack_every, .. }, Some(every)) =
                (&mut config, section.ack_every)
            {
                *ack_every = every;
            }
            config
        }
        Transport::Tcp => {
            if section.ack_every.is_some() {
                return wrong(&at("ack_every"), "is for transport = \"quic\" only");
            }
            let mut config = TransportConfig::tcp();
            if let TransportConfig::Tcp { min_rto, sack, .. } = &mut config {
                *min_rto = section.min_rto.map_or(*min_rto, |least| least.0);
                *sack = section.sack.unwrap_or(*sack);
            }
            config
        }
    };
    let zero = Duration::ZERO;
    let start = section.start.map_or(zero, |t| t.0);
    let every = section.every.map_or(zero, |t| t.0);
    if start + every * (count - 1) >= duration {
        let key = if start >= duration { "start" } else { "every" };
        return wrong(&at(key), "the last flow would start when the run is over");
    }
    let stop = section.stop.map(|t| Time::ZERO + t.0);
    let access = &section.access;
    let rate = |r: Option<super::RateText>| -> Option<Rate> { r.map(|r| r.0) };
    let access = AccessConfig {
        sender_rate: rate(access.sender_rate),
        sender_delay: access.sender_delay.map_or(zero, |t| t.0),
        receiver_rate: rate(access.receiver_rate),
        receiver_delay: access.receiver_delay.map_or(zero, |t| t.0),
    };
    for n in 0..count {
        flows.push(Flow {
            group,
            config: FlowConfig {
                sender: sender.clone(),
                transport,
                pacing: match section.pacing.unwrap_or_default() {
                    HostPacing::Rate => Pacing::Rate,
                    HostPacing::Off => Pacing::Off,
                    HostPacing::AckCredit => Pacing::AckCredit,
                },
                source: section.source.map_or(SourceConfig::Bulk, |s| s.0),
                start: Time::ZERO + start + every * n,
                stop,
                access,
            },
        });
    }
    Ok(spec)
}
