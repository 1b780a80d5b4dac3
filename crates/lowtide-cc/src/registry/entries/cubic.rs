//! CUBIC.

use alloc::boxed::Box;

use super::super::Entry;
use super::super::parameter::{Domain, Parameter, Value};
use crate::cubic::Cubic;

pub(super) static CUBIC: Entry = Entry {
    name: "cubic",
    summary: "CUBIC: the window follows a cubic function of time since the last loss",
    source: "RFC 9438; HyStart++ RFC 9406",
    parameters: &[Parameter {
        name: "hystart",
        summary: "leave slow start when the RTT rises (HyStart++)",
        default: Value::Flag(false),
        domain: Domain::Flag,
    }],
    make: |values, config| Box::new(Cubic::new(config, values.flag("hystart"))),
    receiver: None,
};
