//! NewReno.

use alloc::boxed::Box;

use super::NewReno;
use crate::registry::{Domain, Entry, Parameter, Value, Values};

/// Off by default, as in Linux: RFC 8511 is an experiment.
pub(crate) const ABE: Parameter = Parameter {
    name: "abe",
    summary: "reduce the window by less at a mark than at a loss (RFC 8511)",
    default: Value::Flag(false),
    domain: Domain::Flag,
};

const ROUND: &str = "round";
const EACH_LOSS: &str = "each-loss";
const BYTES: &str = "bytes";
const ACKS: &str = "acks";

/// How often losses reduce the window.
pub(crate) const REDUCE: Parameter = Parameter {
    name: "reduce",
    summary: "reduce the window at losses once a round trip, or at each loss event as in ns-3's \
              QUIC module",
    default: Value::Word(ROUND),
    domain: Domain::Choice(&[ROUND, EACH_LOSS]),
};

/// Whether the parameters ask for a reduction at each loss event.
pub(crate) fn reduces_at_each_loss(values: &Values) -> bool {
    values.word("reduce") == EACH_LOSS
}

const GROW: Parameter = Parameter {
    name: "grow",
    summary: "grow by bytes acknowledged, or by a packet's share for each acknowledgment as in \
              ns-3 (RFC 5681 Eq. 2 and 3)",
    default: Value::Word(BYTES),
    domain: Domain::Choice(&[BYTES, ACKS]),
};

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
