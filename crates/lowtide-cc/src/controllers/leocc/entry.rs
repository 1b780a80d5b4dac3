//! LeoCC.

use alloc::boxed::Box;

use super::{Cruise, Reconfigurations, Satellite, leocc};
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, options_without_policer};
use crate::registry::{Domain, Entry, Parameter, Value};
use crate::units::Duration;

pub(crate) static LEOCC: Entry = Entry {
    name: "leocc",
    summary: "BBR that begins anew at the times when satellites are reassigned",
    source: "LeoCC, SIGCOMM 2025; SpaceNetLab/LeoCC",
    parameters: &[
        Parameter {
            name: "period",
            summary: "time from reconfiguration to reconfiguration; 0s: none",
            default: Value::Span(Reconfigurations::DEFAULT_PERIOD),
            domain: Domain::Span {
                min: Duration::ZERO,
                max: Duration::from_secs(3600),
            },
        },
        Parameter {
            name: "offset",
            summary: "time from the flow's start to the first of them",
            default: Value::Span(Reconfigurations::DEFAULT_OFFSET),
            domain: Domain::Span {
                min: Duration::ZERO,
                max: Duration::from_secs(3600),
            },
        },
        Parameter {
            name: "fluctuation",
            summary: "how far above the minimum the filtered RTT shows a queue",
            default: Value::Span(Cruise::DEFAULT_FLUCTUATION),
            domain: Domain::Span {
                min: Duration::ZERO,
                max: Duration::from_secs(10),
            },
        },
        AGGREGATION,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let options = options_without_policer(values, values.flag("aggregation"));
        let (offset, period) = (values.span("offset"), values.span("period"));
        let policy = Satellite::new(
            Reconfigurations::new(config.now, offset, period),
            Cruise::new(values.span("fluctuation")),
        );
        Box::new(leocc(config, options, policy))
    },
    receiver: None,
};
