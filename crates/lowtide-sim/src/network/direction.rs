//! The two directions of a network.

/// Which way a packet goes. Both directions are made of the same things; only what they are
/// configured with differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the flows' senders to their receivers.
    Forward = 0,
    /// From the receivers to the senders.
    Reverse = 1,
}

impl Direction {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];
}
