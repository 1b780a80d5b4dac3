//! The command line of Lowtide, for programs that bring controllers of their own:
//!
//! ```no_run
//! # use lowtide_cc::registry::Entry;
//! # static MINE: Entry = Entry {
//! #     name: "mine",
//! #     summary: "",
//! #     source: "",
//! #     parameters: &[],
//! #     make: |_, config| lowtide_cc::registry::build("bbr", config).unwrap(),
//! #     receiver: None,
//! # };
//! fn main() -> std::process::ExitCode {
//!     let app = lowtide::App::default().with(&MINE).expect("no other has this name");
//!     app.run()
//! }
//! ```
//!
//! Such a program has all of `lowtide`'s commands, with its controller beside the others: in tables,
//! reports, scenario files, and over the QUIC host. `examples/own-controller` is a whole one.

mod address;
mod app;
mod attack;
mod command;
mod compare;
mod executable;
mod experiment;
mod failure;
mod flags;
mod frontier;
mod interrupt;
mod kernel;
mod knobs;
mod link;
mod list;
mod merge;
mod output;
mod progress;
mod record;
mod reproduce;
mod score;
mod sparkline;
mod table;
mod trace;
#[cfg(feature = "stacks")]
mod transfer;

pub use self::app::App;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
