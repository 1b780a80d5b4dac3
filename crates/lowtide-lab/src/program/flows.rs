//! The programs of a setting on a real link, measured as the simulator's flows are.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::Probe;
use lowtide_sim::link::LinkError;
use lowtide_sim::probe::{Delivery, Departure, DropCause, Sent};

use super::link_view::LinkView;
use super::sender_log::SenderLog;
use crate::run::{self, Keep, Run};
use crate::setting::Setting;

/// What only a sender knows. `goodput_mbps` is not among them: of what the link delivers all counts as
/// new.
pub const UNKNOWN: [&str; 11] = [
    "retransmitted_share",
    "retransmitted_packets",
    "timeouts",
    "estimate_mbps",
    "transfer_ms.100kb",
    "transfer_ms.3mb",
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
    setting: Setting,
    seed: u64,
    view: LinkView,
    flows: usize,
    end: Time,
    packets: u64,
    /// When each flow's first packet came to the link.
    first: Vec<Option<Time>>,
}

impl Programs {
    /// Watches the run of a seed.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn new(setting: &Setting, seed: u64) -> Result<Self, LinkError> {
        let config = setting.config(seed)?;
        let meters = run::meters(setting, &config, None);
        let mut view = LinkView::new(&config, meters, setting.back.delay);
        let from_link = config.forward.least_delay();
        for (n, flow) in config.flows.iter().enumerate() {
            view.on_flow_start(n, flow.start, Duration::ZERO, from_link);
        }
        Ok(Self {
            setting: setting.clone(),
            seed,
            view,
            flows: config.flows.len(),
            end: Time::ZERO + config.duration,
            packets: 0,
            first: vec![None; config.flows.len()],
        })
    }

    /// Takes what the sender of a flow says itself into the run over time. Its first packet is the first
    /// that the link saw, so that the clocks of programs need not be known.
    pub fn note(&mut self, flow: usize, log: &SenderLog) {
        let Some(first) = self.first.get(flow).copied().flatten() else {
            return;
        };
        let first_ms = first.since(Time::ZERO).as_millis_f64();
        let end_ms = self.end.since(Time::ZERO).as_millis_f64();
        for sample in &log.samples {
            let at_ms = first_ms + sample.at_ms;
            if (0.0..end_ms).contains(&at_ms) {
                let at = Time::ZERO + Duration::from_micros((at_ms * 1e3) as u64);
                let timeline = &mut self.view.timeline;
                timeline.note_sender(flow, at, sample.cwnd, sample.inflight);
            }
        }
    }

    /// What was measured; `completed`: flows that had nothing left to send, and since when.
    #[must_use]
    pub fn finish(mut self, completed: &[(usize, Time)]) -> Run {
        for (flow, at) in completed.iter().filter(|(flow, _)| *flow < self.flows) {
            self.view.on_flow_complete(*flow, *at);
        }
        let (meters, timeline) = (self.view.meters, Some(self.view.timeline));
        let (seed, keep) = (self.seed, Keep::Timeline);
        let run = run::measured(&self.setting, seed, keep, meters, self.packets, timeline);
        Run {
            measured: run.measured.without(&UNKNOWN),
            ..run
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
            let first = &mut self.first[sent.flow];
            *first = first.or(Some(sent.now));
            self.view.on_send(sent);
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        if self.counts(flow, now) {
            self.view.on_drop(flow, now, bytes, cause);
        }
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        if self.counts(exit.flow as usize, exit.at) {
            self.packets += 1;
            self.view.on_bottleneck_exit(exit);
        }
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        if self.counts(delivery.flow, delivery.now) {
            self.view.on_deliver(delivery);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lowtide_sim::Simulation;

    use super::*;
    use crate::contender::Contenders;
    use crate::scenario_file::ScenarioFile;

    const FILE: &str = r#"
        [link]
        rate = "10mbit"
        buffer = "100p"
        [run]
        duration = "6s"
        measure_from = "1s"
        [[flows]]
        controller = "cubic"
        [[flows]]
        controller = "bbr"
        start = "500ms"
        stop = "5s"
        [measures]
        late = { span = { metric = "flows.1.throughput_mbps", from = "3s" } }
        half_s = { reached = { share = 0.5, group = 0 } }
        least = { least = { window = "1s", from = "2s" } }
    "#;

    /// Flows of the simulator, seen by the link alone and beyond the setting's end, have the metrics that the
    /// simulator gives them.
    #[test]
    fn what_the_link_sees_of_flows_is_what_the_simulator_measures() {
        let file = ScenarioFile::parse(Path::new("test.toml"), FILE.to_string()).unwrap();
        let cells = file.cells(&Contenders::default()).unwrap();
        let setting = &cells[0].setting;
        let known = run::run(setting, 1, Keep::Timeline).unwrap().measured;
        let mut config = setting.config(1).unwrap();
        config.duration = config.duration * 2;
        let mut programs = Programs::new(setting, 1).unwrap();
        Simulation::new(config).unwrap().run(&mut programs);
        let log = br#"{"time":7,"name":"quic:packet_sent"}
            {"time":1007,"name":"recovery:metrics_updated","data":{"congestion_window":50000}}"#;
        programs.note(1, &SenderLog::parse(log).unwrap());
        let seen = programs.finish(&[]);
        let measured = &seen.measured;
        for key in "throughput_mbps utilisation queue_delay_ms.p95 loss_share".split(' ') {
            assert_eq!(measured.total[key], known.total[key], "{key}");
            assert_eq!(measured.groups[1][key], known.groups[1][key], "{key}");
        }
        assert_eq!(measured.extra, known.extra);
        assert_eq!(measured.extra.len(), 3);
        assert!(measured.total["retransmitted_share"].is_nan());
        let timeline = seen.details.and_then(|d| d.timeline).unwrap();
        let bin = (1.5 / timeline.bin().as_secs_f64()) as usize;
        assert_eq!(timeline.flows()[1].bins[bin].cwnd.get(), Some((50.0, 50.0)));
    }
}
