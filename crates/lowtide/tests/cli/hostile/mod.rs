//! What attackers and accidents did to the program, through its command line.

mod files;
mod names;
mod record;

use std::path::Path;
use std::process::{Command, Output};

/// A shell in `folder` that finds the program as `lowtide`.
fn shell(folder: &Path, script: &str) -> Command {
    let program = assert_cmd::cargo::cargo_bin("lowtide");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).current_dir(folder);
    command.env("PATH", path).env_remove("NO_COLOR");
    command
}

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
    for part in parts {
        assert!(told.contains(part), "{command}: no {part:?} in {told:?}");
    }
    assert!(told.len() < 1000, "{command}: {told}");
}
