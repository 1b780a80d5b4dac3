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
extern crate std;

pub mod bbr;
pub mod bbr3;
pub mod bbr_acd;
pub mod bbr_s;
pub mod bbrx;
pub mod compound;
pub mod controller;
pub mod copa;
pub mod cubic;
pub mod delivery_rate;
pub mod ebcc;
pub mod filter;
pub mod newreno;
pub mod rbbr;
pub mod recovery;
pub mod registry;
pub mod rtt_gain;
pub mod units;
pub mod vegas;
pub mod window;

mod reno;
mod rng;
mod rounds;
mod self_limited;
mod undo;

pub use controller::{Config, Controller};
