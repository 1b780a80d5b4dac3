//! BBRv3.

use alloc::boxed::Box;

use super::{Bbr3, Options};
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static BBR3: Entry = Entry {
    name: "bbr3",
    summary: "BBRv3: bounds flight and rate by what losses show, probes every 2 to 3 s",
    source: "draft-ietf-ccwg-bbr-06",
    parameters: &[OFFLOAD, PROBE_RTT_ENDS_CYCLE],
    make: |values, config| {
        let options = Options {
            offload_quanta: values.whole("offload"),
            probe_rtt_ends_cycle: values.flag("probe-rtt-ends-cycle"),
        };
        Box::new(Bbr3::new(config, options))
    },
    receiver: None,
};

const OFFLOAD: Parameter = Parameter {
    name: "offload",
    summary: "send quanta that may always be in flight: 3 for TCP with offload, 1 for QUIC",
    default: Value::Whole(Options::DEFAULT.offload_quanta),
    domain: Domain::Whole { min: 1, max: 16 },
};

const PROBE_RTT_ENDS_CYCLE: Parameter = Parameter {
    name: "probe-rtt-ends-cycle",
    summary: "ProbeRTT too ages the bandwidth filter; not in the draft",
    default: Value::Flag(Options::DEFAULT.probe_rtt_ends_cycle),
    domain: Domain::Flag,
};
