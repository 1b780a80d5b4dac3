//! eBCC.

use alloc::boxed::Box;

use super::super::Entry;
use super::super::parameter::{Domain, Parameter};
use super::bbr::{AGGREGATION_OFF, BURST, POLICER, options};
use crate::ebcc::{LastWindow, LossAndQueue, LossProbe, Step, ebcc};

pub(super) static EBCC: Entry = Entry {
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
        Parameter {
            name: "step",
            summary: "how often the window moves in ProbeBW: at each acknowledgment or once a round",
            default: "round",
            domain: Domain::Choice(&["ack", "round"]),
        },
        Parameter {
            name: "probe",
            summary: "the window of a ProbeRTT that a loss calls for: one BDP, from which it goes \
                      on, or BBR's 4 packets, after which the window before comes back",
            default: "bdp",
            domain: Domain::Choice(&["bdp", "smallest"]),
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
        let step = match values.word("step") {
            "ack" => Step::EveryAck,
            _ => Step::EveryRound,
        };
        let probe = match values.word("probe") {
            "smallest" => LossProbe::Smallest,
            _ => LossProbe::OneBdp,
        };
        Box::new(ebcc(
            config,
            options,
            LossAndQueue::new(values.whole("gamma"), last, step, probe),
        ))
    },
    receiver: None,
};
