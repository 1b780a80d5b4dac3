//! Vegas.

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use super::{Thresholds, Vegas};
use crate::registry::{Entry, Parameter};

pub(crate) static VEGAS: Entry = Entry {
    name: "vegas",
    summary: "Vegas: keeps two to four packets queued",
    source: "Brakmo and Peterson 1995; Linux tcp_vegas",
    parameters: &[
        Parameter::whole("alpha", Thresholds::DEFAULT.alpha, QUEUED_PACKETS)
            .about("with fewer packets queued the window grows"),
        Parameter::whole("beta", Thresholds::DEFAULT.beta, QUEUED_PACKETS)
            .about("with more packets queued the window shrinks; at least alpha"),
        Parameter::whole("gamma", Thresholds::DEFAULT.gamma, QUEUED_PACKETS)
            .about("with more packets queued slow start ends"),
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
pub(crate) const QUEUED_PACKETS: RangeInclusive<u64> = 0..=1_000_000;
