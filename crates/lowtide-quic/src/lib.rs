//! Lowtide's congestion controllers in [s2n-quic](https://docs.rs/s2n-quic).
//!
//! One line changes an endpoint's controller, another has its acknowledgments sent as often as the peer's
//! controller needs them:
//!
//! ```no_run
//! # use std::path::Path;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = s2n_quic::Server::builder()
//!     .with_tls((Path::new("cert.pem"), Path::new("key.pem")))?
//!     .with_io("0.0.0.0:4433")?
//!     .with_limits(lowtide_quic::limits())?
//!     .with_congestion_controller(lowtide_quic::Ebb::default())?
//!     .start()?;
//! # Ok(()) }
//! ```
//!
//! [`Ebb`] keeps the queue short on links that vary, and needs nothing of the peer. With three lines more,
//! at both ends, it learns when packets arrived, and [`Rbbr`] what the receiver estimates: see [`Parts`].
//! The frames are described in `docs/receive-timestamps.md` and `docs/rbbr-frame.md`. Peers without them
//! see plain QUIC.

#[cfg(feature = "self-signed")]
pub mod certificate;
mod clock;
mod codepoints;
mod connection;
mod controllers;
mod events;
mod host;
mod interceptor;
mod limits;
mod pacer;
mod slot;
mod typed;
#[cfg(feature = "virtual-time")]
pub mod virtual_time;

pub use codepoints::{Codepoints, WithCodepoints};
pub use controllers::{Choice, Controllers, Parts};
pub use events::{ConnectionCounter, Context, Events};
pub use host::{Host, PacketInfo};
pub use interceptor::Interceptor;
#[cfg(fuzzing)]
pub use interceptor::fuzz_payload;
pub use limits::{MAX_ACK_DELAY, limits};
/// The core: what observers are told in, and what controllers of your own are written with.
pub use lowtide_cc;
pub use lowtide_cc::controllers::rbbr::frame;
pub use lowtide_host::{AckSeen, ExtensionSeen, Factory, LossSeen, Make, Observer, Observers};
pub use slot::{CAPABILITY, Datagrams, Ignored, Slot, TIMESTAMPS};
pub use typed::*;

/// Compiles what the book tells those who adopt it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adopt/s2n-quic.md")]
struct Adopt;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
