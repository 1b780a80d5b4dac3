//! What all hosts of the controllers have in common, independent of the transport.
//!
//! [`Driver`] assembles the events of [`lowtide_cc::controller`], in their order, for every host, the
//! simulator included. QUIC stacks tell their congestion controllers piecemeal what happened;
//! [`Path`] and [`Flight`] put that together. [`contract`] checks that a host keeps the contract.

mod clock;
pub mod contract;
mod deferred;
mod driver;
mod factory;
mod flight;
mod mirror;
mod observer;
mod pacing;
mod path;
mod signal;
pub mod timestamps;

pub use clock::Clock;
pub use deferred::Deferred;
pub use driver::{Driver, RoundTrip, SentPacket};
pub use factory::{Factory, Make};
pub use flight::{Flight, Sent, Token};
pub use mirror::{Mirror, Stock, StockState};
pub use observer::{AckSeen, ExtensionSeen, LossSeen, Observation, Observer, Observers};
pub use pacing::window_pacing_rate;
pub use path::Path;
pub use signal::signal_repetition;

/// Compiles and runs the event loop that the guide for stacks shows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/stack.md")]
struct Guide;
