//! The columns of the report's table.

use serde::Serialize;

use crate::metrics::Metrics;

/// A column.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Column {
    head: &'static str,
    /// What it is, in full.
    title: &'static str,
    /// Digits after the point.
    digits: u8,
    higher_is_better: bool,
    #[serde(skip)]
    pub(super) value: fn(&Metrics) -> f64,
}

const fn column(
    head: &'static str,
    title: &'static str,
    digits: u8,
    higher_is_better: bool,
    value: fn(&Metrics) -> f64,
) -> Column {
    Column {
        head,
        title,
        digits,
        higher_is_better,
        value,
    }
}

const COLUMNS: [Column; 10] = [
    column("Mbit/s", "throughput", 2, true, |m| m.throughput_mbps),
    column("used %", "share of what the link offered", 1, true, |m| {
        m.utilisation * 100.0
    }),
    column("RTT ms", "mean RTT", 1, false, |m| m.rtt_ms.mean),
    column("p95", "95th percentile of the RTT, ms", 1, false, |m| {
        m.rtt_ms.p95
    }),
    column("p99", "99th percentile of the RTT, ms", 1, false, |m| {
        m.rtt_ms.p99
    }),
    column(
        "queue p95",
        "95th percentile of the queueing delay, ms",
        1,
        false,
        |m| m.queue_delay_ms.p95,
    ),
    column(
        "self p95",
        "95th percentile of the delay beyond what the link imposes, ms",
        1,
        false,
        |m| m.self_inflicted_ms.p95,
    ),
    column("lost %", "bytes dropped over bytes sent", 2, false, |m| {
        m.loss_share * 100.0
    }),
    column(
        "resent %",
        "bytes sent again over bytes sent",
        2,
        false,
        |m| m.retransmitted_share * 100.0,
    ),
    column("Jain", "Jain's fairness index", 3, true, |m| m.jain),
];

/// The columns; the index of fairness only where there are several flows.
pub(super) fn columns(several_flows: bool) -> &'static [Column] {
    if several_flows {
        &COLUMNS
    } else {
        &COLUMNS[..COLUMNS.len() - 1]
    }
}
