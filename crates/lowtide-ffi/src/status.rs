//! What a call says of itself.

/// A time, span, rate or volume that does not exist.
pub const LOWTIDE_NONE: u64 = u64::MAX;

/// What became of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowtideStatus {
    /// Done.
    Ok = 0,
    /// A pointer that must not be null is null.
    NullPointer = 1,
    /// The spec names no controller, or a parameter does not fit; the message says which and why.
    BadSpec = 2,
    /// A value is outside of its range: a packet without bytes, an unknown kind of timeout, a maximum
    /// datagram of zero.
    BadValue = 3,
    /// The event is not possible after those before it: packet numbers that do not grow, packets
    /// named that were never sent, a packet sent before what was said is settled.
    WrongOrder = 4,
    /// The event is earlier than the one before it.
    TimeWentBack = 5,
    /// The event took place, and the host of this checked flow broke the contract with it;
    /// `lowtide_flow_breaches` says how.
    BrokeContract = 6,
    /// The controller panicked, now or in an earlier call. Destroy the flow.
    Panicked = 7,
}
