//! How much a queue holds.

use lowtide_cc::units::{Bytes, Duration};

use crate::network::link::Link;

/// How much a queue holds. The packet on the link does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum QueueLimit {
    /// Everything.
    Unlimited,
    /// In packets.
    Packets(u64),
    /// In bytes.
    Bytes(Bytes),
    /// What the link carries in this time at its mean rate.
    Time(Duration),
    /// In bandwidth-delay products: mean rate of the link × base RTT of the first flow.
    Bdp(f64),
}

/// A limit in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The most packets that wait.
    pub packets: u64,
    /// The most bytes that wait.
    pub bytes: Bytes,
}

impl Capacity {
    /// No limit.
    pub const UNLIMITED: Self = Self {
        packets: u64::MAX,
        bytes: Bytes::MAX,
    };

    /// Whether that much may wait.
    #[must_use]
    #[inline]
    pub fn holds(&self, packets: u64, bytes: Bytes) -> bool {
        packets <= self.packets && bytes <= self.bytes
    }
}

impl QueueLimit {
    /// The limit before `link` on a path of `base_rtt`. A limit in time or BDP below one byte
    /// holds nothing; a negative or NaN number of BDP as well.
    #[must_use]
    pub fn resolve(&self, link: &Link, base_rtt: Duration) -> Capacity {
        let (packets, bytes) = match *self {
            Self::Unlimited => (u64::MAX, Bytes::MAX),
            Self::Packets(n) => (n, Bytes::MAX),
            Self::Bytes(bytes) => (u64::MAX, bytes),
            Self::Time(time) => (u64::MAX, link.mean_rate().volume_in(time)),
            Self::Bdp(n) => (u64::MAX, link.mean_rate().volume_in(base_rtt).mul_f64(n)),
        };
        Capacity { packets, bytes }
    }
}
