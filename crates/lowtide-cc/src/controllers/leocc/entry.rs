//! LeoCC.

use alloc::boxed::Box;

use super::{Cruise, Reconfigurations, Satellite};
use crate::controllers::bbr::entry::{AGGREGATION, BURST, ECN, options};
use crate::controllers::bbr::{Bbr, MaxBandwidth};
use crate::registry::{Entry, Parameter, UP_TO_10_S};
use crate::units::Duration;

pub(crate) static LEOCC: Entry = Entry {
    name: "leocc",
    summary: "BBR that begins anew at the times when satellites are reassigned",
    source: "LeoCC, SIGCOMM 2025; SpaceNetLab/LeoCC",
    parameters: &[
        Parameter::span(
            "period",
            Reconfigurations::DEFAULT_PERIOD,
            Duration::ZERO..=Duration::from_secs(3600),
        )
        .about("time from reconfiguration to reconfiguration; 0s: none"),
        Parameter::span(
            "offset",
            Reconfigurations::DEFAULT_OFFSET,
            Duration::ZERO..=Duration::from_secs(3600),
        )
        .about("time from the flow's start to the first of them"),
        Parameter::span("fluctuation", Cruise::DEFAULT_FLUCTUATION, UP_TO_10_S)
            .about("how far above the minimum the filtered RTT shows a queue"),
        AGGREGATION,
        BURST,
        ECN,
    ],
    make: |values, config| {
        let (offset, period) = (values.span("offset"), values.span("period"));
        let policy = Satellite::new(
            Reconfigurations::new(config.now, offset, period),
            Cruise::new(values.span("fluctuation")),
        );
        let estimator = MaxBandwidth::default();
        Box::new(Bbr::new(config, options(values), estimator, policy))
    },
    receiver: None,
};
