//! Which metrics tables show.

use super::catalogue::Metric;

/// Columns of stored results that are no values; no measure may take their names.
pub const LABELS: [&str; 6] = ["scenario", "controller", "case", "seed", "key", "simulator"];

/// A table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// A comparison on a terminal, a line for each contender.
    Comparison,
    /// A comparison in a report, which has more room.
    Report,
    /// The cells of a scenario file.
    Cells,
}

/// All columns that there are, in their order, and the tables that have them.
const COLUMNS: [(&str, &[Table]); 13] = {
    use Table::{Cells, Comparison, Report};
    const ALL: &[Table] = &[Comparison, Report, Cells];
    [
        ("throughput_mbps", ALL),
        ("utilisation", ALL),
        ("rtt_ms.mean", ALL),
        ("rtt_ms.p95", ALL),
        ("rtt_ms.p99", ALL),
        ("self_inflicted_ms.p95", &[Comparison, Report]),
        ("frame_delay_ms.p95", ALL),
        ("transfer_ms.100kb", &[Report]),
        ("transfer_ms.3mb", &[Report]),
        ("loss_share", ALL),
        ("marked_share", ALL),
        ("retransmitted_share", ALL),
        ("jain", ALL),
    ]
};

impl Table {
    /// Columns of this table. That of the index of fairness is left out where flows are alone;
    /// those of marks, frames and transfers where there are none: `has` tells whether any result
    /// has a value of that name above zero.
    #[must_use]
    pub fn columns(self, several_flows: bool, has: impl Fn(&str) -> bool) -> Vec<&'static Metric> {
        let shown = COLUMNS.iter().filter(|(key, tables)| {
            let has_values = match *key {
                "jain" => several_flows,
                "marked_share" | "frame_delay_ms.p95" => has(key),
                // Of flows that share a link the table says who gets what.
                "transfer_ms.100kb" | "transfer_ms.3mb" => !several_flows && has(key),
                _ => true,
            };
            has_values && tables.contains(&self)
        });
        shown.filter_map(|(key, _)| Metric::of_key(key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_a_metric() {
        for (key, _) in COLUMNS {
            assert!(Metric::of_key(key).is_some(), "{key}");
        }
    }
}
