//! The loader.

mod cgroup;
mod load;
mod object;
mod pin;
mod registered;
mod requirements;
mod status;
mod unload;

pub use self::load::{Loaded, load};
pub use self::status::status;
pub use self::unload::unload;

use crate::Error;

/// libbpf's account of a failure.
fn refused(error: libbpf_rs::Error) -> Error {
    Error::Refused(format!("{error:#}"))
}
