//! What a simulation is made of: a dumbbell of flows over one bottleneck, each way.

use std::sync::Arc;

use lowtide_cc::rbbr::ReceiverConfig;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Controller};

use crate::impairment::{Aggregation, Jitter, LossModel};
use crate::link::Link;
use crate::queue::QueueLimit;
use crate::source::SourceConfig;
use crate::transport::{Pacing, TransportConfig};

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
    /// Size of a pure acknowledgment on the reverse link.
    pub ack_size: Bytes,
    /// Seeds every random choice (loss, jitter, sources, controllers).
    pub seed: u64,
}

impl SimConfig {
    /// One-way propagation delay of a flow's data.
    #[must_use]
    pub fn base_delay(&self, access: &AccessConfig) -> Duration {
        access.sender_delay + self.forward.delay + access.receiver_delay
    }

    /// Round-trip propagation delay of a flow.
    #[must_use]
    pub fn base_rtt(&self, access: &AccessConfig) -> Duration {
        self.base_delay(access) + access.sender_delay + self.reverse.delay + access.receiver_delay
    }
}

/// One direction of the shared path: queue, link, then delay with its impairments.
#[derive(Clone, Debug)]
pub struct PipeConfig {
    /// The link's service process; [`Link::unlimited`] for none.
    pub link: Arc<Link>,
    /// How much the queue before the link holds.
    pub buffer: QueueLimit,
    /// Propagation delay behind the link.
    pub delay: Duration,
    /// Packets that vanish behind the link.
    pub loss: LossModel,
    /// Random extra delay behind the link.
    pub jitter: Option<Jitter>,
    /// Packets held back and released together behind the link.
    pub aggregation: Option<Aggregation>,
}

impl PipeConfig {
    /// A path of unlimited rate with a fixed delay.
    #[must_use]
    pub fn delay_only(delay: Duration) -> Self {
        Self::link_with_delay(Arc::new(Link::unlimited()), QueueLimit::Unlimited, delay)
    }

    /// A link with a queue and a fixed delay, without impairments.
    #[must_use]
    pub fn link_with_delay(link: Arc<Link>, buffer: QueueLimit, delay: Duration) -> Self {
        Self {
            link,
            buffer,
            delay,
            loss: LossModel::None,
            jitter: None,
            aggregation: None,
        }
    }
}

/// Who decides when a flow sends.
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
}

impl std::fmt::Debug for SenderKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Controlled { .. } => "Controlled",
            Self::Oracle => "Oracle",
        })
    }
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Its sender.
    pub sender: SenderKind,
    /// Its transport protocol.
    pub transport: TransportConfig,
    /// How its host paces.
    pub pacing: Pacing,
    /// What it has to send.
    pub source: SourceConfig,
    /// When it starts.
    pub start: Time,
    /// When it stops sending; `None`: at the end of the simulation.
    pub stop: Option<Time>,
    /// Its access links.
    pub access: AccessConfig,
}

/// A flow's own links on both sides of the bottleneck. A missing rate means no limit. Queues
/// before access links are unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessConfig {
    /// Rate between sender and bottleneck.
    pub sender_rate: Option<Rate>,
    /// Delay between sender and bottleneck, each way.
    pub sender_delay: Duration,
    /// Rate between bottleneck and receiver.
    pub receiver_rate: Option<Rate>,
    /// Delay between bottleneck and receiver, each way.
    pub receiver_delay: Duration,
}
