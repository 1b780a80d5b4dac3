//! RTT-gain BBR.

use alloc::boxed::Box;

use super::RttGain;
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, ECN, POLICER, PRIME, options};
use crate::controllers::bbr::{Bbr, MaxBandwidth};
use crate::registry::{Entry, Parameter};

pub(crate) static RTT_GAIN: Entry = Entry {
    name: "rtt-gain",
    summary: "BBR whose steady pacing gain follows min_rtt/rtt",
    source: "Xiong 2020 (RTT-gain BBR) §3.2",
    parameters: &[
        Parameter::real("alpha", RttGain::DEFAULT_ALPHA, 0.01..=1.0)
            .about("factor of the steady gain"),
        AGGREGATION_OFF,
        POLICER,
        BURST,
        ECN,
        PRIME,
    ],
    make: |values, config| {
        let (estimator, policy) = (MaxBandwidth::default(), RttGain::new(values.real("alpha")));
        Box::new(Bbr::new(config, options(values), estimator, policy))
    },
    receiver: None,
};
