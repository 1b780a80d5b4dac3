//! Lowtide's congestion controllers as a C library.
//!
//! The header `include/lowtide.h` is made from these items; `include/lowtide.hpp` wraps it for C++.
//! The contract is that of [`lowtide_cc::controller`]:
//!
//! - Times are nanoseconds on the host's monotonic clock, volumes bytes, rates bytes per second.
//!   A value that does not exist is [`LOWTIDE_NONE`], or NaN where it is a `double`.
//! - There is no global state. Different handles may be used by different threads at the same
//!   time; one handle by one thread at a time.
//! - Every function that can fail returns a [`LowtideStatus`]. An event that is refused changes
//!   nothing. No panic leaves the library; a handle whose controller panicked answers
//!   [`LowtideStatus::Panicked`] from then on.
//! - A pointer is null or points to what its type says, for as long as the call lasts. Null is an
//!   error unless the parameter's documentation allows it.

mod boundary;
mod clock;
mod controller;
mod create;
mod packets;
mod receiver;
mod sampler;
mod snapshot;
mod status;
mod version;

pub use controller::*;
pub use create::*;
pub use receiver::*;
pub use sampler::*;
pub use snapshot::*;
pub use status::*;
pub use version::*;

/// A time, span, rate or volume that does not exist.
pub const LOWTIDE_NONE: u64 = u64::MAX;
