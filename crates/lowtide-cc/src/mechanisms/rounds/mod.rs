//! Packet-timed round trips, counted in two ways: by what was delivered when a packet was sent, as
//! the BBR family does, and by packet numbers, where a controller takes no delivery-rate samples.

mod by_delivery;
mod by_number;

pub use by_delivery::Rounds;
pub(crate) use by_number::RoundsByNumber;
