//! Copa.

use alloc::boxed::Box;

use super::{Copa, Options};
use crate::registry::{Domain, Entry, Parameter, Value};

const SWITCHING: &str = "switching";

pub(crate) static COPA: Entry = Entry {
    name: "copa",
    summary: "Copa: steers towards the rate 1/(delta x queueing delay)",
    source: "Arun and Balakrishnan, NSDI 2018",
    parameters: &[
        Parameter {
            name: "delta",
            summary: "price of delay, 1/packets; 1.25/delta packets are queued on average",
            default: Value::Real(Options::DEFAULT.delta),
            domain: Domain::Real {
                min: 0.004,
                max: 10.0,
            },
        },
        Parameter {
            name: "mode",
            summary: "switching: competes with flows that fill the buffer; default: never",
            default: Value::Word(if Options::DEFAULT.mode_switching {
                SWITCHING
            } else {
                "default"
            }),
            domain: Domain::Choice(&["default", SWITCHING]),
        },
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
