//! The programs of a setting on a real link, measured as the simulator's flows are.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::Probe;
use lowtide_sim::link::LinkError;
use lowtide_sim::probe::{Delivery, Departure, DropCause, Sent};

use super::watch::{Watch, without};
use crate::measure::Measures;
use crate::metrics::{Measured, Meter};
use crate::run::{Details, Run};
use crate::setting::Setting;

/// What only a sender knows. `goodput_mbps` is not among them: of what the link delivers all counts as
/// new.
pub const UNKNOWN: [&str; 9] = [
    "retransmitted_share",
    "retransmitted_packets",
    "timeouts",
    "estimate_mbps",
    "frame_delay_ms.mean",
    "frame_delay_ms.p50",
    "frame_delay_ms.p95",
    "frame_delay_ms.p99",
    "frame_delay_ms.max",
];

/// Measures the flows of a setting while programs send them over a real link: flows by their numbers
/// there, from the link's beginning until the setting's duration is over.
#[derive(Debug)]
pub struct Programs {
    seed: u64,
    watch: Watch,
    flows: usize,
    end: Time,
    packets: u64,
}

impl Programs {
    /// Watches the run of a seed.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn new(setting: &Setting, seed: u64) -> Result<Self, LinkError> {
        let config = setting.config(seed)?;
        let meter = Meter::new(&config)
            .of_groups(setting.group_of_flows())
            .measuring_from(setting.measure_from);
        let measures = Measures::new(setting, &config, None);
        let mut watch = Watch::new(&config, meter, measures, setting.way_back());
        let from_link = config.forward.least_delay();
        for (n, flow) in config.flows.iter().enumerate() {
            watch.on_flow_start(n, flow.start, Duration::ZERO, from_link);
        }
        Ok(Self {
            seed,
            watch,
            flows: config.flows.len(),
            end: Time::ZERO + config.duration,
            packets: 0,
        })
    }

    /// What was measured; `completed`: flows that had nothing left to send, and since when.
    #[must_use]
    pub fn finish(mut self, completed: &[(usize, Time)]) -> Run {
        for (flow, at) in completed.iter().filter(|(flow, _)| *flow < self.flows) {
            self.watch.on_flow_complete(*flow, *at);
        }
        let Watch {
            mut meter,
            measures,
            timeline,
            ..
        } = self.watch;
        let measured = meter.finish();
        let known = |all: Vec<_>| all.into_iter().map(|m| without(m, &UNKNOWN)).collect();
        Run {
            seed: self.seed,
            measured: Measured {
                total: without(measured.total, &UNKNOWN),
                groups: known(measured.groups),
                flows: known(measured.flows),
                extra: measures.finish(),
            },
            details: Some(Details {
                packets: self.packets,
                rtt: meter.rtt(),
                queueing: meter.queueing(),
                timeline: Some(timeline),
            }),
        }
    }

    /// Whether it is a flow's, and in time.
    fn counts(&self, flow: usize, now: Time) -> bool {
        flow < self.flows && now < self.end
    }
}

/// Flows are announced by the setting, not by the link.
impl Probe for Programs {
    fn on_send(&mut self, sent: &Sent) {
        if self.counts(sent.flow, sent.now) {
            self.watch.on_send(sent);
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        if self.counts(flow, now) {
            self.watch.on_drop(flow, now, bytes, cause);
        }
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        if self.counts(exit.flow as usize, exit.at) {
            self.packets += 1;
            self.watch.on_bottleneck_exit(exit);
        }
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        if self.counts(delivery.flow, delivery.now) {
            self.watch.on_deliver(delivery);
        }
    }
}
