//! Congestion controllers as pure state machines.
//!
//! A [`Controller`] has no clock, socket, thread or host type. A *host* (the simulator, a QUIC
//! stack, a TCP stack) translates its own events into the events of [`controller`], and obeys the
//! congestion window, pacing rate and send quantum that the controller shows. The same object code
//! therefore runs everywhere.
//!
//!
//! ```
//! use lowtide_cc::{Config, registry};
//!
//! let config = Config::default();
//! let bbr = registry::build("bbr:aggregation=false", &config)?;
//! assert_eq!(bbr.snapshot().phase, "Startup");
//! assert_eq!(bbr.cwnd(), config.initial_window);
//! # Ok::<(), registry::Error>(())
//! ```
//!
//! What every controller promises after any sequence of events, however absurd:
//! the window is at least its minimum, the pacing rate (if there is one) is positive, nothing
//! panics, and memory does not grow.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate self as lowtide_cc;
#[cfg(test)]
extern crate std;

pub mod controller;
pub mod controllers;
pub mod delivery_rate;
pub mod ecn;
pub mod estimators;
pub mod mechanisms;
pub mod registry;
pub mod state;
pub mod units;

mod rng;
mod wrap;

#[cfg(test)]
#[path = "../tests/controllers/events.rs"]
mod events;

pub use controller::{Config, Controller, Transport};
pub use ecn::Ecn;
pub use wrap::Wrap;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
