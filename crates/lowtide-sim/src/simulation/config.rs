//! What a simulation is made of: a dumbbell of flows over one bottleneck, each way.

use std::sync::Arc;

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::registry::Spec;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_cc::{Config, Controller};
use lowtide_host::Stock;

use super::causal::CausalConfig;
use crate::link::Link;
use crate::network::{AccessConfig, Direction, NetworkConfig, PipeConfig};
use crate::queue::QueueLimit;
use crate::source::SourceConfig;
use crate::transport::{EcnFeedback, Lie, Pacing, TransportConfig};

/// Builds a flow's controller.
pub type ControllerFactory = Arc<dyn Fn(&Config) -> Box<dyn Controller> + Send + Sync>;

/// A whole simulation.
#[derive(Clone, Debug)]
pub struct SimConfig {
    /// Sender → receiver: the bottleneck.
    pub forward: PipeConfig,
    /// Receiver → sender: the path of the acknowledgments.
    pub reverse: PipeConfig,
    /// The flows that share both.
    pub flows: Vec<FlowConfig>,
    /// When the simulation ends.
    pub duration: Duration,
    /// Size of every full packet on the wire. Headers are not modelled: windows, rates, links and
    /// queues all count whole packets.
    pub packet_size: Bytes,
    /// Size of a pure acknowledgment on the reverse link, without timestamps.
    pub ack_size: Bytes,
    /// Seeds every random choice (loss, jitter, sources, controllers).
    pub seed: u64,
}

impl SimConfig {
    /// Flows over one link with a buffer before it, on a path that takes `one_way` in each direction:
    /// packets of 1500 bytes, acknowledgments of 60.
    #[must_use]
    pub fn over(
        link: Link,
        buffer: QueueLimit,
        one_way: Duration,
        flows: Vec<FlowConfig>,
        duration: Duration,
    ) -> Self {
        Self {
            forward: PipeConfig::link_with_delay(Arc::new(link), buffer, one_way),
            reverse: PipeConfig::delay_only(one_way),
            flows,
            duration,
            packet_size: Bytes::new(1500),
            ack_size: Bytes::new(60),
            seed: 1,
        }
    }

    /// The shared path of a direction.
    #[must_use]
    pub fn pipe(&self, direction: Direction) -> &PipeConfig {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// The least propagation delay of a flow's data behind the link that it crosses.
    #[must_use]
    pub fn from_link(&self, access: &AccessConfig) -> Duration {
        self.pipe(access.direction).least_delay() + access.receiver_delay
    }

    /// One-way propagation delay of a flow's data.
    #[must_use]
    pub fn base_delay(&self, access: &AccessConfig) -> Duration {
        access.sender_delay + self.pipe(access.direction).delay + access.receiver_delay
    }

    /// Round-trip propagation delay of a flow.
    #[must_use]
    pub fn base_rtt(&self, access: &AccessConfig) -> Duration {
        let back = self.pipe(access.direction.back()).delay;
        self.base_delay(access) + access.sender_delay + back + access.receiver_delay
    }

    /// The network that its flows share. Queues in BDP refer to the base RTT of the first flow.
    #[must_use]
    pub fn network(&self) -> NetworkConfig {
        let first = self.flows.first().map(|f| f.access).unwrap_or_default();
        NetworkConfig {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            access: self.flows.iter().map(|f| f.access).collect(),
            base_rtt: self.base_rtt(&first),
            seed: self.seed,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.flows.is_empty() {
            return Err(ConfigError::NoFlows);
        }
        if self.flows.len() > MAX_FLOWS {
            return Err(ConfigError::TooManyFlows(self.flows.len()));
        }
        if self.packet_size.is_zero() {
            return Err(ConfigError::ZeroPacketSize);
        }
        if self.duration.is_zero() {
            return Err(ConfigError::ZeroDuration);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.sender.knows_link() && self.pipe(flow.access.direction).link.is_unlimited() {
                return Err(ConfigError::UnlimitedLinkKnown(index));
            }
            if let SenderKind::Stock(stock) = flow.sender {
                return Err(ConfigError::Stock(index, stock.name));
            }
            for (rate, side) in [
                (flow.access.sender_rate, "sender"),
                (flow.access.receiver_rate, "receiver"),
            ] {
                if rate.is_some_and(|r| r.is_zero()) {
                    return Err(ConfigError::ZeroAccessRate(index, side));
                }
            }
            if matches!(flow.transport, TransportConfig::Quic { .. })
                && flow.ecn == EcnFeedback::Classic
            {
                return Err(ConfigError::ClassicQuic(index));
            }
            if let TransportConfig::Quic { ack_every: 0, .. } = flow.transport {
                return Err(ConfigError::ZeroAckEvery(index));
            }
        }
        Ok(())
    }
}

/// What decides when a flow sends.
#[derive(Clone)]
pub enum SenderKind {
    /// A congestion controller.
    Controlled {
        /// Makes it.
        controller: ControllerFactory,
        /// The estimator that the receiver runs for it and whose estimates travel with the
        /// acknowledgments (RBBR).
        estimator: Option<ReceiverConfig>,
    },
    /// Knows the bottleneck's future: each packet reaches the link just when it can be served.
    Oracle,
    /// Knows the bottleneck's past: the bound for what a controller can do.
    Causal(CausalConfig),
    /// Is told by the bottleneck's queue, which must be ABC's.
    Abc,
    /// A controller of the QUIC stack that carries the flow.
    Stock(&'static Stock),
}

impl SenderKind {
    /// The controller of a spec, with the estimator that it needs at the receiver.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let made = spec.clone();
        Self::Controlled {
            controller: Arc::new(move |config| made.build(config)),
            estimator: spec.receiver(),
        }
    }

    /// A controller of your own, with no estimator at the receiver.
    #[must_use]
    pub fn controlled(
        make: impl Fn(&Config) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Self {
        Self::Controlled {
            controller: Arc::new(make),
            estimator: None,
        }
    }

    /// Whether it is told about the link itself, which no real sender is.
    #[must_use]
    pub const fn knows_link(&self) -> bool {
        matches!(self, Self::Oracle | Self::Causal(_) | Self::Abc)
    }
}

impl std::fmt::Debug for SenderKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Controlled { .. } => "Controlled",
            Self::Oracle => "Oracle",
            Self::Causal(_) => "Causal",
            Self::Abc => "Abc",
            Self::Stock(_) => "Stock",
        })
    }
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// The flow's sender.
    pub sender: SenderKind,
    /// The flow's transport protocol.
    pub transport: TransportConfig,
    /// How its receiver reports marks.
    pub ecn: EcnFeedback,
    /// What the flow's receiver lies about.
    pub lie: Option<Lie>,
    /// How its host paces.
    pub pacing: Pacing,
    /// What the flow has to send.
    pub source: SourceConfig,
    /// When it starts.
    pub start: Time,
    /// When it stops sending; `None`: at the end of the simulation.
    pub stop: Option<Time>,
    /// Which way it goes, and its access links.
    pub access: AccessConfig,
    /// Whether it is there for what it does to others: what is said of all flows together leaves it out.
    pub background: bool,
}

impl FlowConfig {
    /// A flow over QUIC that sends from start to end whatever `sender` allows.
    #[must_use]
    pub fn bulk(sender: SenderKind) -> Self {
        Self {
            sender,
            transport: TransportConfig::quic(),
            ecn: EcnFeedback::default(),
            lie: None,
            pacing: Pacing::Rate,
            source: SourceConfig::Bulk,
            start: Time::ZERO,
            stop: None,
            access: AccessConfig::default(),
            background: false,
        }
    }
}

/// Why a configuration cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There are no flows.
    #[error("a simulation needs at least one flow")]
    NoFlows,
    /// More flows than slots can be numbered.
    #[error("{0} flows are too many: the most is {MAX_FLOWS}")]
    TooManyFlows(usize),
    /// Packets would carry nothing.
    #[error("the packet size must be at least 1 byte")]
    ZeroPacketSize,
    /// Nothing would happen.
    #[error("the duration must be longer than zero")]
    ZeroDuration,
    /// A sender that knows the link would send infinitely fast.
    #[error("flow {0}: the oracle and the causal bound need a bottleneck of limited rate")]
    UnlimitedLinkKnown(usize),
    /// Flow, which rate.
    #[error("flow {0}: the rate of the {1}'s access link must be above zero")]
    ZeroAccessRate(usize, &'static str),
    /// Flow, whose controller is part of a stack.
    #[error("flow {0}: {1} is part of its QUIC stack and runs with no other transport")]
    Stock(usize, &'static str),
    /// Acknowledging every zero packets makes no sense.
    #[error("flow {0}: a receiver acknowledges at least every 1 packet, not every 0")]
    ZeroAckEvery(usize),
    /// QUIC has no ECN-Echo.
    #[error("flow {0}: QUIC reports marks by their counts; ECN-Echo (classic) is TCP's")]
    ClassicQuic(usize),
}

/// The most flows of one simulation.
const MAX_FLOWS: usize = 1_000_000;
