//! RBBR.

use alloc::boxed::Box;
use core::ops::RangeInclusive;

use super::{FeedbackEstimator, Filter, Gaps, Noise, ReceiverConfig, Schedule, Source};
use crate::controllers::bbr::entry::{BURST, ECN, POLICER, options};
use crate::controllers::bbr::{Bbr, V1};
use crate::registry::{Entry, Parameter, ReceiverTask, UP_TO_10_S, Values};
use crate::units::Duration;

pub(crate) static RBBR: Entry = Entry {
    name: "rbbr",
    summary: "BBR that takes its bandwidth from a Kalman filter at the receiver",
    source: "Haile et al. 2022 (RBBR)",
    parameters: PARAMETERS,
    // Without compensation of ACK aggregation, which belongs to the sender's own estimate (§V-A).
    make: |values, config| {
        let estimator = FeedbackEstimator::new(&receiver(values), source(values));
        Box::new(Bbr::new(config, options(values), estimator, V1))
    },
    receiver: Some(|values| match source(values) {
        Source::Frame => ReceiverTask::Estimate(receiver(values)),
        Source::Timestamps => ReceiverTask::Timestamps,
    }),
};

const KALMAN: &str = "kalman";
const EWMA: &str = "ewma";
const NONE: &str = "none";

const STRETCH: &str = "stretch";
const ZEROS: &str = "zeros";

const FRAME: &str = "frame";
const TIMESTAMPS: &str = "timestamps";

const INITIAL_NOISE: RangeInclusive<f64> = 0.0..=100.0;

static PARAMETERS: &[Parameter] = &[
    Parameter::choice("from", FRAME, &[FRAME, TIMESTAMPS]).about(
        "the estimate comes in the receiver's frames, or is made from its receive \
         timestamps",
    ),
    Parameter::choice("filter", KALMAN, &[KALMAN, EWMA, NONE]).about("the receiver's filter"),
    Parameter::real("alpha", Filter::DEFAULT_ALPHA, 0.0..=1.0)
        .about("memory of the Kalman filter's noise estimates; weight of EWMA's newest sample"),
    Parameter::span(
        "interval",
        ReceiverConfig::DEFAULT.interval,
        Duration::from_micros(1)..=Duration::from_secs(10),
    )
    .about("the receiver's sampling interval"),
    Parameter::choice("gaps", STRETCH, &[STRETCH, ZEROS])
        .about("an interval without arrivals stretches the sample or counts as zeros"),
    // 1000 acknowledgments of two packets each are a second at 24 Mbit/s. Where they are more than
    // the whole transfer, the first estimate never comes.
    Parameter::whole("acks", 1, 1..=1000).about("acknowledgments from feedback to feedback"),
    Parameter::span("period", Duration::ZERO, UP_TO_10_S)
        .about("time from feedback to feedback; 0s: by acknowledgments"),
    Parameter::real("state-noise", Noise::DEFAULT.state, INITIAL_NOISE)
        .about("the Kalman filter's initial standard deviation, share of the first sample"),
    Parameter::real("process-noise", Noise::DEFAULT.process, INITIAL_NOISE).about(
        "the Kalman filter's initial process noise, standard deviation, share of the first \
         sample",
    ),
    Parameter::real(
        "measurement-noise",
        Noise::DEFAULT.measurement,
        INITIAL_NOISE,
    )
    .about(
        "the Kalman filter's initial measurement noise, standard deviation, share of the first \
         sample",
    ),
    POLICER,
    BURST,
    ECN,
];

fn source(values: &Values) -> Source {
    match values.word("from") {
        TIMESTAMPS => Source::Timestamps,
        _ => Source::Frame,
    }
}

fn receiver(values: &Values) -> ReceiverConfig {
    let alpha = values.real("alpha");
    ReceiverConfig {
        interval: values.span("interval"),
        gaps: match values.word("gaps") {
            ZEROS => Gaps::Zeros,
            _ => Gaps::Stretch,
        },
        filter: match values.word("filter") {
            NONE => Filter::Unfiltered,
            EWMA => Filter::Ewma { alpha },
            _ => Filter::Kalman {
                alpha,
                initial: Noise {
                    state: values.real("state-noise"),
                    process: values.real("process-noise"),
                    measurement: values.real("measurement-noise"),
                },
            },
        },
        schedule: schedule(values),
    }
}

fn schedule(values: &Values) -> Schedule {
    let period = values.span("period");
    if period.is_zero() {
        // The registry's range fits.
        Schedule::EveryAcks(values.whole("acks") as u32)
    } else {
        Schedule::Periodic(period)
    }
}
