//! eBCC.

use alloc::boxed::Box;

use super::{LastWindow, LossAndQueue, ebcc};
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, POLICER, options};
use crate::registry::{Domain, Entry, Parameter, Value};

const MIRRORED: &str = "mirrored";
const BEFORE_QUEUE: &str = "before-queue";

const fn word(last: LastWindow) -> &'static str {
    match last {
        LastWindow::Mirrored => MIRRORED,
        LastWindow::BeforeQueue => BEFORE_QUEUE,
    }
}

pub(crate) static EBCC: Entry = Entry {
    name: "ebcc",
    summary: "BBR whose window follows loss and queue together",
    source: "Han et al. 2022 (eBCC)",
    parameters: &[
        Parameter {
            name: "gamma",
            summary: "packets in the queue from which on it counts as long",
            default: Value::Whole(LossAndQueue::DEFAULT_QUEUE_PACKETS),
            domain: Domain::Whole {
                min: 1,
                max: 1_000_000,
            },
        },
        Parameter {
            name: "last",
            summary: "the paper's last window: mirrored at the target (Eq. 6) or the one \
                      before the queue grew (its text)",
            default: Value::Word(word(LastWindow::DEFAULT)),
            domain: Domain::Choice(&[MIRRORED, BEFORE_QUEUE]),
        },
        AGGREGATION_OFF,
        POLICER,
        BURST,
    ],
    make: |values, config| {
        let options = options(values, values.flag("aggregation"));
        let last = match values.word("last") {
            BEFORE_QUEUE => LastWindow::BeforeQueue,
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
