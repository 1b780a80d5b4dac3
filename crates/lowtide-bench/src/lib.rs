//! Suites over real packets: programs behind emulated links, in real time.
//!
//! A [`Program`] is a server and a client, two commands that a [`Recipe`] or the user names. A `Cast` says which
//! program stands for which controller of a suite's plan, and `execute` makes the plan's runs: each has a link in
//! namespaces of its own, and is made again until the link was faithful.

#[cfg(target_os = "linux")]
mod bulk_tcp;
#[cfg(any(target_os = "linux", test))]
mod command;
mod recipe;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
pub use self::bulk_tcp::bulk_tcp_if_asked;
pub use self::recipe::{Program, Recipe};
#[cfg(target_os = "linux")]
pub use self::work::{Cast, execute};
