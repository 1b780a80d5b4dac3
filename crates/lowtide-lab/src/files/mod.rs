//! Files of users: read within bounds, written whole or not at all.

mod read;
mod write;

pub(crate) use self::read::STDIN_SHOWN;
pub use self::read::{
    CERTIFICATE, Kind, ReadError, SCENARIO, TRACE, name, of_folder, read, read_or_stdin, text,
};
pub use self::write::{Draft, check_writable, write};
