//! Queues before a link.

use lowtide_cc::units::{Bytes, Duration};

/// How much a drop-tail queue holds. The packet on the link does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// Everything.
    Unlimited,
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
    /// What the link carries in this time at its mean rate.
    Time(Duration),
    /// So many bandwidth-delay products: mean rate of the link × base RTT of the first flow.
    Bdp(f64),
}
