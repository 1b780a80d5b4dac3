//! What hosts of the controllers have in common, whatever their transport.
//!
//! A transport tells its congestion controller what happened in its own way; [`Path`] turns that
//! into the events of [`lowtide_cc::controller`], in their order. [`contract`] checks that a host
//! does so.

pub mod contract;
mod extension;
mod factory;
mod flight;
mod observer;
mod path;

pub use extension::{default_receiver, signal_repetition};
pub use factory::{Factory, Make};
pub use flight::{Flight, Sent, Token};
pub use observer::{AckSeen, LossSeen, Observer};
pub use path::Path;
