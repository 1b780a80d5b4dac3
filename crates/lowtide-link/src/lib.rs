//! The simulator's link in real time: the same traces, rates, queues and impairments, for packets of
//! programs that know nothing of it.
//!
//! A [`Shaper`] is one direction: [`lowtide_sim`]'s own network, and the bytes of the packets in it. It
//! has no clock and no sockets, so that it is tested in virtual time. On Linux an
//! [`Emulation`] drives two of them, a thread each, between two ends: TUN devices in network
//! namespaces ([`Tunnel`]), or UDP sockets ([`Relay`]). It measures how late it is with every packet
//! and says in its [`Summary`] when that was too much.
//!
//! [`Ends`] are both ends in namespaces, and run a command and its peer there. Nothing that was started there outlives
//! them.

mod distribution;
mod error;
// Elsewhere nothing drives them.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod flow;
mod path;
#[cfg(target_os = "linux")]
mod real_time;
mod shaper;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod summary;

pub use self::distribution::{Distribution, Percentiles};
pub use self::error::Error;
pub use self::flow::Ports;
pub use self::path::PathConfig;
#[cfg(target_os = "linux")]
pub use self::real_time::{
    Addresses, Child, Emulation, Ends, Namespace, Relay, Tunnel, be_prompt, guard_if_asked, listens,
};
pub use self::shaper::{Incoming, Release, Shaper};
pub use self::summary::{DirectionSummary, Summary};
