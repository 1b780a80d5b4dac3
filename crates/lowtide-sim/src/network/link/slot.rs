//! Transmissions of a link that is always busy.

use lowtide_cc::units::Time;

/// One transmission of a link that is kept busy without a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The latest moment at which the packet may reach the link and still leave at `departure`.
    pub arrive_by: Time,
    /// When it leaves.
    pub departure: Time,
}
