//! NewReno.

use alloc::boxed::Box;

use super::NewReno;
use crate::registry::{Entry, Parameter, Values};

/// Off by default, as in Linux: RFC 8511 is an experiment.
pub(crate) const ABE: Parameter = Parameter::flag("abe", false)
    .about("reduce the window by less at a mark than at a loss (RFC 8511)");

const ROUND: &str = "round";
const EACH_LOSS: &str = "each-loss";
const BYTES: &str = "bytes";
const ACKS: &str = "acks";

/// How often losses reduce the window.
pub(crate) const REDUCE: Parameter = Parameter::choice("reduce", ROUND, &[ROUND, EACH_LOSS]).about(
    "reduce the window at losses once a round trip, or at each loss event as in ns-3's \
     QUIC module",
);

/// Whether the parameters ask for a reduction at each loss event.
pub(crate) fn reduces_at_each_loss(values: &Values) -> bool {
    values.word("reduce") == EACH_LOSS
}

const GROW: Parameter = Parameter::choice("grow", BYTES, &[BYTES, ACKS]).about(
    "grow by bytes acknowledged, or by a packet's share for each acknowledgment as in \
     ns-3 (RFC 5681 Eq. 2 and 3)",
);

pub(crate) static NEWRENO: Entry = Entry {
    name: "newreno",
    summary: "NewReno: one packet more a round, half the window at a loss",
    source: "RFC 9002 §7, RFC 5681, RFC 6582",
    parameters: &[ABE, GROW, REDUCE],
    make: |values, config| {
        let mut newreno = NewReno::new(config);
        if values.flag("abe") {
            newreno = newreno.with_abe();
        }
        if values.word("grow") == ACKS {
            newreno = newreno.counting_acks();
        }
        if reduces_at_each_loss(values) {
            newreno = newreno.with_each_loss();
        }
        Box::new(newreno)
    },
    receiver: None,
};
