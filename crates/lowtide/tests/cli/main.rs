//! The program as a user meets it, in virtual time.

#[cfg(unix)]
mod action;
#[cfg(unix)]
mod book;
mod command_line;
mod documents;
mod frontier;
#[cfg(unix)]
mod hostile;
mod moving_links;
mod one_way;
mod report_in_browser;
mod score;
mod sweep;
#[cfg(unix)]
mod walkthrough;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn lowtide(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lowtide").unwrap();
    command.args(args);
    command
}
