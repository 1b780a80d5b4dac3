//! Compound.

use alloc::boxed::Box;

use super::{Compound, Gamma};
use crate::controllers::vegas::entry::QUEUED_PACKETS;
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static COMPOUND: Entry = Entry {
    name: "compound",
    summary: "Compound TCP: Reno's window and one that follows the queueing delay",
    source: "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02",
    parameters: &[
        Parameter {
            name: "gamma",
            summary: "queued packets from which on the delay window shrinks",
            default: Value::Whole(Gamma::DEFAULT_PACKETS),
            domain: QUEUED_PACKETS,
        },
        Parameter {
            name: "tuning",
            summary: "tune gamma at each loss, between 5 and 30 packets",
            default: Value::Flag(Gamma::DEFAULT_TUNED),
            domain: Domain::Flag,
        },
    ],
    make: |values, config| {
        let gamma = Gamma::new(values.whole("gamma"), values.flag("tuning"));
        Box::new(Compound::new(config, gamma))
    },
    receiver: None,
};
