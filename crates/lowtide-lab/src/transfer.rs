//! Transfers over a real network as the lab shows simulated ones.
//!
//! A sender writes down [`Sample`]s of what it sees; they are replayed to what watches simulations.
//! What only a simulator knows is missing: capacity, queues, what was dropped where. Data counts as
//! delivered when its acknowledgment arrives, and as lost when its sender says so; the queueing
//! delay is the RTT beyond its minimum.

use std::sync::{Arc, LazyLock};

use lowtide_cc::controller::{AckedPacket, LostPacket, Snapshot};
use lowtide_cc::state::State;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::{Mirror, StockState};
use lowtide_sim::Probe;
use lowtide_sim::link::{Link, LinkError};
use lowtide_sim::probe::{AckSeen, Delivery, DropCause, ExtensionSeen, LossSeen, Sent};
use serde::{Deserialize, Serialize};

use crate::compare::{Comparison, Entry, Role};
use crate::contender::Contenders;
use crate::run::{self, Keep};
use crate::setting::{LinkSource, Seeds, Setting};
use crate::timeline::Timeline;

/// What a sender saw since the last sample, and its state now. Times are microseconds, volumes bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Since the connection's first packet.
    pub at_us: u64,
    /// Packets that left.
    pub sent_packets: u64,
    /// Their size.
    pub sent_bytes: u64,
    /// Data acknowledged.
    pub acked_bytes: u64,
    /// Packets declared lost.
    pub lost_packets: u32,
    /// Their size.
    pub lost_bytes: u64,
    /// RTT samples, their extremes and their sum.
    pub rtts: u32,
    /// The smallest.
    pub least_rtt_us: u64,
    /// The largest.
    pub largest_rtt_us: u64,
    /// The sum of all.
    pub rtt_sum_us: u64,
    /// Smoothed RTT.
    pub smoothed_rtt_us: u64,
    /// In flight.
    pub inflight: u64,
    /// The window.
    pub cwnd: u64,
    /// Pacing rate, bytes a second.
    pub pacing: Option<u64>,
    /// Bandwidth estimate, bytes a second.
    pub bandwidth: Option<u64>,
    /// Pacing gain.
    pub gain: Option<f64>,
    /// The controller's own minimum of the RTT.
    pub min_rtt_us: Option<u64>,
    /// The controller's phase.
    pub phase: String,
}

/// One connection of a transfer.
#[derive(Clone, Debug, Default)]
pub struct SampledFlow {
    /// In the order of their times.
    pub samples: Vec<Sample>,
}

/// What nobody knows of a transfer.
const UNKNOWN: [&str; 3] = [
    "utilisation",
    "self_inflicted_ms.p95",
    "retransmitted_share",
];

/// The phases of all controllers. Others show as one: a peer may send any, and names are never freed.
static PHASES: LazyLock<Vec<State>> = LazyLock::new(|| Contenders::default().phases());

fn phase(name: &str) -> &'static str {
    let known = PHASES.iter().find(|known| known.name == name);
    match known {
        Some(state) => state.name,
        None if name.is_empty() => "",
        None => "other",
    }
}

impl Sample {
    /// The sender's state, as observers see it.
    fn shown(&self) -> StockState {
        StockState {
            cwnd: Bytes::new(self.cwnd),
            pacing_rate: self.pacing.map(Rate::from_bytes_per_sec),
            snapshot: Snapshot {
                phase: phase(&self.phase),
                bandwidth: self.bandwidth.map(Rate::from_bytes_per_sec),
                min_rtt: self.min_rtt_us.map(Duration::from_micros),
                pacing_gain: self.gain,
                ..Snapshot::default()
            },
            phases: &PHASES,
            ..StockState::default()
        }
    }
}

/// More samples of the RTT or lost packets than there can be in one sample are not replayed.
const MAX_OF_A_SAMPLE: u32 = 100_000;

impl SampledFlow {
    fn least_rtt_us(&self) -> u64 {
        let seen = self.samples.iter().filter(|s| s.rtts > 0);
        seen.map(|s| s.least_rtt_us).min().unwrap_or(0)
    }

    /// Tells a probe what happened, as flow number `flow`.
    pub fn replay(&self, flow: usize, probe: &mut impl Probe) {
        let least = self.least_rtt_us();
        let mirror = Mirror::default();
        let mut number = 0;
        for sample in &self.samples {
            let now = Time::ZERO + Duration::from_micros(sample.at_us);
            let mean = sample.rtt_sum_us.checked_div(u64::from(sample.rtts));
            if sample.sent_bytes > 0 {
                number += sample.sent_packets;
                probe.on_send(&Sent {
                    flow,
                    now,
                    number: number.saturating_sub(1),
                    bytes: Bytes::new(sample.sent_bytes),
                    retransmission: false,
                });
            }
            if sample.lost_packets > 0 {
                let packets: Vec<LostPacket> = (0..sample.lost_packets.min(MAX_OF_A_SAMPLE))
                    .map(|_| lost_packet(now))
                    .collect();
                let bytes = Bytes::new(sample.lost_bytes);
                probe.on_drop(flow, now, bytes, DropCause::LinkLoss);
                let loss = LossSeen {
                    now,
                    packets: &packets,
                    bytes,
                    inflight: Bytes::new(sample.inflight),
                };
                probe.on_loss(flow, &loss);
            }
            if sample.acked_bytes > 0 {
                let queueing = mean.unwrap_or(least).saturating_sub(least);
                probe.on_deliver(&Delivery {
                    detour: Duration::ZERO,
                    flow,
                    now,
                    sent_at: now - Duration::from_micros(queueing),
                    bytes: Bytes::new(sample.acked_bytes),
                    first_copy: true,
                    estimator: None,
                });
            }
            mirror.update(|shown| *shown = sample.shown());
            let acked = [AckedPacket {
                number: number.saturating_sub(1),
                bytes: Bytes::new(sample.acked_bytes),
                sent_at: now,
                received_at: None,
            }];
            let count = sample.rtts.min(MAX_OF_A_SAMPLE);
            for index in 0..count.max(1) {
                let rtt = match index {
                    _ if count == 0 => None,
                    0 => Some(sample.least_rtt_us),
                    1 => Some(sample.largest_rtt_us),
                    _ => mean,
                };
                let ack = AckSeen {
                    now,
                    packets: &acked[..usize::from(index == 0)],
                    rtt: rtt.map(Duration::from_micros),
                    smoothed_rtt: Duration::from_micros(sample.smoothed_rtt_us),
                    inflight: Bytes::new(sample.inflight),
                    extension: ExtensionSeen::default(),
                    controller: Some(&mirror),
                };
                probe.on_ack(flow, &ack);
            }
        }
    }
}

/// A lost packet of which no more is known than that it was one.
fn lost_packet(now: Time) -> LostPacket {
    LostPacket {
        number: 0,
        bytes: Bytes::ZERO,
        sent_at: now,
        sent_inflight: Bytes::ZERO,
        lost: Bytes::ZERO,
        app_limited: false,
    }
}

/// A transfer as a comparison of one, for a report. `title` names the network and `controller` who sent; `flows` are its connections.
///
/// # Errors
/// Never: no link of a transfer is wrong.
pub fn comparison(
    title: &str,
    controller: &str,
    flows: &[SampledFlow],
    duration: Duration,
) -> Result<(Setting, Comparison), LinkError> {
    let least = flows.iter().map(SampledFlow::least_rtt_us).min();
    let none = LinkSource::Fixed(Arc::new(Link::unlimited()));
    let setting = Setting {
        duration: duration.max(Duration::from_millis(1)),
        seeds: Seeds { first: 0, count: 1 },
        ..Setting::on_link(title, none)
    };
    let rtt = Duration::from_micros(least.unwrap_or(0));
    let setting = setting.with_rtt(rtt).with_flows(flows.len().max(1));
    let config = setting.config(setting.seeds.first)?;
    let mut probe = (run::meters(&setting, &config, None), Timeline::new(&config));
    for flow in 0..setting.flow_count() {
        probe.on_flow_start(flow, Time::ZERO, Duration::ZERO, Duration::ZERO);
    }
    for (number, flow) in flows.iter().enumerate() {
        flow.replay(number, &mut probe);
    }
    let (meters, timeline) = probe;
    let mut run = run::measured(&setting, 0, Keep::Timeline, meters, 0, Some(timeline));
    run.measured = run.measured.without(&UNKNOWN);
    let comparison = Comparison {
        entries: vec![Entry::of_runs(controller, Role::Contender, vec![run])],
        ..Comparison::default()
    };
    Ok((setting, comparison))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 s of 10 Mbit/s in samples of 20 ms: 25 kB each, RTT 30 to 50 ms; a loss in the last.
    fn sampled() -> SampledFlow {
        let samples = (1..=50_u64).map(|n| Sample {
            at_us: n * 20_000,
            sent_packets: 20,
            sent_bytes: 25_000,
            acked_bytes: 25_000,
            lost_packets: u32::from(n == 50),
            lost_bytes: if n == 50 { 1_250 } else { 0 },
            rtts: 4,
            least_rtt_us: 30_000,
            largest_rtt_us: 50_000,
            rtt_sum_us: 160_000,
            smoothed_rtt_us: 40_000,
            inflight: 50_000,
            cwnd: 100_000,
            pacing: Some(1_250_000),
            bandwidth: Some(1_250_000),
            phase: if n < 10 { "Startup" } else { "ProbeBW" }.to_string(),
            ..Sample::default()
        });
        SampledFlow {
            samples: samples.collect(),
        }
    }

    #[test]
    fn a_recording_has_the_metrics_of_what_was_recorded_and_none_that_nobody_knows() {
        let second = Duration::from_secs(1);
        let flows = [sampled(), sampled()];
        let (setting, comparison) = comparison("here", "bbr", &flows, second).unwrap();
        assert_eq!(setting.base_rtt(), Duration::from_millis(30));
        let entry = &comparison.entries[0];
        assert!((entry.mean["throughput_mbps"] - 20.0).abs() < 1e-9);
        assert!((entry.flows[1]["throughput_mbps"] - 10.0).abs() < 1e-9);
        assert!((entry.mean["rtt_ms.mean"] - 40.0).abs() < 0.5);
        assert!((entry.mean["loss_share"] - 0.001).abs() < 1e-9);
        assert!(entry.mean["utilisation"].is_nan());
        let timeline = entry.timeline.as_ref().unwrap();
        let lost: u32 = timeline.flows()[0].bins.iter().map(|b| b.lost).sum();
        assert_eq!(lost, 1);
        let phases = timeline.flows()[0].phases.changes().len();
        assert_eq!(phases, 2);
    }
}
