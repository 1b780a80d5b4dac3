//! A metric in a part of the run.

use lowtide_cc::units::Time;
use lowtide_sim::{Probe, SimConfig};

use super::{Gauge, Part};
use crate::metrics::Meter;
use crate::setting::Setting;
use crate::setting::measures::Span;

/// The metric that is wanted of a meter.
#[derive(Debug)]
pub(super) struct Wanted(String);

impl Probe for Wanted {}

/// A meter of the part.
pub(super) fn gauge(
    span: &Span,
    part: Part,
    setting: &Setting,
    config: &SimConfig,
) -> (Meter, Wanted) {
    let config = SimConfig {
        duration: part.to.since(Time::ZERO),
        ..config.clone()
    };
    let meter = Meter::new(&config)
        .of_groups(setting.group_of_flows())
        .measuring_from(part.from)
        .measuring_until(part.to);
    (meter, Wanted(span.metric.clone()))
}

impl Gauge for (Meter, Wanted) {
    fn finish(self: Box<Self>) -> f64 {
        let (mut meter, Wanted(metric)) = *self;
        meter.finish().get(&metric).unwrap_or(f64::NAN)
    }
}
