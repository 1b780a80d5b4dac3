//! ebb2.

use alloc::boxed::Box;

use super::{Ebb2, Tuning};
use crate::registry::{Entry, Parameter};

pub(crate) static EBB2: Entry = Entry {
    name: "ebb2",
    summary: "ebb 2, a prototype: ebb where the link is its own, and a share of it elsewhere",
    source: "prototype",
    parameters: &[Parameter::share("idle", Tuning::DEFAULT.idle, 0.001..=0.5)
        .about("share of the link's capacity that may stay unused; less means more delay")],
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
