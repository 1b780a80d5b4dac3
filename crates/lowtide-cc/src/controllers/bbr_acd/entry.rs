//! BBR-ACD.

use alloc::boxed::Box;

use super::{CongestionDetection, Halving, InflightCap, bbr_acd};
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, POLICER, options};
use crate::registry::{Domain, Entry, Parameter, Value};
use crate::units::Duration;

const ONCE: &str = "once";
const EVERY_ACK: &str = "every-ack";

const HALVING: &str = "halving";
const NEXT_PHASE: &str = "next-phase";

const fn halving_word(halving: Halving) -> &'static str {
    match halving {
        Halving::OncePerRecovery => ONCE,
        Halving::EveryAckForOneRound => EVERY_ACK,
    }
}

const fn cap_word(cap: InflightCap) -> &'static str {
    match cap {
        InflightCap::Halving => HALVING,
        InflightCap::NextPhase => NEXT_PHASE,
    }
}

pub(crate) static BBR_ACD: Entry = Entry {
    name: "bbr-acd",
    summary: "BBR that halves its window at losses of congestion and ignores those of the link",
    source: "Mahmud et al. 2020 (BBR-ACD)",
    parameters: &[
        Parameter {
            name: "alpha",
            summary: "RTTs that differ by no more are equal",
            default: Value::Span(CongestionDetection::DEFAULT_TOLERANCE),
            domain: Domain::Span {
                min: Duration::ZERO,
                max: Duration::from_secs(10),
            },
        },
        Parameter {
            name: "halve",
            summary: "how often a loss of congestion halves the window: at once (the paper's \
                      text) or at each acknowledgment of a round (its code)",
            default: Value::Word(halving_word(Halving::DEFAULT)),
            domain: Domain::Choice(&[ONCE, EVERY_ACK]),
        },
        Parameter {
            name: "cap",
            summary: "how long a loss of congestion caps the window at one BDP: while it is halved \
                      (the paper's Linux module) or until the next phase (its ns-3 module)",
            default: Value::Word(cap_word(InflightCap::DEFAULT)),
            domain: Domain::Choice(&[HALVING, NEXT_PHASE]),
        },
        AGGREGATION,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let options = options(values, values.flag("aggregation"));
        let halving = match values.word("halve") {
            ONCE => Halving::OncePerRecovery,
            _ => Halving::EveryAckForOneRound,
        };
        let cap = match values.word("cap") {
            NEXT_PHASE => InflightCap::NextPhase,
            _ => InflightCap::Halving,
        };
        let detection = CongestionDetection::new(values.span("alpha"), halving, cap);
        Box::new(bbr_acd(config, options, detection))
    },
    receiver: None,
};
