//! The list of controllers.

use alloc::boxed::Box;

use super::Entry;
use super::parameter::{Domain, Parameter, Values};
use crate::bbr::{Bbr, Options};
use crate::bbr_acd::{CongestionDetection, Halving, bbr_acd};
use crate::bbr_s::{SkipConfig, bbr_s};
use crate::bbrx::{CorrectedMax, bbrx};
use crate::cubic::Cubic;
use crate::ebcc::{LastWindow, LossAndQueue, ebcc};
use crate::filter::{Adaptation, NoiseBounds};
use crate::newreno::NewReno;
use crate::rbbr::{self, rbbr};
use crate::rtt_gain::rtt_gain;
use crate::units::Duration;
use crate::window::ConstantWindow;

const AGGREGATION: Parameter = Parameter {
    name: "aggregation",
    summary: "compensate aggregated acknowledgments by a larger window",
    default: "true",
    domain: Domain::Flag,
};

/// Off in the simulator that the papers of these derivatives used.
const AGGREGATION_OFF: Parameter = Parameter {
    default: "false",
    ..AGGREGATION
};

const POLICER: Parameter = Parameter {
    name: "policer",
    summary: "recognise token-bucket policers by long-term sampling",
    default: "true",
    domain: Domain::Flag,
};

const BURST: Parameter = Parameter {
    name: "burst",
    summary: "packets of a burst; 0: about a millisecond's worth",
    default: "0",
    domain: Domain::Whole { min: 0, max: 1000 },
};

/// What every BBR of the first version takes beside its own parameters.
fn options(values: &Values, aggregation: bool) -> Options {
    let burst = values.whole("burst");
    Options {
        aggregation,
        policer: values.flag("policer"),
        burst_packets: (burst > 0).then_some(burst),
    }
}

static RBBR: &[Parameter] = &[
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
        summary: "its initial process noise, likewise",
        default: "0.1",
        domain: INITIAL_NOISE,
    },
    Parameter {
        name: "measurement-noise",
        summary: "its initial measurement noise, likewise",
        default: "0.5",
        domain: INITIAL_NOISE,
    },
    POLICER,
    BURST,
];

const INITIAL_NOISE: Domain = Domain::Real {
    min: 0.0,
    max: 100.0,
};

fn rbbr_receiver(values: &Values) -> rbbr::ReceiverConfig {
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

const NOISE_SHARE: Domain = Domain::Real {
    min: 0.0,
    max: 10.0,
};

static BBR_S: &[Parameter] = &[
    Parameter {
        name: "step",
        summary: "time from capacity sample to capacity sample",
        default: "10ms",
        domain: Domain::Span {
            min: Duration::from_millis(1),
            max: Duration::from_secs(10),
        },
    },
    Parameter {
        name: "acks",
        summary: "fewest acknowledgments of a sample; a step lasts until it has them",
        default: "8",
        domain: Domain::Whole { min: 2, max: 1000 },
    },
    Parameter {
        name: "gamma",
        summary: "memory of the noise estimates",
        default: "0.95",
        domain: Domain::Real {
            min: 0.0,
            max: 0.9999,
        },
    },
    Parameter {
        name: "window",
        summary: "innovations that the noise estimates average",
        default: "10",
        domain: Domain::Whole { min: 1, max: 64 },
    },
    Parameter {
        name: "process-min",
        summary: "least process noise, share of the estimate",
        default: "0.01",
        domain: NOISE_SHARE,
    },
    Parameter {
        name: "process-max",
        summary: "most process noise, likewise",
        default: "1",
        domain: NOISE_SHARE,
    },
    Parameter {
        name: "measurement-min",
        summary: "least measurement noise, likewise",
        default: "0.03",
        domain: NOISE_SHARE,
    },
    Parameter {
        name: "measurement-max",
        summary: "most measurement noise, likewise",
        default: "1",
        domain: NOISE_SHARE,
    },
    AGGREGATION_OFF,
    POLICER,
    BURST,
];

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "bbr",
        summary: "BBR v1: paces at the highest delivery rate of 10 rounds",
        source: "Cardwell et al. 2016; Linux tcp_bbr",
        parameters: &[AGGREGATION, POLICER, BURST],
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            Box::new(Bbr::v1(config, options))
        },
        receiver: None,
    },
    Entry {
        name: "bbr-noagg",
        summary: "BBR v1 without compensation of ACK aggregation",
        source: "Haile et al. 2022 (RBBR) §IV; Linux tcp_bbr before 5.1",
        parameters: &[POLICER, BURST],
        make: |values, config| Box::new(Bbr::v1(config, options(values, false))),
        receiver: None,
    },
    Entry {
        name: "rbbr",
        summary: "BBR that takes its bandwidth from a Kalman filter at the receiver",
        source: "Haile et al. 2022 (RBBR)",
        parameters: RBBR,
        make: |values, config| Box::new(rbbr(config, options(values, false))),
        receiver: Some(rbbr_receiver),
    },
    Entry {
        name: "rtt-gain",
        summary: "BBR whose steady pacing gain follows min_rtt/rtt",
        source: "Xiong 2020 (RTT-gain BBR) §3.2",
        parameters: &[
            Parameter {
                name: "alpha",
                summary: "factor of the steady gain",
                default: "1",
                domain: Domain::Real {
                    min: 0.01,
                    max: 1.0,
                },
            },
            AGGREGATION_OFF,
            POLICER,
            BURST,
        ],
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            Box::new(rtt_gain(config, options, values.real("alpha")))
        },
        receiver: None,
    },
    Entry {
        name: "bbr-acd",
        summary: "BBR that halves its window at losses of congestion and ignores those of the link",
        source: "Mahmud et al. 2020 (BBR-ACD)",
        parameters: &[
            Parameter {
                name: "alpha",
                summary: "RTTs that differ by no more are equal",
                default: "1ms",
                domain: Domain::Span {
                    min: Duration::ZERO,
                    max: Duration::from_secs(10),
                },
            },
            Parameter {
                name: "halve",
                summary: "how often a loss of congestion halves the window: at once (the paper's \
                          text) or at each acknowledgment of a round (its code)",
                default: "every-ack",
                domain: Domain::Choice(&["once", "every-ack"]),
            },
            AGGREGATION,
            POLICER,
            BURST,
        ],
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            let halving = match values.word("halve") {
                "once" => Halving::OncePerRecovery,
                _ => Halving::EveryAckForOneRound,
            };
            let detection = CongestionDetection::new(values.span("alpha"), halving);
            Box::new(bbr_acd(config, options, detection))
        },
        receiver: None,
    },
    Entry {
        name: "bbr-s",
        summary: "BBR that takes its bandwidth from a Tobit Kalman filter at the sender",
        source: "Chiariotti et al. 2021 (BBR-S)",
        parameters: BBR_S,
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            let skip = SkipConfig {
                step: values.span("step"),
                // The registry's ranges fit.
                min_acks: values.whole("acks") as u32,
                adaptation: Adaptation {
                    forgetting: values.real("gamma"),
                    window: values.whole("window") as usize,
                },
                bounds: NoiseBounds {
                    process: (values.real("process-min"), values.real("process-max")),
                    measurement: (
                        values.real("measurement-min"),
                        values.real("measurement-max"),
                    ),
                },
            };
            Box::new(bbr_s(config, options, &skip))
        },
        receiver: None,
    },
    Entry {
        name: "ebcc",
        summary: "BBR whose window follows loss and queue together",
        source: "Han et al. 2022 (eBCC)",
        parameters: &[
            Parameter {
                name: "gamma",
                summary: "packets in the queue from which on it counts as long",
                default: "30",
                domain: Domain::Whole {
                    min: 1,
                    max: 1_000_000,
                },
            },
            Parameter {
                name: "last",
                summary: "the paper's last window: mirrored at the target (Eq. 6) or the one \
                          before the queue grew (its text)",
                default: "mirrored",
                domain: Domain::Choice(&["mirrored", "before-queue"]),
            },
            AGGREGATION_OFF,
            POLICER,
            BURST,
        ],
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            let last = match values.word("last") {
                "before-queue" => LastWindow::BeforeQueue,
                _ => LastWindow::Mirrored,
            };
            Box::new(ebcc(
                config,
                options,
                LossAndQueue::new(values.whole("gamma"), last),
            ))
        },
        receiver: None,
    },
    Entry {
        name: "bbrx",
        summary: "BBR whose estimate is corrected by the RTT",
        source: "Lowtide's law after Chung et al. 2018 (BBRx)",
        parameters: &[
            Parameter {
                name: "beta",
                summary: "gain of the correction",
                default: "0.2",
                domain: Domain::Real { min: 0.0, max: 1.0 },
            },
            Parameter {
                name: "k",
                summary: "rtt/min_rtt at which nothing is corrected",
                default: "1.25",
                domain: Domain::Real {
                    min: 1.0,
                    max: 10.0,
                },
            },
            AGGREGATION,
            POLICER,
            BURST,
        ],
        make: |values, config| {
            let options = options(values, values.flag("aggregation"));
            let estimator = CorrectedMax::new(values.real("beta"), values.real("k"));
            Box::new(bbrx(config, options, estimator))
        },
        receiver: None,
    },
    Entry {
        name: "cubic",
        summary: "CUBIC: the window follows a cubic function of time since the last loss",
        source: "RFC 9438; HyStart++ RFC 9406",
        parameters: &[Parameter {
            name: "hystart",
            summary: "leave slow start when the RTT rises (HyStart++)",
            default: "false",
            domain: Domain::Flag,
        }],
        make: |values, config| Box::new(Cubic::new(config, values.flag("hystart"))),
        receiver: None,
    },
    Entry {
        name: "newreno",
        summary: "NewReno: one packet more a round, half the window at a loss",
        source: "RFC 9002 §7, RFC 5681, RFC 6582",
        parameters: &[],
        make: |_, config| Box::new(NewReno::new(config)),
        receiver: None,
    },
    Entry {
        name: "window",
        summary: "a constant window: the floor that any controller must beat",
        source: "Lowtide",
        parameters: &[Parameter {
            name: "packets",
            summary: "the window, packets",
            default: "20",
            domain: Domain::Whole {
                min: 1,
                max: 100_000_000,
            },
        }],
        make: |values, config| Box::new(ConstantWindow::new(config, values.whole("packets"))),
        receiver: None,
    },
];
