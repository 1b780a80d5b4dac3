//! ebb.

use alloc::boxed::Box;

use super::{Ebb, Tuning};
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static EBB: Entry = Entry {
    name: "ebb",
    summary: "ebb: lets a set share of the link idle, and queues no more than that takes",
    source: "docs/ebb.md",
    parameters: &[
        Parameter {
            name: "idle",
            summary: "share of the link's capacity that may stay unused; less means more delay",
            default: Value::Share(Tuning::DEFAULT.idle),
            domain: Domain::Share {
                min: 0.001,
                max: 0.5,
            },
        },
        Parameter {
            name: "l4s",
            summary: "send ECT(1), and let marks bound the window as Prague's do",
            default: Value::Flag(Tuning::DEFAULT.l4s),
            domain: Domain::Flag,
        },
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
