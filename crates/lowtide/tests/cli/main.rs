//! The program as a user meets it, in virtual time.

#[cfg(unix)]
mod action;
mod attack;
#[cfg(unix)]
mod book;
mod command_line;
mod documents;
mod frontier;
#[cfg(unix)]
mod hostile;
mod knobs_in_python;
mod moving_links;
mod one_way;
mod report_in_browser;
mod score;
mod sweep;
#[cfg(unix)]
mod walkthrough;

#[path = "../program/mod.rs"]
mod program;

use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;

use serde_json::Value;

/// The repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// A shell in `folder` that finds the program as `lowtide`.
#[cfg(unix)]
fn shell(folder: &Path, script: &str) -> Command {
    let program = assert_cmd::cargo::cargo_bin("lowtide");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut command = Command::new("/bin/sh");
    command.args(["-e", "-c", script]).current_dir(folder);
    command.env("PATH", path).env_remove("NO_COLOR");
    command
}

/// The entry of a controller in the results of a comparison.
fn entry<'a>(comparison: &'a Value, controller: &str) -> &'a Value {
    let mut results = comparison["results"].as_array().unwrap().iter();
    let found = results.find(|entry| entry["controller"] == controller);
    found.unwrap_or_else(|| panic!("no {controller} in {comparison}"))
}

/// A number of a controller's entry: a key, or keys with dots between.
fn value(comparison: &Value, controller: &str, metric: &str) -> f64 {
    number(entry(comparison, controller), metric)
}

fn number(of: &Value, metric: &str) -> f64 {
    let found = of.pointer(&format!("/{}", metric.replace('.', "/")));
    let found = found.and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no {metric} in {of}"))
}

/// What all elements of a list have under a key.
fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|element| element[key].as_str().unwrap()).collect()
}
