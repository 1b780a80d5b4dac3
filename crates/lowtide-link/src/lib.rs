//! The simulator's link in real time: the same traces, rates, queues and impairments, for packets of
//! programs that know nothing of it.
//!
//! A [`Shaper`] is one direction: [`lowtide_sim`]'s own network, and the bytes of the packets in it. It
//! has no clock and no sockets, so that it is tested in virtual time. On Linux an
//! [`Emulation`] drives two of them, a thread each, between two ends: TUN devices in network
//! namespaces ([`Tunnel`]), or UDP sockets ([`Relay`]). It measures how late it is with every packet
//! and says in its [`Summary`] when that was too much.

#[cfg(target_os = "linux")]
mod datagram;
mod distribution;
#[cfg(target_os = "linux")]
mod emulation;
mod error;
mod flow;
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

pub use self::distribution::{Distribution, Percentiles};
#[cfg(target_os = "linux")]
pub use self::emulation::Emulation;
pub use self::error::Error;
pub use self::flow::Ports;
#[cfg(target_os = "linux")]
pub use self::namespace::{Namespace, become_root_of_new_user_namespace, listens};
pub use self::path::PathConfig;
#[cfg(target_os = "linux")]
pub use self::relay::Relay;
pub use self::shaper::{Incoming, Release, Shaper};
pub use self::summary::{DirectionSummary, Summary};
#[cfg(target_os = "linux")]
pub use self::tunnel::{Addresses, Tunnel};
