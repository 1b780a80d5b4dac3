//! The list of controllers.

use alloc::boxed::Box;

use super::Entry;
use super::parameter::{Domain, Parameter, Values};
use crate::bbr::{Bbr, Options};
use crate::compound::{Compound, Gamma};
use crate::copa::{self, Copa};
use crate::cubic::Cubic;
use crate::newreno::NewReno;
use crate::vegas::{Thresholds, Vegas};
use crate::window::ConstantWindow;

const AGGREGATION: Parameter = Parameter {
    name: "aggregation",
    summary: "compensate aggregated acknowledgments by a larger window",
    default: "true",
    domain: Domain::Flag,
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

const QUEUED_PACKETS: Domain = Domain::Whole {
    min: 0,
    max: 1_000_000,
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
    },
    Entry {
        name: "bbr-noagg",
        summary: "BBR v1 without compensation of ACK aggregation",
        source: "Haile et al. 2022 (RBBR) §IV; Linux tcp_bbr before 5.1",
        parameters: &[POLICER, BURST],
        make: |values, config| Box::new(Bbr::v1(config, options(values, false))),
    },
    Entry {
        name: "copa",
        summary: "Copa: steers towards the rate 1/(delta x queueing delay)",
        source: "Arun and Balakrishnan, NSDI 2018",
        parameters: &[
            Parameter {
                name: "delta",
                summary: "price of delay, 1/packets; 1.25/delta packets are queued on average",
                default: "0.5",
                domain: Domain::Real {
                    min: 0.004,
                    max: 10.0,
                },
            },
            Parameter {
                name: "mode",
                summary: "switching: competes with flows that fill the buffer; default: never",
                default: "switching",
                domain: Domain::Choice(&["default", "switching"]),
            },
        ],
        make: |values, config| {
            let options = copa::Options {
                delta: values.real("delta"),
                mode_switching: values.word("mode") == "switching",
            };
            Box::new(Copa::new(config, options))
        },
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
    },
    Entry {
        name: "newreno",
        summary: "NewReno: one packet more a round, half the window at a loss",
        source: "RFC 9002 §7, RFC 5681, RFC 6582",
        parameters: &[],
        make: |_, config| Box::new(NewReno::new(config)),
    },
    Entry {
        name: "vegas",
        summary: "Vegas: keeps two to four packets queued",
        source: "Brakmo and Peterson 1995; Linux tcp_vegas",
        parameters: &[
            Parameter {
                name: "alpha",
                summary: "with fewer packets queued the window grows",
                default: "2",
                domain: QUEUED_PACKETS,
            },
            Parameter {
                name: "beta",
                summary: "with more packets queued the window shrinks; at least alpha",
                default: "4",
                domain: QUEUED_PACKETS,
            },
            Parameter {
                name: "gamma",
                summary: "with more packets queued slow start ends",
                default: "1",
                domain: QUEUED_PACKETS,
            },
        ],
        make: |values, config| {
            let thresholds = Thresholds {
                alpha: values.whole("alpha"),
                beta: values.whole("beta"),
                gamma: values.whole("gamma"),
            };
            Box::new(Vegas::new(config, thresholds))
        },
    },
    Entry {
        name: "compound",
        summary: "Compound TCP: Reno's window and one that follows the queueing delay",
        source: "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02",
        parameters: &[
            Parameter {
                name: "gamma",
                summary: "with so many packets queued the delay window shrinks",
                default: "30",
                domain: QUEUED_PACKETS,
            },
            Parameter {
                name: "tuning",
                summary: "tune gamma at each loss, between 5 and 30 packets",
                default: "false",
                domain: Domain::Flag,
            },
        ],
        make: |values, config| {
            let gamma = Gamma::new(values.whole("gamma"), values.flag("tuning"));
            Box::new(Compound::new(config, gamma))
        },
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
    },
];
