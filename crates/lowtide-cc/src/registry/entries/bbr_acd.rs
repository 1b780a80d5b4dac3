//! BBR-ACD.

use alloc::boxed::Box;

use super::super::Entry;
use super::super::parameter::{Domain, Parameter};
use super::bbr::{AGGREGATION, BURST, POLICER, options};
use crate::bbr_acd::{CongestionDetection, Halving, InflightCap, bbr_acd};
use crate::units::Duration;

pub(super) static BBR_ACD: Entry = Entry {
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
        Parameter {
            name: "cap",
            summary: "how long a loss of congestion caps the window at one BDP: while it is halved \
                      (the paper's Linux module) or until the next phase (its ns-3 module)",
            default: "halving",
            domain: Domain::Choice(&["halving", "next-phase"]),
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
        let cap = match values.word("cap") {
            "next-phase" => InflightCap::NextPhase,
            _ => InflightCap::Halving,
        };
        let detection = CongestionDetection::new(values.span("alpha"), halving, cap);
        Box::new(bbr_acd(config, options, detection))
    },
    receiver: None,
};
