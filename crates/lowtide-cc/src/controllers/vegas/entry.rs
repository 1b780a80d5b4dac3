//! Vegas.

use alloc::boxed::Box;

use super::{Thresholds, Vegas};
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static VEGAS: Entry = Entry {
    name: "vegas",
    summary: "Vegas: keeps two to four packets queued",
    source: "Brakmo and Peterson 1995; Linux tcp_vegas",
    parameters: &[
        Parameter {
            name: "alpha",
            summary: "with fewer packets queued the window grows",
            default: Value::Whole(Thresholds::DEFAULT.alpha),
            domain: QUEUED_PACKETS,
        },
        Parameter {
            name: "beta",
            summary: "with more packets queued the window shrinks; at least alpha",
            default: Value::Whole(Thresholds::DEFAULT.beta),
            domain: QUEUED_PACKETS,
        },
        Parameter {
            name: "gamma",
            summary: "with more packets queued slow start ends",
            default: Value::Whole(Thresholds::DEFAULT.gamma),
            domain: QUEUED_PACKETS,
        },
    ],
    make: |values, config| {
        let thresholds = Thresholds {
            alpha: values.whole("alpha"),
            beta: values.whole("beta"),
            gamma: values.whole("gamma"),
        };
        Box::new(Vegas::new(config, thresholds))
    },
    receiver: None,
};

/// Numbers of packets in the queue.
pub(crate) const QUEUED_PACKETS: Domain = Domain::Whole {
    min: 0,
    max: 1_000_000,
};
