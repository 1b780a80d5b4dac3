//! What an emulation says of itself at its end.

use std::collections::BTreeMap;

use lowtide_cc::ecn::EcnCounts;
use lowtide_cc::units::Duration;
use serde::Serialize;

use crate::distribution::{Distribution, Percentiles};

/// A packet later than this counts as late.
const LATE: Duration = Duration::from_millis(1);
/// More late packets than this, and the emulation was not faithful.
const MAX_LATE: f64 = 0.01;

/// What is counted of a direction while it runs.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) summary: DirectionSummary,
    pub(crate) queue_delay: Distribution,
    pub(crate) delay: Distribution,
    pub(crate) release_error: Distribution,
}

/// What became of packets outside of a direction's thread.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// Dropped by the kernel because they were not read in time.
    pub(crate) missed: u64,
    /// Rejected after they were sent on, by the name of the error.
    pub(crate) rejected: BTreeMap<String, u64>,
}

/// The core does without serde.
#[derive(Serialize)]
#[serde(remote = "EcnCounts")]
struct EcnCountsInJson {
    ect0: u64,
    ect1: u64,
    ce: u64,
}

/// One direction. Sizes are those of IP packets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DirectionSummary {
    /// Packets that came to the link.
    pub offered_packets: u64,
    /// Bytes that came to the link.
    pub offered_bytes: u64,
    /// Packets that were sent on.
    pub delivered_packets: u64,
    /// Bytes that were sent on.
    pub delivered_bytes: u64,
    /// Delivered bytes over the whole time, Mbit/s.
    pub throughput_mbps: f64,
    /// What came, by its ECN bits.
    #[serde(with = "EcnCountsInJson")]
    pub offered_ecn: EcnCounts,
    /// What was sent on, by its ECN bits.
    #[serde(with = "EcnCountsInJson")]
    pub delivered_ecn: EcnCounts,
    /// Packets that came without CE and were sent on with it.
    pub marked_packets: u64,
    /// The emulated queue was full, or a policer in front of it had no tokens.
    pub dropped_queue_packets: u64,
    /// Dropped by the queue's management to keep it short.
    pub dropped_managed_packets: u64,
    /// Lost behind the link, by the emulated loss.
    pub lost_packets: u64,
    /// Not of the model: more waited than memory was allowed for.
    pub dropped_memory_packets: u64,
    /// Not of the model: the emulator was too slow to read them.
    pub missed_packets: u64,
    /// Not of the model: the system did not take them.
    pub refused_packets: u64,
    /// Sent on by the relay, and rejected further on: too large for a hop, nobody listens, forbidden.
    /// By the name of the system's error.
    pub rejected_packets: BTreeMap<String, u64>,
    /// Time in queue and on the link.
    pub queue_delay_ms: Option<Percentiles>,
    /// From the packet's arrival until it was sent on: queue, link, delay, and lateness.
    pub delay_ms: Option<Percentiles>,
    /// How late packets were sent on, against the model.
    pub release_error_ms: Option<Percentiles>,
    /// Share of packets that were sent on more than 1 ms late.
    pub late_share: f64,
    /// Processor time of this direction's thread, seconds.
    pub cpu_s: f64,
    /// Whether the thread ran with real-time priority.
    pub real_time_priority: bool,
}

impl DirectionSummary {
    pub(crate) fn finish(counts: Counts, unseen: Unseen, duration: Duration) -> Self {
        let seconds = duration.as_secs_f64().max(1e-9);
        Self {
            throughput_mbps: counts.summary.delivered_bytes as f64 * 8e-6 / seconds,
            missed_packets: unseen.missed,
            rejected_packets: unseen.rejected,
            queue_delay_ms: counts.queue_delay.percentiles(),
            delay_ms: counts.delay.percentiles(),
            release_error_ms: counts.release_error.percentiles(),
            late_share: counts.release_error.share_above(LATE),
            ..counts.summary
        }
    }

    fn complaints(&self, way: &str, complaints: &mut Vec<String>) {
        if self.late_share > MAX_LATE {
            complaints.push(format!(
                "{way}: {:.1} % of the packets were sent on more than 1 ms late (p99 {:.2} ms)",
                self.late_share * 100.0,
                self.release_error_ms.map_or(0.0, |p| p.p99)
            ));
        }
        for (count, what) in [
            (
                self.missed_packets,
                "packets were dropped before they could be read",
            ),
            (
                self.dropped_memory_packets,
                "packets were dropped because 256 MB of them waited; set --buffer",
            ),
            (
                self.refused_packets,
                "packets were not taken by the system when they were to be sent on",
            ),
        ] {
            if count > 0 {
                complaints.push(format!("{way}: {count} {what}"));
            }
        }
    }
}

/// Both directions.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How long the link existed, seconds.
    pub duration_s: f64,
    /// Towards the near end.
    pub down: DirectionSummary,
    /// Towards the far end.
    pub up: DirectionSummary,
    /// Whether the link was what it should be; `complaints` says what was not.
    pub faithful: bool,
    /// Where the machine did not keep up.
    pub complaints: Vec<String>,
}

impl Summary {
    pub(crate) fn new(duration: Duration, down: DirectionSummary, up: DirectionSummary) -> Self {
        let mut complaints = Vec::new();
        down.complaints("down", &mut complaints);
        up.complaints("up", &mut complaints);
        Self {
            duration_s: duration.as_secs_f64(),
            down,
            up,
            faithful: complaints.is_empty(),
            complaints,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_failed_at_is_said_and_what_the_model_did_is_not() {
        type Change = fn(&mut DirectionSummary);
        let finish = |late: u64, change: Change| {
            let mut counts = Counts::default();
            for n in 0..100 {
                let us = if n < late { 2_000 } else { 20 };
                counts.release_error.record(Duration::from_micros(us));
            }
            change(&mut counts.summary);
            let unseen = Unseen {
                missed: counts.summary.missed_packets,
                rejected: BTreeMap::from([("EMSGSIZE".to_string(), 7)]),
            };
            let down = DirectionSummary::finish(counts, unseen, Duration::from_secs(1));
            Summary::new(Duration::from_secs(1), down, DirectionSummary::default())
        };
        let modelled = finish(1, |s| {
            s.dropped_queue_packets = 10;
            s.lost_packets = 10;
            s.delivered_bytes = 125_000;
        });
        assert!(modelled.faithful, "{:?}", modelled.complaints);
        assert!((modelled.down.throughput_mbps - 1.0).abs() < 1e-9);
        let changes: [(u64, Change); 4] = [
            (2, |_| ()),
            (0, |s| s.missed_packets = 1),
            (0, |s| s.dropped_memory_packets = 1),
            (0, |s| s.refused_packets = 1),
        ];
        for (late, change) in changes {
            let summary = finish(late, change);
            assert!(!summary.faithful && summary.complaints.len() == 1);
            assert!(summary.complaints[0].starts_with("down: "));
        }
    }
}
