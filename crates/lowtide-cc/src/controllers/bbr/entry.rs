//! BBR v1, and the parameters that its derivatives share.

use alloc::boxed::Box;

use super::{Bbr, Options};
use crate::registry::{Domain, Entry, Parameter, Value, Values};

pub(crate) const AGGREGATION: Parameter = Parameter {
    name: "aggregation",
    summary: "compensate aggregated acknowledgments by a larger window",
    default: Value::Flag(Options::DEFAULT.aggregation),
    domain: Domain::Flag,
};

/// Off in the simulator that the papers of these derivatives used.
pub(crate) const AGGREGATION_OFF: Parameter = Parameter {
    default: Value::Flag(false),
    ..AGGREGATION
};

pub(crate) const POLICER: Parameter = Parameter {
    name: "policer",
    summary: "recognise token-bucket policers by long-term sampling",
    default: Value::Flag(Options::DEFAULT.policer),
    domain: Domain::Flag,
};

pub(crate) const BURST: Parameter = Parameter {
    name: "burst",
    summary: "packets of a burst; 0: about a millisecond's worth",
    default: Value::Whole(match Options::DEFAULT.burst_packets {
        Some(packets) => packets,
        None => 0,
    }),
    domain: Domain::Whole { min: 0, max: 1000 },
};

pub(crate) const ECN: Parameter = Parameter {
    name: "ecn",
    summary: "be ECN-capable, and let marks cap what is in flight (ours)",
    default: Value::Flag(Options::DEFAULT.ecn),
    domain: Domain::Flag,
};

pub(crate) const PRIME: Parameter = Parameter {
    name: "prime",
    summary: "as BBR' for ns-3.27 (Claypool et al. 2018): steady phases at 0.95 of the estimate, \
              all phases one min_rtt long, ProbeRTT by the simulation's clock",
    default: Value::Flag(Options::DEFAULT.prime),
    domain: Domain::Flag,
};

/// What every BBR of the first version takes beside its own parameters.
pub(crate) fn options(values: &Values, aggregation: bool) -> Options {
    Options {
        policer: values.flag("policer"),
        ..options_without_policer(values, aggregation)
    }
}

/// The same for one that BBR′ has been the base of.
pub(crate) fn prime_options(values: &Values, aggregation: bool) -> Options {
    Options {
        prime: values.flag("prime"),
        ..options(values, aggregation)
    }
}

/// The same for one that never looks for policers.
pub(crate) fn options_without_policer(values: &Values, aggregation: bool) -> Options {
    let burst = values.whole("burst");
    Options {
        aggregation,
        policer: false,
        prime: false,
        burst_packets: (burst > 0).then_some(burst),
        ecn: values.flag("ecn"),
    }
}

pub(crate) static BBR: Entry = Entry {
    name: "bbr",
    summary: "BBR v1: paces at the highest delivery rate of 10 rounds",
    source: "Cardwell et al. 2016; Linux tcp_bbr",
    parameters: &[AGGREGATION, POLICER, BURST, ECN],
    make: |values, config| {
        let options = options(values, values.flag("aggregation"));
        Box::new(Bbr::v1(config, options))
    },
    receiver: None,
};

pub(crate) static BBR_NOAGG: Entry = Entry {
    name: "bbr-noagg",
    summary: "BBR v1 without compensation of ACK aggregation",
    source: "Haile et al. 2022 (RBBR) §IV; Linux tcp_bbr before 5.1",
    parameters: &[POLICER, BURST, ECN, PRIME],
    make: |values, config| Box::new(Bbr::v1(config, prime_options(values, false))),
    receiver: None,
};
