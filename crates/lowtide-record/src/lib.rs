//! Records what a real link can carry, between two machines, as a trace for the simulator and for mahimahi.
//!
//! One end keeps the link backlogged, within bounds of queueing delay, rate, volume and time that the user sets
//! (`steering.rs`); the other notes when each packet arrives. [`Server`] and [`Client`] are state machines without clock,
//! socket or chance: they are given the time and datagrams, and say what to send. [`run`](mod@run) has the sockets. What was
//! noted becomes a [`Recording`], and that the files of [`files`].
//!
//! The protocol is small and its own ([`wire`]): an address gets nothing but a reply shorter than its request before it has
//! shown that it receives, and every packet of a session carries a keyed BLAKE3 tag.

mod client;
mod clock;
pub mod files;
mod flow;
mod keys;
mod log;
mod plan;
mod recording;
mod replay;
pub mod run;
mod server;
mod socket;
mod steering;
pub mod wire;

pub use self::client::{Client, ClientError, Noted, NotedWay, Progress};
pub use self::clock::Clocks;
pub use self::keys::Token;
pub use self::log::{Arrival, Log};
pub use self::plan::{Plan, PlanError, QueueBand};
pub use self::recording::{Came, Recording, Span, Way};
pub use self::server::{Limits, Server};

use std::net::SocketAddr;

/// Takes what is to be sent.
pub trait Outbox {
    /// A datagram for an address.
    fn send(&mut self, to: SocketAddr, datagram: &[u8]);
}
