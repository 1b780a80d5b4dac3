//! The compiled programs.

use std::sync::Mutex;

use libbpf_rs::{Object, ObjectBuilder, OpenObject, PrintLevel};

use super::refused;
use crate::{Error, Known};

macro_rules! compiled {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"))
    };
}

/// In the order of [`Known::index`].
const CONTROLLERS: &[&[u8]] = &[
    compiled!("bbr_acd"),
    compiled!("ebb"),
    compiled!("ebcc"),
    compiled!("rtt_gain"),
];
const STATUS: &[u8] = compiled!("status");

/// What libbpf has said since the last load.
static SAID: Mutex<String> = Mutex::new(String::new());

/// The controller, opened but not loaded.
pub(super) fn controller(known: &Known) -> Result<OpenObject, Error> {
    open(CONTROLLERS[known.index])
}

/// The iterator over a controller's flows.
pub(super) fn status() -> Result<Object, Error> {
    load(open(STATUS)?)
}

fn open(object: &[u8]) -> Result<OpenObject, Error> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, |_, message| {
        if let Ok(mut said) = SAID.lock() {
            said.push_str(&message);
        }
    })));
    ObjectBuilder::default()
        .open_memory(object)
        .map_err(refused)
}

/// Has the kernel check it; the verifier's last words are part of the error.
pub(super) fn load(object: OpenObject) -> Result<Object, Error> {
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    object.load().map_err(|error| {
        let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
        let mut words: Vec<&str> = said.lines().rev().take(6).collect();
        words.reverse();
        Error::Refused {
            problem: format!("{error:#}\n{}", words.join("\n")),
        }
    })
}
