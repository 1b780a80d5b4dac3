//! Every metric with its name, its look and its definition, one line each.
//!
//! JSON, CSV, tables, reports, claims, figures and stored results all take them from here, and
//! `docs/metrics.md` is held against it by a test. To add a metric is to add a line.

use lowtide_sim::probe::DropCause;

use super::totals::{Group, Totals};

/// Which values are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger ones.
    More,
    /// The smaller ones.
    Less,
    /// Neither direction is better.
    Neither,
}

/// What a metric is defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Each flow, each group of flows, and all flows together.
    Flows,
    /// A group of flows among the others.
    Group,
    /// A whole run.
    Run,
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The metric's name in JSON, CSV, claims, scenario files and stored results; a dot makes a
    /// JSON object.
    pub key: &'static str,
    /// What the metric is defined for.
    pub of: Of,
    /// Order in which metrics are wanted, the smallest first, where a reader can choose.
    pub rank: u8,
    /// Which values are better.
    pub better: Better,
    /// Factor of the value that people are shown.
    pub factor: f64,
    /// Digits after the point, as shown.
    pub digits: usize,
    /// Heading of a table's column.
    pub head: &'static str,
    /// What the metric is, in words.
    pub label: &'static str,
    /// The unit of what is shown; empty for a number without one.
    pub unit: &'static str,
    pub(super) get: Definition,
}

/// What a metric is worked out from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Definition {
    /// What flows were seen to do. The value of a group is the mean of its flows'.
    Flows(fn(&Totals<'_>) -> f64),
    /// What a group of flows did beside the others.
    Group(fn(&Group) -> f64),
    /// What a whole run was seen to do.
    Run(fn(&Totals<'_>) -> f64),
}

impl Metric {
    /// What the metric is, with its unit.
    #[must_use]
    pub fn title(&self) -> String {
        match self.unit {
            "" => self.label.to_string(),
            unit => format!("{}, {unit}", self.label),
        }
    }

    /// The metric of a key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<&'static Self> {
        CATALOGUE.iter().find(|metric| metric.key == key)
    }
}

macro_rules! catalogue {
    ($($key:literal, $of:ident $rank:literal $better:ident $factor:literal $digits:literal,
       $head:literal, $label:literal $unit:literal, $get:expr;)*) => {
        /// All metrics, in the order of JSON and CSV.
        pub static CATALOGUE: &[Metric] = &[$(Metric {
            key: $key,
            of: Of::$of,
            rank: $rank,
            better: Better::$better,
            factor: $factor,
            digits: $digits,
            head: $head,
            label: $label,
            unit: $unit,
            get: Definition::$of($get),
        }),*];
    };
}

catalogue! {
    // key, of rank better factor digits, head, label unit, definition
    "throughput_mbps", Flows 1 More 1.0 2, "Mbit/s", "throughput" "Mbit/s", |s| s.mbps(s.received);
    "goodput_mbps", Flows 3 More 1.0 2, "goodput", "goodput" "Mbit/s", |s| s.mbps(s.first_copies);
    "utilisation", Flows 2 More 100.0 1, "used %", "used of what the link offered" "%", |s| s.received.as_f64() / s.opportunities.as_f64();
    "rtt_ms.mean", Flows 1 Less 1.0 1, "RTT ms", "mean RTT" "ms", |s| s.rtt.mean;
    "rtt_ms.p50", Flows 5 Less 1.0 1, "p50", "median RTT" "ms", |s| s.rtt.p50;
    "rtt_ms.p95", Flows 1 Less 1.0 1, "p95", "95th percentile of the RTT" "ms", |s| s.rtt.p95;
    "rtt_ms.p99", Flows 1 Less 1.0 1, "p99", "99th percentile of the RTT" "ms", |s| s.rtt.p99;
    "rtt_ms.max", Flows 5 Less 1.0 1, "max", "largest RTT" "ms", |s| s.rtt.max;
    "queue_delay_ms.mean", Flows 4 Less 1.0 1, "queue ms", "mean queueing delay" "ms", |s| s.queue_delay.mean;
    "queue_delay_ms.p50", Flows 5 Less 1.0 1, "queue p50", "median queueing delay" "ms", |s| s.queue_delay.p50;
    "queue_delay_ms.p95", Flows 4 Less 1.0 1, "queue p95", "95th percentile of the queueing delay" "ms", |s| s.queue_delay.p95;
    "queue_delay_ms.p99", Flows 5 Less 1.0 1, "queue p99", "99th percentile of the queueing delay" "ms", |s| s.queue_delay.p99;
    "queue_delay_ms.max", Flows 5 Less 1.0 1, "queue max", "largest queueing delay" "ms", |s| s.queue_delay.max;
    "self_inflicted_ms.p95", Flows 4 Less 1.0 1, "self p95", "95th percentile of the self-inflicted delay" "ms", |s| s.self_inflicted_p95;
    "transfer_ms.100kb", Flows 4 Less 1.0 0, "100 kB ms", "time until a flow's first 100 kB had arrived" "ms", |s| s.transfers_ms[0];
    "transfer_ms.3mb", Flows 4 Less 1.0 0, "3 MB ms", "time until a flow's first 3 MB had arrived" "ms", |s| s.transfers_ms[1];
    "frame_delay_ms.mean", Flows 6 Less 1.0 1, "frame ms", "mean delay of video frames" "ms", |s| s.frame_delay.mean;
    "frame_delay_ms.p50", Flows 6 Less 1.0 1, "frame p50", "median delay of video frames" "ms", |s| s.frame_delay.p50;
    "frame_delay_ms.p95", Flows 1 Less 1.0 1, "frame p95", "95th percentile of the delay of video frames" "ms", |s| s.frame_delay.p95;
    "frame_delay_ms.p99", Flows 6 Less 1.0 1, "frame p99", "99th percentile of the delay of video frames" "ms", |s| s.frame_delay.p99;
    "frame_delay_ms.max", Flows 6 Less 1.0 1, "frame max", "largest delay of video frames" "ms", |s| s.frame_delay.max;
    "loss_share", Flows 4 Less 100.0 2, "lost %", "bytes lost" "%", |s| s.dropped.as_f64() / s.sent.as_f64();
    "marked_share", Flows 4 Neither 100.0 2, "marked %", "packets marked (CE)" "%", |s| s.marked_packets as f64 / s.left_packets as f64;
    "retransmitted_share", Flows 4 Less 100.0 2, "resent %", "bytes sent again" "%", |s| s.retransmitted.as_f64() / s.sent.as_f64();
    "jain", Flows 4 More 1.0 3, "Jain", "Jain's fairness index" "", |s| s.jain;
    "power", Flows 4 More 1.0 3, "power", "power: throughput over p95 RTT" "", |s| s.mbps(s.received) / s.rtt.p95;
    "share", Group 3 Neither 100.0 1, "share %", "share of all goodput" "%", |g| g.goodput / g.goodput_of_all;
    "jain_overall", Run 6 More 1.0 3, "Jain overall", "Jain's index of the flows' goodput" "", |s| s.jain_overall;
    "equilibrium_s", Run 6 Less 1.0 1, "alike s", "time to share alike" "s", |s| s.of_run(|c| c.equilibrium_s().unwrap_or(f64::NAN));
    "timeouts", Run 6 Less 1.0 0, "timeouts", "timeouts" "", |s| s.of_run(|c| c.timeouts as f64);
    "sent_packets", Run 6 Neither 1.0 0, "sent", "packets sent" "", |s| s.of_run(|c| c.sent as f64);
    "received_packets", Run 6 Neither 1.0 0, "received", "packets received" "", |s| s.of_run(|c| c.delivered as f64);
    "lost_packets", Run 6 Neither 1.0 0, "lost", "packets lost" "", |s| s.of_run(|c| c.dropped as f64);
    "lost_full_packets", Run 6 Neither 1.0 0, "lost, full", "packets lost to a full queue" "", |s| s.of_run(|c| c.dropped_by(DropCause::QueueFull));
    "lost_managed_packets", Run 6 Neither 1.0 0, "lost, managed", "packets dropped by the queue's management" "", |s| s.of_run(|c| c.dropped_by(DropCause::Managed));
    "lost_policed_packets", Run 6 Neither 1.0 0, "lost, policed", "packets dropped by the policer" "", |s| s.of_run(|c| c.dropped_by(DropCause::Policed));
    "lost_link_packets", Run 6 Neither 1.0 0, "lost, link", "packets lost behind the link" "", |s| s.of_run(|c| c.dropped_by(DropCause::LinkLoss));
    "retransmitted_packets", Run 6 Neither 1.0 0, "resent", "packets sent again" "", |s| s.of_run(|c| c.resent as f64);
    // By packets, where the other rates count bytes.
    "sent_mbps", Run 6 Neither 1.0 2, "sent Mbit/s", "sent" "Mbit/s", |s| s.of_run(|c| s.mbps(s.received) * c.sent as f64 / c.delivered as f64);
    "estimate_mbps", Run 6 Neither 1.0 2, "estimate", "bandwidth estimate" "Mbit/s", |s| s.of_run(|c| c.mean_estimate_mbps());
}

/// How many there are.
pub(super) const COUNT: usize = CATALOGUE.len();

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_document_defines_every_metric_once_and_no_other() {
        let document = include_str!("../../../../docs/metrics.md");
        let named = document.lines().filter_map(|line| {
            let line = line.strip_prefix("| `")?;
            line.split_once('`').map(|(key, _)| key)
        });
        let named: Vec<&str> = named.collect();
        let keys: BTreeSet<&str> = CATALOGUE.iter().map(|metric| metric.key).collect();
        assert_eq!(keys.len(), COUNT, "no key twice");
        assert_eq!(keys, named.iter().copied().collect());
        assert_eq!(named.len(), COUNT, "none is defined twice");
    }
}
