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

use serde_json::Value;

use crate::program::{entry, number};

/// The repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// A number of a controller's entry: a key, or keys with dots between.
fn value(comparison: &Value, controller: &str, metric: &str) -> f64 {
    number(entry(comparison, controller), metric)
}

/// What all elements of a list have under a key.
fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|element| element[key].as_str().unwrap()).collect()
}
