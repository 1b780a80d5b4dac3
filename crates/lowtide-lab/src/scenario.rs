//! A link, the flows on it, and for how long: everything but the controller.

use std::sync::Arc;

use lowtide_cc::registry::Spec;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel};
use lowtide_sim::link::{AfterLast, Link, LinkError, RateSchedule};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::generate::{self, Model};
use lowtide_sim::transport::{Pacing, TransportConfig};
use lowtide_sim::{AccessConfig, FlowConfig, PipeConfig, SenderKind, SimConfig};

/// Where a scenario's bottleneck comes from.
#[derive(Clone, Debug)]
pub enum LinkSource {
    /// The same for all seeds.
    Fixed(Arc<Link>),
    /// A generated one, another for each seed.
    Generated(Model),
}

impl LinkSource {
    /// The link of a seed.
    ///
    /// # Errors
    /// When the model's parameters make no link.
    pub fn link(&self, duration: Duration, seed: u64) -> Result<Arc<Link>, LinkError> {
        match self {
            Self::Fixed(link) => Ok(link.clone()),
            Self::Generated(model) => Ok(Arc::new(Link::Rates(model.generate(duration, seed)?))),
        }
    }
}

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the link is, for people.
    pub link_name: String,
    /// The bottleneck.
    pub link: LinkSource,
    /// Round-trip propagation delay of the shared path, half of it each way.
    pub rtt: Duration,
    /// The queue before the bottleneck.
    pub buffer: QueueLimit,
    /// How long it runs.
    pub duration: Duration,
    /// How many flows, all alike.
    pub flows: usize,
    /// Time between the starts of two flows.
    pub stagger: Duration,
    /// Loss behind the bottleneck.
    pub loss: LossModel,
    /// Loss of acknowledgments.
    pub ack_loss: LossModel,
    /// Jitter behind the bottleneck.
    pub jitter: Option<Jitter>,
    /// Aggregation of acknowledgments.
    pub aggregation: Option<Aggregation>,
    /// The flows' transport.
    pub transport: TransportConfig,
    /// How their hosts pace.
    pub pacing: Pacing,
    /// What they send.
    pub source: SourceConfig,
    /// Their access links.
    pub access: AccessConfig,
    /// Size of a full packet.
    pub packet_size: Bytes,
}

impl Scenario {
    /// Size of a pure acknowledgment on a reverse link of limited rate.
    pub(crate) const ACK_SIZE: Bytes = Bytes::new(60);

    /// One bulk QUIC flow for 30 s over a link with 40 ms RTT and an unlimited buffer.
    #[must_use]
    pub fn on_link(name: &str, link: LinkSource) -> Self {
        Self {
            link_name: name.to_string(),
            link,
            rtt: Duration::from_millis(40),
            buffer: QueueLimit::Unlimited,
            duration: Duration::from_secs(30),
            flows: 1,
            stagger: Duration::ZERO,
            loss: LossModel::None,
            ack_loss: LossModel::None,
            jitter: None,
            aggregation: None,
            transport: TransportConfig::quic(),
            pacing: Pacing::Rate,
            source: SourceConfig::Bulk,
            access: AccessConfig::default(),
            packet_size: Bytes::new(1500),
        }
    }

    /// Sets the simulation up for one kind of sender.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn config(&self, sender: &SenderKind, seed: u64) -> Result<SimConfig, LinkError> {
        let there = self.rtt.div(2);
        let mut forward =
            PipeConfig::link_with_delay(self.link.link(self.duration, seed)?, self.buffer, there);
        forward.loss = self.loss;
        forward.jitter = self.jitter;
        let mut reverse = PipeConfig::delay_only(self.rtt - there);
        reverse.loss = self.ack_loss;
        reverse.aggregation = self.aggregation;
        let flow = |n: u64| FlowConfig {
            sender: sender.clone(),
            transport: self.transport,
            pacing: self.pacing,
            source: self.source,
            start: Time::ZERO + self.stagger * n,
            stop: None,
            access: self.access,
        };
        Ok(SimConfig {
            forward,
            reverse,
            flows: (0..self.flows as u64).map(flow).collect(),
            duration: self.duration,
            packet_size: self.packet_size,
            ack_size: Self::ACK_SIZE,
            seed,
        })
    }

    /// The bottleneck's mean bandwidth-delay product.
    ///
    /// # Errors
    /// When the link cannot be generated.
    pub fn bdp(&self, seed: u64) -> Result<Bytes, LinkError> {
        let access = self.access.sender_delay + self.access.receiver_delay;
        let rtt = self.rtt + access * 2;
        Ok(self
            .link
            .link(self.duration, seed)?
            .mean_rate()
            .volume_in(rtt))
    }
}

/// A controller spec as a sender, with the estimator that it needs at the receiver.
#[must_use]
pub fn sender(spec: &Spec) -> SenderKind {
    let spec = spec.clone();
    SenderKind::Controlled {
        estimator: spec.receiver(),
        controller: Arc::new(move |config| spec.build(config)),
    }
}

/// A scenario that needs no input.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    make: fn() -> Scenario,
}

impl BuiltIn {
    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        (self.make)()
    }
}

fn constant_5mbit() -> LinkSource {
    let link = RateSchedule::new(vec![(Time::ZERO, Rate::from_mbps(5))], AfterLast::Hold);
    LinkSource::Fixed(Arc::new(Link::Rates(link.expect("5 Mbit/s is above zero"))))
}

static BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "4g",
        summary: "one bulk flow on a 4G-like link whose rate changes every 10 ms, 40 ms RTT",
        make: || {
            let source = LinkSource::Generated(generate::named()[0].model());
            Scenario::on_link("built-in 4G-like link, 12 Mbit/s on average", source)
        },
    },
    BuiltIn {
        name: "media",
        summary: "a 10 Mbit/s source over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        make: || Scenario {
            rtt: Duration::from_millis(100),
            buffer: QueueLimit::Time(Duration::from_millis(500)),
            duration: Duration::from_secs(60),
            source: SourceConfig::ConstantRate(Rate::from_mbps(10)),
            ..Scenario::on_link("constant 5 Mbit/s", constant_5mbit())
        },
    },
    BuiltIn {
        name: "video",
        summary: "a 2 Mbit/s video (30 frames/s) over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        make: || Scenario {
            rtt: Duration::from_millis(100),
            buffer: QueueLimit::Time(Duration::from_millis(500)),
            duration: Duration::from_secs(60),
            source: SourceConfig::Video {
                rate: Rate::from_mbps(2),
                fps: 30,
                spread: 0.3,
            },
            ..Scenario::on_link("constant 5 Mbit/s", constant_5mbit())
        },
    },
];

/// All built-in scenarios; the first is the default.
#[must_use]
pub fn built_in() -> &'static [BuiltIn] {
    BUILT_IN
}
