//! RBBR.

use alloc::boxed::Box;

use super::{Filter, Gaps, Noise, ReceiverConfig, Schedule, Source, rbbr};
use crate::controllers::bbr::entry::{BURST, ECN, POLICER, options};
use crate::registry::{Domain, Entry, Parameter, ReceiverTask, Value, Values};
use crate::units::Duration;

pub(crate) static RBBR: Entry = Entry {
    name: "rbbr",
    summary: "BBR that takes its bandwidth from a Kalman filter at the receiver",
    source: "Haile et al. 2022 (RBBR)",
    parameters: PARAMETERS,
    make: |values, config| {
        let options = options(values, false);
        Box::new(rbbr(config, options, &receiver(values), source(values)))
    },
    receiver: Some(|values| match source(values) {
        Source::Frame => ReceiverTask::Estimate(receiver(values)),
        Source::Timestamps => ReceiverTask::Timestamps,
    }),
};

const KALMAN: &str = "kalman";
const EWMA: &str = "ewma";
const NONE: &str = "none";

const FILTER: &str = match ReceiverConfig::DEFAULT.filter {
    Filter::Kalman { .. } => KALMAN,
    Filter::Ewma { .. } => EWMA,
    Filter::Unfiltered => NONE,
};

const STRETCH: &str = "stretch";
const ZEROS: &str = "zeros";

const GAPS: &str = match ReceiverConfig::DEFAULT.gaps {
    Gaps::Stretch => STRETCH,
    Gaps::Zeros => ZEROS,
};

const FRAME: &str = "frame";
const TIMESTAMPS: &str = "timestamps";

/// `acks` and `period`.
const SCHEDULE: (u64, Duration) = match ReceiverConfig::DEFAULT.schedule {
    Schedule::EveryAcks(n) => (n as u64, Duration::ZERO),
    Schedule::Periodic(period) => (1, period),
};

const INITIAL_NOISE: Domain = Domain::Real {
    min: 0.0,
    max: 100.0,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "from",
        summary: "the estimate comes in the receiver's frames, or is made from its receive timestamps",
        default: Value::Word(FRAME),
        domain: Domain::Choice(&[FRAME, TIMESTAMPS]),
    },
    Parameter {
        name: "filter",
        summary: "the receiver's filter",
        default: Value::Word(FILTER),
        domain: Domain::Choice(&[KALMAN, EWMA, NONE]),
    },
    Parameter {
        name: "alpha",
        summary: "memory of the Kalman filter's noise estimates; weight of EWMA's newest sample",
        default: Value::Real(Filter::DEFAULT_ALPHA),
        domain: Domain::Real { min: 0.0, max: 1.0 },
    },
    Parameter {
        name: "interval",
        summary: "the receiver's sampling interval",
        default: Value::Span(ReceiverConfig::DEFAULT.interval),
        domain: Domain::Span {
            min: Duration::from_micros(1),
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "gaps",
        summary: "an interval without arrivals stretches the sample or counts as zeros",
        default: Value::Word(GAPS),
        domain: Domain::Choice(&[STRETCH, ZEROS]),
    },
    Parameter {
        name: "acks",
        summary: "acknowledgments from feedback to feedback",
        default: Value::Whole(SCHEDULE.0),
        // 1000 acknowledgments of two packets each are a second at 24 Mbit/s. Where they are more than
        // the whole transfer, the first estimate never comes.
        domain: Domain::Whole { min: 1, max: 1000 },
    },
    Parameter {
        name: "period",
        summary: "time from feedback to feedback; 0s: by acknowledgments",
        default: Value::Span(SCHEDULE.1),
        domain: Domain::Span {
            min: Duration::ZERO,
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "state-noise",
        summary: "the Kalman filter's initial standard deviation, share of the first sample",
        default: Value::Real(Noise::DEFAULT.state),
        domain: INITIAL_NOISE,
    },
    Parameter {
        name: "process-noise",
        summary: "the Kalman filter's initial process noise, standard deviation, share of the first sample",
        default: Value::Real(Noise::DEFAULT.process),
        domain: INITIAL_NOISE,
    },
    Parameter {
        name: "measurement-noise",
        summary: "the Kalman filter's initial measurement noise, standard deviation, share of the first sample",
        default: Value::Real(Noise::DEFAULT.measurement),
        domain: INITIAL_NOISE,
    },
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
