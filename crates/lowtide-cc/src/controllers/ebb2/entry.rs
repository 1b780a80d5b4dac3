//! ebb2.

use alloc::boxed::Box;

use super::{Ebb2, Tuning};
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static EBB2: Entry = Entry {
    name: "ebb2",
    summary: "ebb2: ebb that holds its place beside others: lets a set share of the link idle, and queues no more than that takes",
    source: "prototype",
    parameters: &[Parameter {
        name: "idle",
        summary: "share of the link's capacity that may stay unused; less means more delay",
        default: Value::Share(Tuning::DEFAULT.idle),
        domain: Domain::Share {
            min: 0.001,
            max: 0.5,
        },
    }],
    make: |values, config| {
        Box::new(Ebb2::new(
            config,
            Tuning {
                idle: values.share("idle"),
                ..Tuning::DEFAULT
            },
        ))
    },
    receiver: None,
};
