//! eBCC.

use alloc::boxed::Box;

use super::{LastWindow, LossAndQueue, LossProbe};
use crate::controllers::bbr::entry::{AGGREGATION_OFF, BURST, ECN, POLICER, options};
use crate::controllers::bbr::{Bbr, MaxBandwidth};
use crate::registry::{Entry, Parameter};

const MIRRORED: &str = "mirrored";
const BEFORE_QUEUE: &str = "before-queue";

const BDP: &str = "bdp";
const SMALLEST: &str = "smallest";

pub(crate) static EBCC: Entry = Entry {
    name: "ebcc",
    summary: "BBR whose window follows loss and queue together",
    source: "Han et al. 2022 (eBCC)",
    parameters: &[
        Parameter::whole("gamma", LossAndQueue::DEFAULT_QUEUE_PACKETS, 1..=1_000_000)
            .about("packets in the queue from which on it counts as long"),
        Parameter::choice("last", MIRRORED, &[MIRRORED, BEFORE_QUEUE]).about(
            "the paper's last window: mirrored at the target (Eq. 6) or the one \
             before the queue grew (its text)",
        ),
        // With one BDP Eq. 8 acts: 4 packets cannot be halved, and a window that comes back loses again at once.
        Parameter::choice("probe", BDP, &[BDP, SMALLEST]).about(
            "the window of a ProbeRTT that a loss calls for: one BDP, from which it goes \
             on, or BBR's 4 packets, after which the window before comes back",
        ),
        AGGREGATION_OFF,
        POLICER,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let last = match values.word("last") {
            BEFORE_QUEUE => LastWindow::BeforeQueue,
            _ => LastWindow::Mirrored,
        };
        let probe = match values.word("probe") {
            SMALLEST => LossProbe::Smallest,
            _ => LossProbe::OneBdp,
        };
        let rule = LossAndQueue::new(values.whole("gamma"), last, probe);
        let estimator = MaxBandwidth::default();
        Box::new(Bbr::new(config, options(values), estimator, rule))
    },
    receiver: None,
};
