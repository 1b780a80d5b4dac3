//! BBR-ACD.

use alloc::boxed::Box;

use super::{CongestionDetection, Halving, InflightCap};
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, POLICER, options};
use crate::controllers::bbr::{Bbr, MaxBandwidth};
use crate::registry::{Entry, Parameter, UP_TO_10_S};

const ONCE: &str = "once";
const EVERY_ACK: &str = "every-ack";

const HALVING: &str = "halving";
const NEXT_PHASE: &str = "next-phase";

pub(crate) static BBR_ACD: Entry = Entry {
    name: "bbr-acd",
    summary: "BBR that halves its window at losses of congestion and ignores those of the link",
    source: "Mahmud et al. 2020 (BBR-ACD)",
    parameters: &[
        Parameter::span("alpha", CongestionDetection::DEFAULT_TOLERANCE, UP_TO_10_S)
            .about("RTTs that differ by no more are equal"),
        // The published code made the paper's figures.
        Parameter::choice("halve", EVERY_ACK, &[ONCE, EVERY_ACK]).about(
            "how often a loss of congestion halves the window: at once (the paper's \
             text) or at each acknowledgment of a round (its code)",
        ),
        // The Linux module ran in a network.
        Parameter::choice("cap", HALVING, &[HALVING, NEXT_PHASE]).about(
            "how long a loss of congestion caps the window at one BDP: while it is halved \
             (the paper's Linux module) or until the next phase (its ns-3 module)",
        ),
        AGGREGATION,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let halving = match values.word("halve") {
            ONCE => Halving::OncePerRecovery,
            _ => Halving::EveryAckForOneRound,
        };
        let cap = match values.word("cap") {
            NEXT_PHASE => InflightCap::NextPhase,
            _ => InflightCap::Halving,
        };
        let detection = CongestionDetection::new(values.span("alpha"), halving, cap);
        let estimator = MaxBandwidth::default();
        Box::new(Bbr::new(config, options(values), estimator, detection))
    },
    receiver: None,
};
