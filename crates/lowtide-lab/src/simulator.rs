//! Which simulator makes results: those of another are not its own.

use std::path::Path;
use std::{fs, io};

use crate::contender::Contenders;
use crate::key::Key;

/// The key of the sources that decide what a run gives: the crates of controllers, transports, simulator and
/// lab, and the versions of their dependencies. A run is the same on every machine and in every build of the same sources, so
/// that a command line, a Python package and a cluster's nodes may share what they made; a changed source never
/// gets the results of an older one. Of a crate from a registry the version says what is in it.
const SOURCES: &str = env!("LOWTIDE_SIMULATOR");

/// The key of what simulates these contenders. Controllers that are not ours have sources that nobody has
/// looked at: with them it is the program's code that counts, which is in the file `code`.
///
/// # Errors
/// When the code cannot be read.
pub fn key(contenders: &Contenders, code: &Path) -> io::Result<Key> {
    let ours = SOURCES.as_bytes();
    match contenders.are_ours() {
        true => Ok(Key::of(&[ours])),
        false => Ok(Key::of(&[ours, &read(code)?])),
    }
}

/// The key of a program's code, for what depends on more than simulations do.
///
/// # Errors
/// When it cannot be read.
pub fn key_of_code(code: &Path) -> io::Result<Key> {
    Ok(Key::of(&[&read(code)?]))
}

fn read(code: &Path) -> io::Result<Vec<u8>> {
    fs::read(code).map_err(|e| io::Error::other(format!("cannot read this program: {e}")))
}
