//! RBBR.

use alloc::boxed::Box;

use super::super::Entry;
use super::super::parameter::{Domain, Parameter, Values};
use super::bbr::{BURST, POLICER, options};
use crate::rbbr::{self, rbbr};
use crate::units::Duration;

pub(super) static RBBR: Entry = Entry {
    name: "rbbr",
    summary: "BBR that takes its bandwidth from a Kalman filter at the receiver",
    source: "Haile et al. 2022 (RBBR)",
    parameters: PARAMETERS,
    make: |values, config| Box::new(rbbr(config, options(values, false))),
    receiver: Some(receiver),
};

const INITIAL_NOISE: Domain = Domain::Real {
    min: 0.0,
    max: 100.0,
};

static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "filter",
        summary: "the receiver's filter",
        default: "kalman",
        domain: Domain::Choice(&["kalman", "ewma", "none"]),
    },
    Parameter {
        name: "alpha",
        summary: "memory of the Kalman filter's noise estimates; weight of EWMA's newest sample",
        default: "0.6",
        domain: Domain::Real { min: 0.0, max: 1.0 },
    },
    Parameter {
        name: "interval",
        summary: "the receiver's sampling interval",
        default: "10ms",
        domain: Domain::Span {
            min: Duration::from_micros(1),
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "gaps",
        summary: "an interval without arrivals stretches the sample or counts as zeros",
        default: "stretch",
        domain: Domain::Choice(&["stretch", "zeros"]),
    },
    Parameter {
        name: "acks",
        summary: "acknowledgments from feedback to feedback",
        default: "1",
        domain: Domain::Whole {
            min: 1,
            max: 1_000_000,
        },
    },
    Parameter {
        name: "period",
        summary: "time from feedback to feedback; 0s: by acknowledgments",
        default: "0s",
        domain: Domain::Span {
            min: Duration::ZERO,
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "state-noise",
        summary: "the Kalman filter's initial standard deviation, share of the first sample",
        default: "0.5",
        domain: INITIAL_NOISE,
    },
    Parameter {
        name: "process-noise",
        summary: "the Kalman filter's initial process noise, standard deviation, share of the first sample",
        default: "0.1",
        domain: INITIAL_NOISE,
    },
    Parameter {
        name: "measurement-noise",
        summary: "the Kalman filter's initial measurement noise, standard deviation, share of the first sample",
        default: "0.5",
        domain: INITIAL_NOISE,
    },
    POLICER,
    BURST,
];

fn receiver(values: &Values) -> rbbr::ReceiverConfig {
    let alpha = values.real("alpha");
    let period = values.span("period");
    rbbr::ReceiverConfig {
        interval: values.span("interval"),
        gaps: match values.word("gaps") {
            "zeros" => rbbr::Gaps::Zeros,
            _ => rbbr::Gaps::Stretch,
        },
        filter: match values.word("filter") {
            "none" => rbbr::Filter::Unfiltered,
            "ewma" => rbbr::Filter::Ewma { alpha },
            _ => rbbr::Filter::Kalman {
                alpha,
                initial: rbbr::Noise {
                    state: values.real("state-noise"),
                    process: values.real("process-noise"),
                    measurement: values.real("measurement-noise"),
                },
            },
        },
        schedule: if period.is_zero() {
            // The registry's range fits.
            rbbr::Schedule::EveryAcks(values.whole("acks") as u32)
        } else {
            rbbr::Schedule::Periodic(period)
        },
    }
}
