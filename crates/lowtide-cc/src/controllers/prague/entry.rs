//! Prague.

use alloc::boxed::Box;

use super::Prague;
use crate::registry::{Entry, Parameter};

pub(crate) static PRAGUE: Entry = Entry {
    name: "prague",
    summary: "Prague: the window follows the share of packets that L4S queues mark",
    source: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9330, RFC 9331",
    parameters: &[Parameter::flag("fallback", false)
        .about("answer marks of queues that are not L4S as Reno answers them")],
    make: |values, config| Box::new(Prague::new(config, values.flag("fallback"))),
    receiver: None,
};
