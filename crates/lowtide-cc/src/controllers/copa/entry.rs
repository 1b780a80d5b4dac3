//! Copa.

use alloc::boxed::Box;

use super::{Copa, Options};
use crate::registry::{Entry, Parameter};

const SWITCHING: &str = "switching";

pub(crate) static COPA: Entry = Entry {
    name: "copa",
    summary: "Copa: steers towards the rate 1/(delta x queueing delay)",
    source: "Arun and Balakrishnan, NSDI 2018",
    parameters: &[
        Parameter::real("delta", Options::DEFAULT.delta, 0.004..=10.0)
            .about("price of delay, 1/packets; 1.25/delta packets are queued on average"),
        Parameter::choice("mode", SWITCHING, &["default", SWITCHING])
            .about("switching: competes with flows that fill the buffer; default: never"),
    ],
    make: |values, config| {
        let options = Options {
            delta: values.real("delta"),
            mode_switching: values.word("mode") == SWITCHING,
        };
        Box::new(Copa::new(config, options))
    },
    receiver: None,
};
