//! What is simulated: everything about a run but its seed.
//!
//! Command lines and scenario files fill the same [`Sections`]; a [`Resolver`] checks them and makes
//! the [`Setting`] that is run. Flags and files differ in nothing but what they call a key.

mod brief;
mod buffer;
mod built_in;
mod cross;
mod described;
mod folder;
mod host;
mod identity;
mod links;
pub mod measures;
mod problem;
mod quantity;
mod resolve;
mod sections;
mod short;
mod trigger;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::{LossModel, MovingDelay};
use lowtide_sim::link::{Link, LinkError};
use lowtide_sim::network::seed;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::generate::Model;
use lowtide_sim::transport::{EcnFeedback, Lie, Pacing, TransportConfig};
use lowtide_sim::{AccessConfig, Direction, FlowConfig, PipeConfig, SimConfig};
use serde::Serialize;

pub use self::brief::Brief;
pub use self::buffer::{BASE_STATION, default_name as default_buffer_name};
pub use self::built_in::{BuiltIn, built_in};
pub use self::cross::Web;
pub use self::described::{Key, Knob, Takes, keys_of, knobs, options};
pub use self::host::Host;
pub use self::links::Links;
pub use self::measures::Measure;
pub use self::problem::Problem;
pub use self::quantity::{
    BufferText, BurstText, BytesText, EcnTreatmentText, MomentText, PolicerText, QueueText,
    RateText, ShareText, SourceText, SpanText, TimeText,
};
pub(crate) use self::resolve::model;
pub use self::resolve::{MAX_SEEDS, Resolver};
pub use self::sections::{
    AccessSection, FlowSection, LinkSection, PathSection, RunSection, Sections, Transport,
    TriggerSection, Value,
};
pub(crate) use self::short::SECTIONS;
pub use self::short::{SHORT, SHORT_FOR_MORE, short_name};
pub use self::trigger::{Moment, PhaseProbe, Trigger};
pub(crate) use self::values::{Refused, put, read};
use crate::contender::Contender;

/// Where a setting's bottleneck comes from.
#[derive(Clone, Debug, Serialize)]
pub enum LinkSource {
    /// A link that is equal for all seeds. It is long, and serialised by its digest.
    Fixed(#[serde(serialize_with = "identity::digest")] Arc<Link>),
    /// A generated one.
    Generated {
        /// What generates it.
        model: Model,
        /// The seed of the link, where it is the same in all runs; else it is the run's.
        seed: Option<u64>,
    },
}

impl LinkSource {
    /// The seed of the link in the run of a seed.
    #[must_use]
    pub fn seed(&self, seed: u64) -> u64 {
        match self {
            Self::Fixed(_) => seed,
            Self::Generated { seed: own, .. } => own.unwrap_or(seed),
        }
    }

    /// Its mean rate; of a generated one its model's.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        match self {
            Self::Fixed(link) => link.mean_rate(),
            Self::Generated { model, .. } => model.mean(),
        }
    }

    /// The link in the run of a seed.
    ///
    /// # Errors
    /// When the model's parameters make no link.
    pub fn link(&self, duration: Duration, seed: u64) -> Result<Arc<Link>, LinkError> {
        match self {
            Self::Fixed(link) => Ok(link.clone()),
            Self::Generated { model, .. } => {
                let rates = model.generate(duration, self.seed(seed))?;
                Ok(Arc::new(Link::Rates(rates)))
            }
        }
    }
}

/// Flows that are alike.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The sender.
    pub contender: Contender,
    /// How many flows.
    pub count: usize,
    /// When the first of them starts.
    pub start: Duration,
    /// Time between the starts of two of them.
    pub every: Duration,
    /// When all of them stop; `None`: never.
    pub stop: Option<Time>,
    /// Their transport.
    pub transport: TransportConfig,
    /// How their receivers report marks.
    pub ecn: EcnFeedback,
    /// How their hosts pace.
    pub pacing: Pacing,
    /// What they send.
    pub source: SourceConfig,
    /// Which way they go, and their access links.
    pub access: AccessConfig,
    /// The flows are cross traffic, each with a start and a volume of its own.
    pub web: Option<Web>,
    /// The flows start at random, `every` apart on average; the number of the group.
    pub poisson: Option<u64>,
    /// What their receivers lie about.
    pub lie: Option<Lie>,
}

impl Group {
    /// One bulk QUIC flow from start to end.
    #[must_use]
    pub fn of(contender: Contender) -> Self {
        Self {
            contender,
            count: 1,
            start: Duration::ZERO,
            every: Duration::ZERO,
            stop: None,
            transport: TransportConfig::quic(),
            ecn: EcnFeedback::default(),
            pacing: Pacing::Rate,
            source: SourceConfig::Bulk,
            access: AccessConfig::default(),
            web: None,
            poisson: None,
            lie: None,
        }
    }

    /// Whether it is there for what it does to others; `both`: flows go both ways.
    fn is_background(&self, both: bool) -> bool {
        self.web.is_some() || (both && self.is_reverse())
    }

    /// Whether its data goes against the others'.
    fn is_reverse(&self) -> bool {
        self.access.direction == Direction::Reverse
    }

    fn flows(&self, seed: u64) -> Vec<FlowConfig> {
        let flow = |n: u64| FlowConfig {
            sender: self.contender.sender(),
            transport: self.transport,
            ecn: self.ecn,
            lie: self.lie,
            pacing: self.pacing,
            source: self.source,
            start: Time::ZERO + self.start + self.every * n,
            stop: self.stop,
            access: self.access,
            background: false,
        };
        let mut flows: Vec<FlowConfig> = (0..self.count as u64).map(flow).collect();
        if let Some(group) = self.poisson {
            let starts = cross::poisson(self.every * self.count as u64, self.count, seed, group);
            for (flow, start) in flows.iter_mut().zip(starts) {
                flow.start = Time::ZERO + self.start + start;
            }
        }
        if let Some(web) = &self.web {
            let transfers = web.transfers(self.count, seed);
            for (flow, (start, size)) in flows.iter_mut().zip(transfers) {
                flow.start = start;
                flow.source = SourceConfig::Sized(size);
            }
        }
        flows
    }
}

/// A flow's name, and when it sends at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// For people.
    pub name: String,
    /// Its start.
    pub start: Time,
    /// When it stops, or the run ends.
    pub stop: Time,
}

/// The seeds of a setting's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// How many, one after the other.
    pub count: u64,
}

impl Seeds {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        (0..self.count.max(1)).map(move |n| self.first.wrapping_add(n))
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Self { first: 1, count: 1 }
    }
}

/// A link, the flows on it, what carries them, for how long and how often.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// What the link is, for people.
    #[serde(skip)]
    pub link_name: String,
    /// The way towards the receivers: the simulator's, but that its link may be generated.
    pub forward: PipeConfig<LinkSource>,
    /// The way back.
    pub back: PipeConfig<LinkSource>,
    /// What the link of the way back is, for people, where it has one.
    #[serde(skip)]
    pub back_name: Option<String>,
    /// Size of a full packet.
    pub packet_size: Bytes,
    /// The flows that share the link.
    pub groups: Vec<Group>,
    /// What happens once one of them has entered a phase.
    pub trigger: Option<Trigger>,
    /// What carries the flows.
    pub host: Host,
    /// How long it runs.
    pub duration: Duration,
    /// Nothing before this is measured.
    pub measure_from: Time,
    /// How often it runs.
    #[serde(skip)]
    pub seeds: Seeds,
    /// What is measured besides the metrics, by name.
    pub measures: BTreeMap<String, Measure>,
}

/// The seed of a generated link of the way back, by [`seed::derive`]: not that of the way there.
const REVERSE_LINK: u64 = 1;

impl Setting {
    /// Size of a pure acknowledgment on a reverse link of limited rate.
    const ACK_SIZE: Bytes = Bytes::new(60);

    /// One bulk QUIC flow, the oracle's until a contender takes its place, for 30 s over a link with
    /// 40 ms RTT and an unlimited buffer.
    #[must_use]
    pub fn on_link(name: &str, link: LinkSource) -> Self {
        let way = Duration::from_millis(20);
        let free = LinkSource::Fixed(Arc::new(Link::unlimited()));
        Self {
            link_name: name.to_string(),
            forward: PipeConfig::link_with_delay(link, QueueLimit::Unlimited, way),
            back: PipeConfig::link_with_delay(free, QueueLimit::Unlimited, way),
            back_name: None,
            packet_size: Bytes::new(1500),
            groups: vec![Group::of(Contender::Oracle)],
            trigger: None,
            host: Host::default(),
            duration: Duration::from_secs(30),
            measure_from: Time::ZERO,
            seeds: Seeds::default(),
            measures: BTreeMap::new(),
        }
    }

    /// The setting with this contender in the place of all that send; where flows go both ways, of those
    /// that go forward.
    #[must_use]
    pub fn run_by(&self, contender: &Contender) -> Self {
        let mut setting = self.clone();
        let both = setting.goes_both_ways();
        for group in &mut setting.groups {
            if !group.is_background(both) {
                group.contender = contender.clone();
            }
        }
        setting
    }

    /// The setting with this many flows in each group.
    #[must_use]
    pub fn with_flows(mut self, count: usize) -> Self {
        for group in &mut self.groups {
            group.count = count;
        }
        self
    }

    /// The setting with this round-trip propagation delay of the shared path, half of it each way.
    #[must_use]
    pub fn with_rtt(mut self, rtt: Duration) -> Self {
        self.forward.delay = rtt.div(2);
        self.back.delay = rtt - rtt.div(2);
        self
    }

    /// The setting with this buffer before the bottleneck.
    #[must_use]
    pub fn with_buffer(mut self, buffer: QueueLimit) -> Self {
        self.forward.buffer = buffer;
        self
    }

    /// The setting with this loss behind the bottleneck.
    #[must_use]
    pub fn with_loss(mut self, loss: LossModel) -> Self {
        self.forward.loss = loss;
        self
    }

    /// The link in the run of a seed.
    ///
    /// # Errors
    /// When the model's parameters make no link.
    pub fn link(&self, seed: u64) -> Result<Arc<Link>, LinkError> {
        self.forward.link.link(self.duration, seed)
    }

    /// The setting over another transport.
    #[must_use]
    pub fn over(mut self, transport: TransportConfig) -> Self {
        for group in &mut self.groups {
            group.transport = transport;
        }
        self
    }

    /// Seeds whose links are made for the mean in a name; more take too long before anything runs.
    const NAMED_SEEDS: usize = 100;

    /// The setting with the mean rate of a generated link in its name: over all seeds, or about that over
    /// the first hundred.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn with_mean_in_name(mut self) -> Result<Self, LinkError> {
        if matches!(self.forward.link, LinkSource::Generated { .. }) {
            let all = self.seeds.count <= Self::NAMED_SEEDS as u64;
            let rates = self.seeds.iter().take(Self::NAMED_SEEDS).map(|seed| {
                let link = self.link(seed)?;
                let volume = link.volume_between(Time::ZERO, Time::ZERO + self.duration);
                Ok(Rate::from_volume(volume, self.duration).as_mbps())
            });
            let rates: Vec<f64> = rates.collect::<Result<_, LinkError>>()?;
            let mean = crate::statistics::mean(&rates);
            let about = if all { "" } else { "about " };
            self.link_name = format!("{}, {about}{mean:.1} Mbit/s on average", self.link_name);
        }
        Ok(self)
    }

    /// Each flow by name, and when it is to send. Those of one group only are numbered; else a flow
    /// has its controller's name, with a number where several have the same.
    #[must_use]
    pub fn lives(&self) -> Vec<Life> {
        let end = Time::ZERO + self.duration;
        let all = self.groups.iter().flat_map(|group| {
            let flows = group.flows(self.seeds.first).into_iter();
            flows.map(move |flow| Life {
                name: match self.groups.len() {
                    _ if group.web.is_some() => "web".to_string(),
                    1 => "flow".to_string(),
                    _ => group.contender.name().to_string(),
                },
                start: flow.start,
                stop: flow.stop.unwrap_or(end).min(end),
            })
        });
        let mut lives: Vec<Life> = all.collect();
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        for life in &lives {
            counts.entry(life.name.clone()).or_default().1 += 1;
        }
        for life in &mut lives {
            if let Some((number, count)) = counts.get_mut(&life.name)
                && *count > 1
            {
                *number += 1;
                life.name = format!("{} {number}", life.name);
            }
        }
        lives
    }

    /// Whether the flows' data goes both ways; what is said of all flows together is then of those that
    /// go forward.
    fn goes_both_ways(&self) -> bool {
        let of_hosts = self.groups.iter().filter(|group| group.web.is_none());
        let reverse = of_hosts.clone().filter(|group| group.is_reverse());
        (1..of_hosts.count()).contains(&reverse.count())
    }

    /// How many flows there are.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// How many of them what is said of all flows together is of.
    #[must_use]
    pub fn measured_flows(&self) -> usize {
        let both = self.goes_both_ways();
        let measured = self
            .groups
            .iter()
            .filter(|group| !group.is_background(both));
        measured.map(|group| group.count).sum()
    }

    /// The group of each flow.
    #[must_use]
    pub fn group_of_flows(&self) -> Vec<usize> {
        let groups = self.groups.iter().enumerate();
        groups
            .flat_map(|(n, group)| std::iter::repeat_n(n, group.count))
            .collect()
    }

    /// The sender of each group's flows.
    #[must_use]
    pub fn controllers(&self) -> Vec<&str> {
        let groups = self.groups.iter();
        groups.map(|group| group.contender.name()).collect()
    }

    /// The controllers that lack their estimate, because their receivers report no timestamps.
    pub fn lacking_timestamps(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.iter();
        let lacking = groups.filter(|group| {
            let needs = matches!(
                group.contender,
                Contender::Controller {
                    needs_timestamps: true,
                    ..
                }
            );
            needs && !group.transport.reports_timestamps()
        });
        lacking.map(|group| group.contender.name())
    }

    /// Round-trip propagation delay of the shared path; of a way where it moves, the mean of its repetition or else the
    /// first.
    #[must_use]
    pub fn base_rtt(&self) -> Duration {
        self.forward.delay + self.back.delay
    }

    /// That for people.
    #[must_use]
    pub fn rtt_shown(&self) -> String {
        // A delay that is written as a series may be one value all the time.
        let moves = |delay: &Arc<MovingDelay>| delay.least() < delay.mean();
        let moves = if self.forward.moving.as_ref().is_some_and(moves) {
            " (moves)"
        } else {
            ""
        };
        format!("{}{moves}", self.base_rtt())
    }

    /// The simulation of a seed, without its trigger.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn config(&self, seed: u64) -> Result<SimConfig, LinkError> {
        let way = |pipe: &PipeConfig<LinkSource>, seed| {
            let link = pipe.link.link(self.duration, seed)?;
            Ok::<_, LinkError>(pipe.clone().over(link))
        };
        let mut forward = way(&self.forward, seed)?;
        let mut brought = self.groups.iter().filter_map(|g| g.contender.queue());
        forward.queue = brought.next().unwrap_or(forward.queue);
        let both = self.goes_both_ways();
        let flows = self.groups.iter().flat_map(|group| {
            let background = group.is_background(both);
            let flows = group.flows(seed).into_iter();
            flows.map(move |flow| FlowConfig { background, ..flow })
        });
        Ok(SimConfig {
            forward,
            reverse: way(&self.back, seed::derive(seed, REVERSE_LINK))?,
            flows: flows.collect(),
            duration: self.duration,
            packet_size: self.packet_size,
            ack_size: Self::ACK_SIZE,
            seed,
        })
    }

    /// What a run costs as far as the setting tells: the bits that its link could carry meanwhile, and a million for
    /// what every run costs.
    #[must_use]
    pub fn cost(&self) -> u64 {
        // A link without a limit is limited by what its flows send.
        let mbps = self.forward.link.mean_rate().as_mbps().min(1e6);
        (mbps * self.duration.as_secs_f64() * 1e6) as u64 + 1_000_000
    }

    /// The bottleneck's mean bandwidth-delay product; the RTT is that of the first group.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn bdp(&self, seed: u64) -> Result<Bytes, LinkError> {
        let access = self.groups.first().map_or(Duration::ZERO, |group| {
            group.access.sender_delay + group.access.receiver_delay
        });
        let link = self.link(seed)?;
        Ok(link.mean_rate().volume_in(self.base_rtt() + access * 2))
    }
}
