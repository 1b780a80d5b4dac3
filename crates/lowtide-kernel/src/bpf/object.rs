//! The compiled programs.

use std::sync::Mutex;

use libbpf_rs::{Object, ObjectBuilder, OpenObject, PrintLevel};

use super::refused;
use crate::{Choice, Error, Known};

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
const CGROUP: &[u8] = compiled!("cgroup");
const STATUS: &[u8] = compiled!("status");

/// The map of `ebb_idle`.
pub(super) const IDLE: &str = ".rodata.idle";
const NAME: &str = ".rodata.name";
/// Bytes of a controller's name in the kernel, with the 0 that ends it.
const NAME_SIZE: usize = 16;

/// What libbpf has said since the last load.
static SAID: Mutex<String> = Mutex::new(String::new());

/// The controller with its parameters, opened but not loaded.
pub(super) fn controller(choice: &Choice) -> Result<OpenObject, Error> {
    let mut object = open(CONTROLLERS[choice.known.index])?;
    if let Some(idle) = choice.idle() {
        set(&mut object, IDLE, &idle.to_ne_bytes())?;
    }
    Ok(object)
}

/// The program that gives a cgroup's sockets this controller.
pub(super) fn cgroup(known: &Known) -> Result<Object, Error> {
    let mut object = open(CGROUP)?;
    let mut name = [0; NAME_SIZE];
    name[..known.kernel_name.len()].copy_from_slice(known.kernel_name.as_bytes());
    set(&mut object, NAME, &name)?;
    load(object)
}

/// Sets the constants of a section.
fn set(object: &mut OpenObject, section: &str, value: &[u8]) -> Result<(), Error> {
    let map = object.maps_mut().find(|map| map.name() == section);
    map.ok_or_else(|| Error::Refused(format!("the program has no section {section}")))?
        .set_initial_value(value)
        .map_err(refused)
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
        Error::Refused(format!("{error:#}\n{}", words.join("\n")))
    })
}
