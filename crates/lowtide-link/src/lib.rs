//! The simulator's link in real time: the same traces, rates, queues and impairments, for packets of
//! programs that know nothing of it.
//!
//! [`Direction`] is one way through the link: [`lowtide_sim`]'s own queue and server, and the packets
//! in it. It has no clock and no sockets, so that it is tested in virtual time. On Linux an
//! [`Emulation`] drives two of them, a thread each, between two ends: TUN devices in network
//! namespaces ([`Tunnel`]), or UDP sockets ([`Relay`]). It measures how late it is with every packet
//! and says in its [`Summary`] when that was too much.

mod direction;
mod distribution;
#[cfg(target_os = "linux")]
mod emulation;
mod error;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod relay;
mod summary;
#[cfg(target_os = "linux")]
mod tunnel;
#[cfg(target_os = "linux")]
mod worker;

pub use self::direction::{Direction, PathConfig, Release};
pub use self::distribution::{Distribution, Percentiles};
#[cfg(target_os = "linux")]
pub use self::emulation::Emulation;
pub use self::error::Error;
#[cfg(target_os = "linux")]
pub use self::namespace::{Namespace, become_root_of_new_user_namespace, listens};
#[cfg(target_os = "linux")]
pub use self::relay::Relay;
pub use self::summary::{DirectionSummary, Summary};
#[cfg(target_os = "linux")]
pub use self::tunnel::{Addresses, Tunnel};
