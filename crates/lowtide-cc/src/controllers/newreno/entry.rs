//! NewReno.

use alloc::boxed::Box;

use super::NewReno;
use crate::registry::Entry;

pub(crate) static NEWRENO: Entry = Entry {
    name: "newreno",
    summary: "NewReno: one packet more a round, half the window at a loss",
    source: "RFC 9002 §7, RFC 5681, RFC 6582",
    parameters: &[],
    make: |_, config| Box::new(NewReno::new(config)),
    receiver: None,
};
