//! Controllers written in Python: the classes that users derive theirs from, and what stands for such an
//! object where the lab expects a controller.
//!
//! A run that has one holds the interpreter from its first event to its last: the thread of each run would
//! otherwise fetch it anew at each event, which takes longer than a short method. Python's own scheduler makes
//! runs take turns. A controller of batches is called a hundred times a second, and the interpreter is free
//! in between.

mod base;
mod batch;
mod bbr;
mod config;
mod events;
mod failure;
mod hosted;
mod made;
mod methods;
mod model;
pub(crate) mod number;
mod phases;
mod view;

pub(crate) use self::base::Controller;
pub(crate) use self::batch::{Batch, BatchController};
pub(crate) use self::bbr::Bbr;
pub(crate) use self::config::Config;
pub(crate) use self::events::{Ack, Loss, PacketSent, RateSample, Timeout};
pub(crate) use self::failure::Failures;
pub(crate) use self::made::{made, name};
pub(crate) use self::model::Model;
