//! Quantities that carry their unit, so that bits and bytes or microseconds and nanoseconds
//! cannot be mixed.
//!
//! All four are thin wrappers around `u64`. Arithmetic saturates instead of overflowing: a
//! controller is fed by the network, and no input may make it panic or wrap around.

mod bytes;
pub mod quantity;
mod rate;
mod saturating;
mod time;

pub use bytes::Bytes;
pub use rate::Rate;
pub use time::{Duration, Time};
