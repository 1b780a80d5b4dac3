//! A deterministic, packet-level, discrete-event network for congestion control.
//!
//! - [`network`]: links, queues, delays and losses, in both directions. A [`Network`] carries the
//!   packets of any host.
//! - [`simulation`]: flows over such a network. A [`Simulation`] is made from a [`SimConfig`],
//!   driven to its end by [`Simulation::run`], and watched by a [`Probe`].
//! - [`stack`]: the same flows over the same network, carried by whole QUIC stacks instead.
//!
//! Time is integer nanoseconds; the same configuration gives the same events on every machine.

pub mod network;
pub mod probe;
mod schedule;
pub mod simulation;
pub mod source;
pub mod stack;
pub mod trace;
pub mod transport;

pub use network::{
    AccessConfig, Direction, Network, NetworkConfig, PipeConfig, impairment, link, queue,
};
pub use probe::Probe;
pub use simulation::{
    CausalConfig, ConfigError, FlowConfig, Forecast, Outcome, SenderKind, SimConfig, Simulation,
};

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
