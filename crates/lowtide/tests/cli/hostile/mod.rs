//! What attackers and accidents did to the program, through its command line.

mod files;
mod names;
mod record;

use std::path::Path;
use std::process::Output;

use crate::program::has;
use crate::shell;

/// What a command does within 1 GiB of address space; one that blocks is ended after a minute.
fn within_bounds(folder: &Path, command: &str) -> Output {
    let script = format!("ulimit -v 1048576; exec timeout -k 1 60 {command}");
    shell(folder, &script).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command is refused as bad input, within bounds and with these parts in what it says.
fn refused(folder: &Path, command: &str, parts: &[&str]) {
    let output = within_bounds(folder, command);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{command}: {told}");
    has(&told, parts);
    assert!(told.len() < 1000, "{command}: {told}");
}
