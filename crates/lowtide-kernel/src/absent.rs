//! What stands in for the loader where the programs were not built.

use std::path::PathBuf;

use crate::{Choice, Error, Known, Status, Unloaded};

/// A loaded controller; there is none in this build.
#[derive(Debug)]
pub enum Loaded {}

const NOT_BUILT: Error = Error::NotBuilt(env!("LOWTIDE_MISSING"));

/// Loads a controller.
///
/// # Errors
/// Always: the programs are not part of this build.
pub fn load(_choice: &Choice, _pin: bool, _cgroups: &[PathBuf]) -> Result<Loaded, Error> {
    Err(NOT_BUILT)
}

/// Shows the controllers in the kernel.
///
/// # Errors
/// Always: the programs are not part of this build.
pub fn status() -> Result<Vec<Status>, Error> {
    Err(NOT_BUILT)
}

/// Takes a controller out of the kernel.
///
/// # Errors
/// Always: the programs are not part of this build.
pub fn unload(_known: &'static Known) -> Result<Unloaded, Error> {
    Err(NOT_BUILT)
}
