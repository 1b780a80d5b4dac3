//! NewReno.

use alloc::boxed::Box;

use super::NewReno;
use crate::registry::{Domain, Entry, Parameter, Value};

/// Off by default, as in Linux: RFC 8511 is an experiment.
pub(crate) const ABE: Parameter = Parameter {
    name: "abe",
    summary: "reduce the window by less at a mark than at a loss (RFC 8511)",
    default: Value::Flag(false),
    domain: Domain::Flag,
};

pub(crate) static NEWRENO: Entry = Entry {
    name: "newreno",
    summary: "NewReno: one packet more a round, half the window at a loss",
    source: "RFC 9002 §7, RFC 5681, RFC 6582",
    parameters: &[ABE],
    make: |values, config| {
        Box::new(if values.flag("abe") {
            NewReno::with_abe(config)
        } else {
            NewReno::new(config)
        })
    },
    receiver: None,
};
