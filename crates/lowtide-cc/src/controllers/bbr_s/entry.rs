//! BBR-S.

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use super::{LowDelay, SkipConfig, SkipEstimator};
use crate::controllers::bbr::Bbr;
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, ECN, POLICER, PRIME, options};
use crate::estimators::{Adaptation, NoiseBounds};
use crate::registry::{Entry, Parameter};
use crate::units::Duration;

pub(crate) static BBR_S: Entry = Entry {
    name: "bbr-s",
    summary: "BBR that takes its bandwidth from a Tobit Kalman filter at the sender",
    source: "Chiariotti et al. 2021 (BBR-S)",
    parameters: PARAMETERS,
    make: |values, config| {
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
        let estimator = SkipEstimator::new(&skip);
        Box::new(Bbr::new(config, options(values), estimator, LowDelay))
    },
    receiver: None,
};

const NOISE_SHARE: RangeInclusive<f64> = 0.0..=10.0;

static PARAMETERS: &[Parameter] = &[
    Parameter::span(
        "step",
        SkipConfig::DEFAULT.step,
        Duration::from_millis(1)..=Duration::from_secs(10),
    )
    .about("time from capacity sample to capacity sample"),
    Parameter::whole("acks", SkipConfig::DEFAULT.min_acks as u64, 2..=1000)
        .about("fewest acknowledgments of a sample; a step lasts until it has them"),
    Parameter::real("queue", SkipConfig::DEFAULT.queue_ratio, 1.0..=1000.0)
        .about("rtt/min_rtt above which packets have queued and show more than was sent"),
    Parameter::real(
        "gamma",
        SkipConfig::DEFAULT.adaptation.forgetting,
        0.0..=0.9999,
    )
    .about("memory of the noise estimates"),
    Parameter::whole(
        "window",
        SkipConfig::DEFAULT.adaptation.window as u64,
        1..=64,
    )
    .about("innovations that the noise estimates average"),
    Parameter::real(
        "process-max",
        SkipConfig::DEFAULT.bounds.process.1,
        NOISE_SHARE,
    )
    .about("most process noise, standard deviation, share of the estimate"),
    Parameter::real(
        "measurement-max",
        SkipConfig::DEFAULT.bounds.measurement.1,
        NOISE_SHARE,
    )
    .about("most measurement noise, standard deviation, share of the estimate"),
    AGGREGATION_OFF,
    POLICER,
    BURST,
    ECN,
    PRIME,
];
