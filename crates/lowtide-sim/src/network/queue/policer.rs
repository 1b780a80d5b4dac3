//! A policer before a queue: a token bucket that drops what exceeds its rate and burst.

use lowtide_cc::units::{Bytes, Rate};

/// What a policer lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Policer {
    /// On average, above zero.
    pub rate: Rate,
    /// At once, after a pause. A packet larger than it never passes.
    pub burst: Bytes,
}
