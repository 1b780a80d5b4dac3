//! Lowtide's congestion controllers as a C library.
//!
//! A host says what became of its packets; [`lowtide_host::Driver`] makes of that what a controller
//! is told. `include/lowtide.h` is made from [`create`], [`flow`], [`control`] and [`status`], and has all
//! that a host needs. `include/lowtide_extra.h` is made from the other modules, and
//! `include/lowtide.hpp` wraps both for C++.
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
pub mod control;
pub mod create;
pub mod extra;
pub mod flow;
mod packets;
pub mod receiver;
pub mod snapshot;
pub mod status;
pub mod text;

pub use control::*;
pub use create::*;
pub use extra::*;
pub use flow::*;
pub use receiver::*;
pub use snapshot::*;
pub use status::*;
pub use text::*;
