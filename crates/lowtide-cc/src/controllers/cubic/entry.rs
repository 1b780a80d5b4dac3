//! CUBIC.

use alloc::boxed::Box;

use super::{Cubic, HyStart};
use crate::controllers::newreno::entry::{ABE, REDUCE, reduces_at_each_loss};
use crate::registry::{Entry, Parameter};

const TRUE: &str = "true";
const FALSE: &str = "false";
const LINUX: &str = "linux";
const RFC9406: &str = "rfc9406";

pub(crate) static CUBIC: Entry = Entry {
    name: "cubic",
    summary: "CUBIC: the window follows a cubic function of time since the last loss",
    source: "RFC 9438; HyStart as in Linux's tcp_cubic.c, HyStart++ RFC 9406",
    parameters: &[
        Parameter::choice("hystart", TRUE, &[TRUE, FALSE, LINUX, RFC9406]).about(
            "leave slow start before packets are lost: true: as hosts of the transport do; \
             linux: HyStart and growth as in Linux; rfc9406: HyStart++; false: no",
        ),
        ABE,
        REDUCE,
    ],
    make: |values, config| {
        let hystart = match values.word("hystart") {
            FALSE => HyStart::Off,
            LINUX => HyStart::Linux,
            RFC9406 => HyStart::Rfc9406,
            _ => HyStart::of(config.transport),
        };
        let mut cubic = Cubic::new(config, hystart);
        if values.flag("abe") {
            cubic = cubic.with_abe();
        }
        if reduces_at_each_loss(values) {
            cubic = cubic.with_each_loss();
        }
        Box::new(cubic)
    },
    receiver: None,
};
