//! CUBIC.

use alloc::boxed::Box;

use super::Cubic;
use crate::controllers::newreno::entry::ABE;
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static CUBIC: Entry = Entry {
    name: "cubic",
    summary: "CUBIC: the window follows a cubic function of time since the last loss",
    source: "RFC 9438; HyStart++ RFC 9406",
    parameters: &[
        Parameter {
            name: "hystart",
            summary: "leave slow start when the RTT rises (HyStart++)",
            default: Value::Flag(false),
            domain: Domain::Flag,
        },
        ABE,
    ],
    make: |values, config| {
        let cubic = Cubic::new(config, values.flag("hystart"));
        Box::new(if values.flag("abe") {
            cubic.with_abe()
        } else {
            cubic
        })
    },
    receiver: None,
};
