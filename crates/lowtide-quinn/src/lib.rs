//! Lowtide's congestion controllers in [quinn](https://docs.rs/quinn).
//!
//! One line changes a transport's controller (`quinn::TransportConfig` is `quinn_proto`'s):
//!
//! ```
//! # use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(lowtide_quinn::Controllers::new("ebb")?));
//! # Ok(()) }
//! ```
//!
//! quinn asks a controller for its window only. Its pacer sends 1.25 windows a smoothed RTT, whatever rate
//! the controller wants; see [`Pacing`] for what is done about that.

mod controllers;
mod host;
mod pacing;
mod stock;

pub use controllers::Controllers;
pub use host::Host;
/// The core: what observers are told in, and what controllers of your own are written with.
pub use lowtide_cc;
pub use lowtide_host::{AckSeen, Factory, LossSeen, Make, Observer, Observers};
pub use pacing::Pacing;
pub use stock::{STOCK, StockControllers};

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
