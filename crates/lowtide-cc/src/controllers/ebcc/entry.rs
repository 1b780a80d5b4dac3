//! eBCC.

use alloc::boxed::Box;

use super::{LastWindow, LossAndQueue, LossProbe, ebcc};
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, ECN, POLICER, options};
use crate::registry::{Domain, Entry, Parameter, Value};

const MIRRORED: &str = "mirrored";
const BEFORE_QUEUE: &str = "before-queue";

const fn last_word(last: LastWindow) -> &'static str {
    match last {
        LastWindow::Mirrored => MIRRORED,
        LastWindow::BeforeQueue => BEFORE_QUEUE,
    }
}

const BDP: &str = "bdp";
const SMALLEST: &str = "smallest";

const fn probe_word(probe: LossProbe) -> &'static str {
    match probe {
        LossProbe::OneBdp => BDP,
        LossProbe::Smallest => SMALLEST,
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
            default: Value::Word(last_word(LastWindow::DEFAULT)),
            domain: Domain::Choice(&[MIRRORED, BEFORE_QUEUE]),
        },
        Parameter {
            name: "probe",
            summary: "the window of a ProbeRTT that a loss calls for: one BDP, from which it goes \
                      on, or BBR's 4 packets, after which the window before comes back",
            default: Value::Word(probe_word(LossProbe::DEFAULT)),
            domain: Domain::Choice(&[BDP, SMALLEST]),
        },
        AGGREGATION_OFF,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let options = options(values, values.flag("aggregation"));
        let last = match values.word("last") {
            BEFORE_QUEUE => LastWindow::BeforeQueue,
            _ => LastWindow::Mirrored,
        };
        let probe = match values.word("probe") {
            SMALLEST => LossProbe::Smallest,
            _ => LossProbe::OneBdp,
        };
        Box::new(ebcc(
            config,
            options,
            LossAndQueue::new(values.whole("gamma"), last, probe),
        ))
    },
    receiver: None,
};
