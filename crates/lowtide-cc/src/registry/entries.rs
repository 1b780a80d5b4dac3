//! The list of controllers.

use alloc::boxed::Box;

use super::Entry;
use super::parameter::{Domain, Parameter, Values};
use crate::bbr::{Bbr, Options};
use crate::bbr3::{self, Bbr3};
use crate::cubic::Cubic;
use crate::newreno::NewReno;
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

const OFFLOAD: Parameter = Parameter {
    name: "offload",
    summary: "send quanta that may always be in flight: 3 for TCP with offload, 1 for QUIC",
    default: "3",
    domain: Domain::Whole { min: 1, max: 16 },
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
        name: "bbr3",
        summary: "BBRv3: bounds flight and rate by what losses show, probes every 2 to 3 s",
        source: "draft-ietf-ccwg-bbr-06",
        parameters: &[OFFLOAD],
        make: |values, config| {
            let offload_quanta = values.whole("offload");
            Box::new(Bbr3::new(config, bbr3::Options { offload_quanta }))
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
