//! The link with packets of programs, on Linux: threads, namespaces, devices and sockets.

mod child;
mod datagram;
mod emulation;
mod ends;
mod guard;
mod ipv4;
mod namespace;
mod rejections;
mod relay;
mod tunnel;
mod worker;

pub use self::child::Child;
pub use self::emulation::Emulation;
pub use self::ends::Ends;
pub use self::guard::guard_if_asked;
pub use self::namespace::{Namespace, listens};
pub use self::relay::Relay;
pub use self::tunnel::{Addresses, Tunnel};
pub use self::worker::be_prompt;
