//! BBR-S.

use alloc::boxed::Box;

use super::{SkipConfig, bbr_s};
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, ECN, POLICER, PRIME, prime_options};
use crate::estimators::{Adaptation, NoiseBounds};
use crate::registry::{Domain, Entry, Parameter, Value};
use crate::units::Duration;

pub(crate) static BBR_S: Entry = Entry {
    name: "bbr-s",
    summary: "BBR that takes its bandwidth from a Tobit Kalman filter at the sender",
    source: "Chiariotti et al. 2021 (BBR-S)",
    parameters: PARAMETERS,
    make: |values, config| {
        let options = prime_options(values, values.flag("aggregation"));
        let skip = SkipConfig {
            step: values.span("step"),
            // The registry's ranges fit.
            min_acks: values.whole("acks") as u32,
            queue_ratio: values.real("queue"),
            adaptation: Adaptation {
                forgetting: values.real("gamma"),
                window: values.whole("window") as usize,
            },
            bounds: NoiseBounds {
                process: (NoiseBounds::DEFAULT.process.0, values.real("process-max")),
                measurement: (
                    NoiseBounds::DEFAULT.measurement.0,
                    values.real("measurement-max"),
                ),
            },
        };
        Box::new(bbr_s(config, options, &skip))
    },
    receiver: None,
};

const NOISE_SHARE: Domain = Domain::Real {
    min: 0.0,
    max: 10.0,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "step",
        summary: "time from capacity sample to capacity sample",
        default: Value::Span(SkipConfig::DEFAULT.step),
        domain: Domain::Span {
            min: Duration::from_millis(1),
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "acks",
        summary: "fewest acknowledgments of a sample; a step lasts until it has them",
        default: Value::Whole(SkipConfig::DEFAULT.min_acks as u64),
        domain: Domain::Whole { min: 2, max: 1000 },
    },
    Parameter {
        name: "queue",
        summary: "rtt/min_rtt above which packets have queued and show more than was sent",
        default: Value::Real(SkipConfig::DEFAULT.queue_ratio),
        domain: Domain::Real {
            min: 1.0,
            max: 1000.0,
        },
    },
    Parameter {
        name: "gamma",
        summary: "memory of the noise estimates",
        default: Value::Real(SkipConfig::DEFAULT.adaptation.forgetting),
        domain: Domain::Real {
            min: 0.0,
            max: 0.9999,
        },
    },
    Parameter {
        name: "window",
        summary: "innovations that the noise estimates average",
        default: Value::Whole(SkipConfig::DEFAULT.adaptation.window as u64),
        domain: Domain::Whole { min: 1, max: 64 },
    },
    Parameter {
        name: "process-max",
        summary: "most process noise, standard deviation, share of the estimate",
        default: Value::Real(SkipConfig::DEFAULT.bounds.process.1),
        domain: NOISE_SHARE,
    },
    Parameter {
        name: "measurement-max",
        summary: "most measurement noise, standard deviation, share of the estimate",
        default: Value::Real(SkipConfig::DEFAULT.bounds.measurement.1),
        domain: NOISE_SHARE,
    },
    AGGREGATION_OFF,
    POLICER,
    BURST,
    ECN,
    PRIME,
];
