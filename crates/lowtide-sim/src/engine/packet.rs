//! What travels.

use lowtide_cc::controller::PeerSignal;
use lowtide_cc::units::{Bytes, Time};

/// A data packet on its way to the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataPacket {
    pub(super) flow: u32,
    pub(super) number: u64,
    pub(super) segment: u64,
    pub(super) bytes: Bytes,
    pub(super) sent_at: Time,
    pub(super) signal: Option<PeerSignal>,
}

/// An acknowledgment on its way to the sender; its body is in the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckPacket {
    pub(super) flow: u32,
    pub(super) body: u32,
}
