//! A metric in a part of the run.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, Sent};
use lowtide_sim::{Probe, SimConfig};

use super::{Extent, Part, Watch};
use crate::metrics::Meter;
use crate::setting::Setting;
use crate::setting::measures::Span;

#[derive(Debug)]
pub(super) struct Watcher {
    metric: String,
    to: Time,
    meter: Meter,
}

impl Watcher {
    pub(super) fn new(span: &Span, setting: &Setting, config: &SimConfig, extent: Extent) -> Self {
        let part = Part::of(span.from, span.to, extent);
        let config = SimConfig {
            duration: part.to.since(Time::ZERO),
            ..config.clone()
        };
        let meter = Meter::new(&config)
            .of_groups(setting.group_of_flows())
            .measuring_from(part.from);
        Self {
            metric: span.metric.clone(),
            to: part.to,
            meter,
        }
    }
}

impl Watch for Watcher {
    fn finish(mut self: Box<Self>) -> f64 {
        let measured = self.meter.finish();
        measured.get(&self.metric).unwrap_or(f64::NAN)
    }
}

impl Probe for Watcher {
    fn on_flow_start(&mut self, flow: usize, start: Time, to_link: Duration, from_link: Duration) {
        self.meter.on_flow_start(flow, start, to_link, from_link);
    }

    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if sent.now < self.to {
            self.meter.on_send(sent);
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        if now < self.to {
            self.meter.on_drop(flow, now, bytes, cause);
        }
    }

    #[inline]
    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        if exit.at < self.to {
            self.meter.on_bottleneck_exit(exit);
        }
    }

    #[inline]
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        if delivery.now < self.to {
            self.meter.on_deliver(delivery);
        }
    }

    fn on_frame(&mut self, flow: usize, written_at: Time, now: Time) {
        if now < self.to {
            self.meter.on_frame(flow, written_at, now);
        }
    }

    #[inline]
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if ack.now < self.to {
            self.meter.on_ack(flow, ack);
        }
    }

    fn on_timeout(&mut self, flow: usize, now: Time) {
        if now < self.to {
            self.meter.on_timeout(flow, now);
        }
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        if now < self.to {
            self.meter.on_flow_complete(flow, now);
        }
    }
}
