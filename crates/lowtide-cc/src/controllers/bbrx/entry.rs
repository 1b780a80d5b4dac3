//! BBRx.

use alloc::boxed::Box;

use super::{CorrectedMax, bbrx};
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, POLICER, options};
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static BBRX: Entry = Entry {
    name: "bbrx",
    summary: "BBR whose estimate is corrected by the RTT",
    source: "Lowtide's law after Chung et al. 2018 (BBRx)",
    parameters: &[
        Parameter {
            name: "beta",
            summary: "gain of the correction",
            default: Value::Real(CorrectedMax::DEFAULT_BETA),
            domain: Domain::Real { min: 0.0, max: 1.0 },
        },
        Parameter {
            name: "k",
            summary: "rtt/min_rtt at which nothing is corrected",
            default: Value::Real(CorrectedMax::DEFAULT_K),
            domain: Domain::Real {
                min: 1.0,
                max: 10.0,
            },
        },
        AGGREGATION,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let options = options(values, values.flag("aggregation"));
        let estimator = CorrectedMax::new(values.real("beta"), values.real("k"));
        Box::new(bbrx(config, options, estimator))
    },
    receiver: None,
};
