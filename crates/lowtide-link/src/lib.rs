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

#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod datagram;
mod distribution;
#[cfg(target_os = "linux")]
mod emulation;
#[cfg(target_os = "linux")]
mod ends;
mod error;
mod flow;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod ipv4;
#[cfg(target_os = "linux")]
mod namespace;
mod path;
#[cfg(target_os = "linux")]
mod rejections;
#[cfg(target_os = "linux")]
mod relay;
mod shaper;
mod summary;
#[cfg(target_os = "linux")]
mod tunnel;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
pub use self::child::Child;
pub use self::distribution::{Distribution, Percentiles};
#[cfg(target_os = "linux")]
pub use self::emulation::Emulation;
#[cfg(target_os = "linux")]
pub use self::ends::Ends;
pub use self::error::Error;
pub use self::flow::Ports;
#[cfg(target_os = "linux")]
pub use self::guard::guard_if_asked;
#[cfg(target_os = "linux")]
pub use self::namespace::{Namespace, listens};
pub use self::path::PathConfig;
#[cfg(target_os = "linux")]
pub use self::relay::Relay;
pub use self::shaper::{Incoming, Release, Shaper};
pub use self::summary::{DirectionSummary, Summary};
#[cfg(target_os = "linux")]
pub use self::tunnel::{Addresses, Tunnel};
#[cfg(target_os = "linux")]
pub use self::worker::be_prompt;
