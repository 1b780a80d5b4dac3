//! BBRv3.

use alloc::boxed::Box;

use super::{Bbr3, Options};
use crate::registry::{Entry, Parameter};

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

const OFFLOAD: Parameter = Parameter::whole("offload", Options::DEFAULT.offload_quanta, 1..=16)
    .about("send quanta that may always be in flight: 3 for TCP with offload, 1 for QUIC");

const PROBE_RTT_ENDS_CYCLE: Parameter = Parameter::flag(
    "probe-rtt-ends-cycle",
    Options::DEFAULT.probe_rtt_ends_cycle,
)
.about("ProbeRTT too ages the bandwidth filter; not in the draft");
