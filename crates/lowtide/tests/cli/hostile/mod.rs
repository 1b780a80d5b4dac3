//! What attackers and accidents did to the program, through its command line.

mod files;
mod names;
mod record;

use crate::program::{Folder, Ran, has};

/// What a command does within 1 GiB of address space; one that blocks is ended after a minute.
fn within_bounds(folder: &Folder, command: &str) -> Ran {
    folder.script(&format!(
        "ulimit -v 1048576; exec timeout -k 1 60 {command}"
    ))
}

/// A command is refused as bad input, within bounds and with these parts in what it says.
#[track_caller]
fn refused(folder: &Folder, command: &str, parts: &[&str]) {
    let told = within_bounds(folder, command).code(2).err;
    has(&told, parts);
    assert!(told.len() < 1000, "{command}: {told}");
}
