//! BBR v1, and the parameters that its derivatives share.

use alloc::boxed::Box;

use super::{Bbr, Options};
use crate::registry::{Entry, Parameter, Values};

pub(crate) const AGGREGATION: Parameter = aggregation(Options::DEFAULT.aggregation);

/// Off in the simulator that the papers of these derivatives used.
pub(crate) const AGGREGATION_OFF: Parameter = aggregation(false);

const fn aggregation(default: bool) -> Parameter {
    Parameter::flag("aggregation", default)
        .about("compensate aggregated acknowledgments by a larger window")
}

pub(crate) const POLICER: Parameter = Parameter::flag("policer", Options::DEFAULT.policer)
    .about("recognise token-bucket policers by long-term sampling");

pub(crate) const BURST: Parameter = Parameter::whole("burst", 0, 0..=1000)
    .about("packets of a burst; 0: about a millisecond's worth");

pub(crate) const ECN: Parameter = Parameter::flag("ecn", Options::DEFAULT.ecn)
    .about("be ECN-capable, and let marks cap what is in flight (ours)");

pub(crate) const PRIME: Parameter = Parameter::flag("prime", Options::DEFAULT.prime).about(
    "as BBR' for ns-3.27 (Claypool et al. 2018): steady phases at 0.95 of the estimate, \
     all phases one min_rtt long, ProbeRTT by the simulation's clock",
);

/// Which of BBR's mechanisms a spec turns on; what its entry does not offer is off.
pub(crate) fn options(values: &Values) -> Options {
    let burst = values.whole("burst");
    Options {
        aggregation: values.has("aggregation"),
        policer: values.has("policer"),
        burst_packets: (burst > 0).then_some(burst),
        ecn: values.has("ecn"),
        prime: values.has("prime"),
    }
}

pub(crate) static BBR: Entry = Entry {
    name: "bbr",
    summary: "BBR v1: paces at the highest delivery rate of 10 rounds",
    source: "Cardwell et al. 2016; Linux tcp_bbr",
    parameters: &[AGGREGATION, POLICER, BURST, ECN],
    make: |values, config| Box::new(Bbr::v1(config, options(values))),
    receiver: None,
};

pub(crate) static BBR_NOAGG: Entry = Entry {
    name: "bbr-noagg",
    summary: "BBR v1 without compensation of ACK aggregation",
    source: "Haile et al. 2022 (RBBR) §IV; Linux tcp_bbr before 5.1",
    parameters: &[POLICER, BURST, ECN, PRIME],
    ..BBR
};
