//! What a network carries, and what it tells of it.

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Time};

use super::direction::Direction;

/// A packet. `P` is what its host wants back at the far end; the network never looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<P> {
    /// Index of its flow in [`NetworkConfig::access`](super::NetworkConfig::access).
    pub flow: u32,
    /// Size of the packet on links and in queues.
    pub bytes: Bytes,
    /// The ECN bits of its header; queues on the way may set them.
    pub ecn: Ecn,
    /// The host's own.
    pub payload: P,
}

/// A packet inside the network: what links and queues need to know of it. Two words, which travel
/// in registers from call to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    /// Number in the store of its direction, above it the ECN bits, above them the flow.
    key: u64,
    pub(crate) bytes: Bytes,
}

const ECN_SHIFT: u32 = 32;
const FLOW_SHIFT: u32 = 34;

/// The number of what is in no store.
const CROSS: u32 = u32::MAX;

impl Handle {
    #[inline]
    pub(crate) fn new(id: u32, flow: u32, bytes: Bytes, ecn: Ecn) -> Self {
        let key = u64::from(flow) << FLOW_SHIFT | u64::from(ecn.bits()) << ECN_SHIFT;
        Self {
            key: key | u64::from(id),
            bytes,
        }
    }

    /// A packet of cross traffic, which is in no store.
    pub(crate) fn of_cross(flow: u32, bytes: Bytes) -> Self {
        Self::new(CROSS, flow, bytes, Ecn::NotEct)
    }

    #[inline]
    pub(crate) fn is_cross(self) -> bool {
        self.id() == CROSS
    }

    /// The packet's number in the store of its direction.
    #[inline]
    pub(crate) fn id(self) -> u32 {
        self.key as u32
    }

    /// The packet's flow.
    #[inline]
    pub(crate) fn flow(self) -> u32 {
        (self.key >> FLOW_SHIFT) as u32
    }

    /// The packet's ECN bits.
    #[inline]
    pub(crate) fn ecn(self) -> Ecn {
        Ecn::from_bits((self.key >> ECN_SHIFT) as u8)
    }

    /// Marks it; false, and nothing, where its flow is not ECN-capable.
    #[inline]
    pub(crate) fn mark(&mut self) -> bool {
        let is_capable = self.ecn().is_capable();
        if is_capable {
            self.set_ecn(Ecn::Ce);
        }
        is_capable
    }

    /// Sets its ECN bits.
    #[inline]
    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        self.key = self.key & !(0b11 << ECN_SHIFT) | u64::from(ecn.bits()) << ECN_SHIFT;
    }
}

/// A packet that reached the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<P> {
    /// When.
    pub at: Time,
    /// Which way it went.
    pub direction: Direction,
    /// What propagation took beyond the [least](super::PipeConfig::least_delay) of its way: nothing
    /// where the delay does not move.
    pub detour: Duration,
    /// The packet.
    pub packet: Packet<P>,
}

/// A packet that has just left a shared link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When.
    pub at: Time,
    /// Which link.
    pub direction: Direction,
    /// The packet's flow.
    pub flow: u32,
    /// The packet's size.
    pub bytes: Bytes,
    /// The packet's ECN bits behind the queue.
    pub ecn: Ecn,
    /// Time in the queue and on the link.
    pub sojourn: Duration,
    /// What still waits in the queue behind it.
    pub queued: Bytes,
}

/// Why a packet vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue before the shared link was full.
    QueueFull,
    /// The packet exceeded a policer's rate and burst.
    Policed,
    /// The queue's management dropped it to keep the queue short.
    Managed,
    /// The loss model took it behind the link.
    LinkLoss,
}

impl DropCause {
    /// How many there are.
    pub const COUNT: usize = Self::LinkLoss as usize + 1;
}

/// A packet that vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// When.
    pub at: Time,
    /// Which way it went.
    pub direction: Direction,
    /// Why.
    pub cause: DropCause,
    /// The packet.
    pub packet: Packet<P>,
}

/// Sees what happens inside a network. Every method has an empty default; an unused one costs
/// nothing.
pub trait Tap<P> {
    /// A packet left a shared link.
    fn on_departure(&mut self, _departure: &Departure) {}

    /// A packet vanished.
    fn on_drop(&mut self, _dropped: Dropped<P>) {}

    /// A packet of cross traffic comes to a link. Its departure or drop is not told of.
    fn on_cross(&mut self, _at: Time, _direction: Direction, _bytes: Bytes) {}
}

/// Sees nothing.
impl<P> Tap<P> for () {}
