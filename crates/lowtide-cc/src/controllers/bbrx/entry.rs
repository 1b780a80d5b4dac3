//! BBRx.

use alloc::boxed::Box;

use super::CorrectedMax;
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, POLICER, options};
use crate::controllers::bbr::{Bbr, V1};
use crate::registry::{Entry, Parameter};

pub(crate) static BBRX: Entry = Entry {
    name: "bbrx",
    summary: "BBR whose estimate is corrected by the RTT",
    source: "Lowtide's law after Chung et al. 2018 (BBRx)",
    parameters: &[
        Parameter::real("beta", CorrectedMax::DEFAULT_BETA, 0.0..=1.0)
            .about("gain of the correction"),
        Parameter::real("k", CorrectedMax::DEFAULT_K, 1.0..=10.0)
            .about("rtt/min_rtt at which nothing is corrected"),
        AGGREGATION,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let estimator = CorrectedMax::new(values.real("beta"), values.real("k"));
        Box::new(Bbr::new(config, options(values), estimator, V1))
    },
    receiver: None,
};
