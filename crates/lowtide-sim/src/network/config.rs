//! What a network is made of.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate};

use super::access::AccessLink;
use super::cross::Cross;
use super::direction::Direction;
use super::impairment::{
    Aggregation, EcnTreatment, Jitter, LossModel, MovingDelay, Script, WifiJitter,
};
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

/// One direction of the shared path: queue, link, then delay with its impairments. `L` is the link, or what
/// makes it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PipeConfig<L = Arc<Link>> {
    /// The link's service process; [`Link::unlimited`] for none.
    pub link: L,
    /// How the queue before the link is managed.
    pub queue: QueueKind,
    /// How much that queue holds.
    pub buffer: QueueLimit,
    /// Traffic of others over the link.
    pub cross: Vec<Cross>,
    /// What drops packets before the queue.
    pub policer: Option<Policer>,
    /// Propagation delay behind the link; where it moves, what is said of delays and round trips before
    /// the simulation (base RTT, BDP) goes by this one.
    pub delay: Duration,
    /// How it moves.
    pub moving: Option<Arc<MovingDelay>>,
    /// What becomes of ECN bits behind the link.
    pub ecn: EcnTreatment,
    /// Packets that vanish behind the link.
    pub loss: LossModel,
    /// Losses and delays behind the link at set moments.
    pub script: Script,
    /// Random extra delay behind the link.
    pub jitter: Option<Jitter>,
    /// A busy Wi-Fi's delays behind the link.
    pub wifi: Option<Arc<WifiJitter>>,
    /// Packets held back and released together behind the link.
    pub aggregation: Option<Aggregation>,
}

impl PipeConfig {
    /// A path of unlimited rate with a fixed delay.
    #[must_use]
    pub fn delay_only(delay: Duration) -> Self {
        Self::link_with_delay(Arc::new(Link::unlimited()), QueueLimit::Unlimited, delay)
    }
}

impl<L> PipeConfig<L> {
    /// Returns this configuration over another link.
    #[must_use]
    pub fn over<M>(self, link: M) -> PipeConfig<M> {
        PipeConfig {
            link,
            queue: self.queue,
            buffer: self.buffer,
            cross: self.cross,
            policer: self.policer,
            delay: self.delay,
            moving: self.moving,
            ecn: self.ecn,
            loss: self.loss,
            script: self.script,
            jitter: self.jitter,
            wifi: self.wifi,
            aggregation: self.aggregation,
        }
    }

    /// Returns this configuration with a propagation delay that moves.
    #[must_use]
    pub fn with_moving_delay(mut self, delay: Arc<MovingDelay>) -> Self {
        self.delay = delay.mean();
        self.moving = Some(delay);
        self
    }

    /// The shortest that its propagation delay ever is.
    #[must_use]
    pub fn least_delay(&self) -> Duration {
        let moving = self.moving.as_ref();
        moving.map_or(self.delay, |moving| moving.least())
    }

    /// A link with a queue and a fixed delay, without impairments.
    #[must_use]
    pub fn link_with_delay(link: L, buffer: QueueLimit, delay: Duration) -> Self {
        Self {
            link,
            queue: QueueKind::DropTail,
            buffer,
            cross: Vec::new(),
            policer: None,
            delay,
            moving: None,
            ecn: EcnTreatment::Kept,
            loss: LossModel::None,
            script: Script::default(),
            jitter: None,
            wifi: None,
            aggregation: None,
        }
    }
}

/// A flow's place in the network: which way its data goes, and its own links on both sides of the
/// shared path. Queues before access links are unlimited. A missing rate means no limit; rates hold
/// for what goes to the receiver, delays for both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AccessConfig {
    /// Which way its data goes; acknowledgments go the other way.
    pub direction: Direction,
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
        if direction == self.direction {
            AccessLink::new(self.sender_rate, self.sender_delay)
        } else {
            AccessLink::new(None, self.receiver_delay)
        }
    }

    /// The link over which packets of this direction go on from the shared path.
    pub(super) fn exit(&self, direction: Direction) -> AccessLink {
        if direction == self.direction {
            AccessLink::new(self.receiver_rate, self.receiver_delay)
        } else {
            AccessLink::new(None, self.sender_delay)
        }
    }
}
