//! ebb.

use alloc::boxed::Box;

use super::{Ebb, Tuning};
use crate::registry::{Entry, Parameter};

pub(crate) static EBB: Entry = Entry {
    name: "ebb",
    summary: "ebb: lets a set share of the link idle, and queues no more than that takes",
    source: "docs/ebb.md",
    parameters: &[
        Parameter::share("idle", Tuning::DEFAULT.idle, 0.001..=0.5)
            .about("share of the link's capacity that may stay unused; less means more delay"),
        Parameter::flag("l4s", Tuning::DEFAULT.l4s)
            .about("send ECT(1), and let marks bound the window as Prague's do"),
    ],
    make: |values, config| {
        Box::new(Ebb::new(
            config,
            Tuning {
                idle: values.share("idle"),
                l4s: values.flag("l4s"),
                ..Tuning::DEFAULT
            },
        ))
    },
    receiver: None,
};
