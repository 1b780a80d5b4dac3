//! Compound.

use alloc::boxed::Box;

use super::{Compound, Gamma};
use crate::controllers::vegas::entry::QUEUED_PACKETS;
use crate::registry::{Entry, Parameter};

pub(crate) static COMPOUND: Entry = Entry {
    name: "compound",
    summary: "Compound TCP: Reno's window and one that follows the queueing delay",
    source: "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02",
    parameters: &[
        Parameter::whole("gamma", Gamma::DEFAULT_PACKETS, QUEUED_PACKETS)
            .about("queued packets from which on the delay window shrinks"),
        Parameter::flag("tuning", Gamma::DEFAULT_TUNED)
            .about("tune gamma at each loss, between 5 and 30 packets"),
    ],
    make: |values, config| {
        let gamma = Gamma::new(values.whole("gamma"), values.flag("tuning"));
        Box::new(Compound::new(config, gamma))
    },
    receiver: None,
};
