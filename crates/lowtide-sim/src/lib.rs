//! A deterministic, packet-level, discrete-event network for congestion control.
//!
//! A [`Simulation`] is made from a [`SimConfig`], driven to its end by [`Simulation::run`], and
//! watched by a [`Probe`]. Time is integer nanoseconds; the same configuration gives the same
//! events on every machine.

pub mod config;
pub mod engine;
pub mod impairment;
pub mod link;
pub mod probe;
pub mod queue;
pub mod source;
pub mod trace;
pub mod transport;

pub use config::{AccessConfig, FlowConfig, PipeConfig, SenderKind, SimConfig};
pub use engine::{Outcome, Simulation};
pub use probe::Probe;
