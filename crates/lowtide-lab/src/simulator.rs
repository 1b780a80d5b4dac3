//! Which simulator makes results: those of another are not its own.

use crate::key::Key;

/// The key of the sources that decide what a run gives: the crates of controllers, transports, simulator and
/// lab, and the versions of their dependencies. A run is the same on every machine and in every build of
/// the same sources, so that a command line, a Python package and a cluster's nodes may share what they
/// made; a changed source never gets the results of an older one. Of a crate from a registry the version says what is in it.
#[must_use]
pub fn key() -> Key {
    Key::of(&[env!("LOWTIDE_SIMULATOR").as_bytes()])
}
