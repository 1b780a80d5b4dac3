//! Low-delay congestion controllers for the TCP of a stock Linux kernel, as BPF programs (`struct_ops`).
//!
//! The controllers are written in C (`bpf/`), in fixed point, and are the same algorithms as
//! `lowtide-cc`'s, which tests compare event by event. This crate loads them, shows the sockets that use
//! them, and takes them out again. `docs/kernel.md` is for users.
//!
//! The feature `bpf` builds the programs and the loader. Without it, or where no clang was found, all
//! functions return [`Error::NotBuilt`], which says why.

mod choice;
mod error;
mod flow;
mod known;
mod outcome;

#[cfg(has_programs)]
mod bpf;
#[cfg(not(has_programs))]
#[path = "absent.rs"]
mod bpf;

pub use self::bpf::{Loaded, load, status, unload};
pub use self::choice::Choice;
pub use self::error::Error;
pub use self::flow::Flow;
pub use self::known::{KNOWN, Known, find};
pub use self::outcome::{Status, Unloaded};
