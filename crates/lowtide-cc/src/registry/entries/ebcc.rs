//! eBCC.

use alloc::boxed::Box;

use super::super::Entry;
use super::super::parameter::{Domain, Parameter};
use super::bbr::{AGGREGATION_OFF, BURST, POLICER, options};
use crate::ebcc::{LastWindow, LossAndQueue, ebcc};

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
};
