//! The two directions of a network.

/// Which way a packet goes. Both directions are made of the same things; only what they are
/// configured with differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)
)]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Direction {
    /// From the flows' senders to their receivers, unless a flow goes the other way.
    #[default]
    Forward = 0,
    /// From the receivers to the senders.
    Reverse = 1,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The other one.
    #[must_use]
    #[inline]
    pub const fn back(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}
