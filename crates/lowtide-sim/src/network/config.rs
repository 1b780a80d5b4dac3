//! What a network is made of.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate, Time};

use super::access::AccessLink;
use super::direction::Direction;
use super::impairment::EcnTreatment;
use super::impairment::{Aggregation, Jitter, LossModel};
use super::link::Link;
use super::queue::{Policer, QueueKind, QueueLimit};

/// A network: one path that all flows share, each way, and the flows' own links at both of its
/// ends.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The shared path from senders to receivers.
    pub forward: PipeConfig,
    /// The shared path from receivers to senders.
    pub reverse: PipeConfig,
    /// Each flow's access links.
    pub access: Vec<AccessConfig>,
    /// Round-trip propagation delay; what queues in BDP refer to.
    pub base_rtt: Duration,
    /// The seed of the run, from which each direction's loss and jitter have theirs; see
    /// [`Stream`](super::seed::Stream).
    pub seed: u64,
}

impl NetworkConfig {
    /// The shared path of a direction.
    #[must_use]
    pub fn pipe(&self, direction: Direction) -> &PipeConfig {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}

/// One direction of the shared path: queue, link, then delay with its impairments.
#[derive(Clone, Debug)]
pub struct PipeConfig {
    /// The link's service process; [`Link::unlimited`] for none.
    pub link: Arc<Link>,
    /// How the queue before the link is managed.
    pub queue: QueueKind,
    /// How much that queue holds.
    pub buffer: QueueLimit,
    /// What drops packets before the queue.
    pub policer: Option<Policer>,
    /// Propagation delay behind the link.
    pub delay: Duration,
    /// When it becomes another one, in rising order; what is said of delays and round trips before the
    /// simulation (base RTT, BDP) goes by the first.
    pub delay_steps: Vec<(Time, Duration)>,
    /// What becomes of ECN bits behind the link.
    pub ecn: EcnTreatment,
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
            queue: QueueKind::DropTail,
            buffer,
            policer: None,
            delay,
            delay_steps: Vec::new(),
            ecn: EcnTreatment::Kept,
            loss: LossModel::None,
            jitter: None,
            aggregation: None,
        }
    }
}

/// A flow's own links on both sides of the shared path. Queues before access links are unlimited.
/// A missing rate means no limit; rates hold for what goes to the receiver, delays for both
/// directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessConfig {
    /// Rate from the sender to the shared path.
    pub sender_rate: Option<Rate>,
    /// Delay between sender and shared path, each way.
    pub sender_delay: Duration,
    /// Rate from the shared path to the receiver.
    pub receiver_rate: Option<Rate>,
    /// Delay between shared path and receiver, each way.
    pub receiver_delay: Duration,
}

impl AccessConfig {
    /// The link over which packets of this direction come to the shared path.
    pub(super) fn entry(&self, direction: Direction) -> AccessLink {
        match direction {
            Direction::Forward => AccessLink::new(self.sender_rate, self.sender_delay),
            Direction::Reverse => AccessLink::new(None, self.receiver_delay),
        }
    }

    /// The link over which packets of this direction go on from the shared path.
    pub(super) fn exit(&self, direction: Direction) -> AccessLink {
        match direction {
            Direction::Forward => AccessLink::new(self.receiver_rate, self.receiver_delay),
            Direction::Reverse => AccessLink::new(None, self.sender_delay),
        }
    }
}
