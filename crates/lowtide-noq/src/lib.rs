//! Lowtide's congestion controllers in [noq](https://docs.rs/noq).
//!
//! One line changes a transport's controller:
//!
//! ```
//! # use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(lowtide_noq::Controllers::new("ebb")?));
//! # Ok(()) }
//! ```
//!
//! `ebb` keeps the queue short on links that vary, and needs nothing of the peer.
//!
//! RBBR's feedback travels in DATAGRAM frames; see [`Extension`].

mod controllers;
mod exchange;
mod extension;
mod host;
#[cfg(feature = "noq")]
mod run;
mod stock;

pub use controllers::Controllers;
pub use extension::Extension;
pub use host::Host;
/// The core: what observers are told in, and what controllers of your own are written with.
pub use lowtide_cc;
pub use lowtide_host::{AckSeen, ExtensionSeen, Factory, LossSeen, Make, Observer, Observers};
#[cfg(feature = "noq")]
pub use run::run;
pub use stock::{STOCK, StockControllers};

/// Compiles what the book tells those who adopt it.
#[cfg(all(doctest, feature = "noq"))]
#[doc = include_str!("../../../docs/adopt/noq.md")]
struct Adopt;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
