//! What a run was seen to do, as metrics are worked out from it.

use lowtide_cc::units::Bytes;

use super::counts::Counts;
use super::distribution::DelaySummary;

/// One flow, or all of a run together.
#[derive(Clone, Debug)]
pub(super) struct Totals<'a> {
    /// The life of the flows.
    pub(super) seconds: f64,
    pub(super) sent: Bytes,
    pub(super) retransmitted: Bytes,
    pub(super) dropped: Bytes,
    /// Packets that left the bottleneck, and those of them with CE.
    pub(super) left_packets: u64,
    pub(super) marked_packets: u64,
    pub(super) received: Bytes,
    pub(super) first_copies: Bytes,
    /// Per size of [`TRANSFERS`](super::meter::TRANSFERS), the mean over the flows of the time, in
    /// ms, from a flow's start until so much of it had arrived. NaN where a flow did not come so
    /// far.
    pub(super) transfers_ms: [f64; 2],
    /// What the link could have carried in that time.
    pub(super) opportunities: Bytes,
    pub(super) rtt: DelaySummary,
    pub(super) queue_delay: DelaySummary,
    pub(super) frame_delay: DelaySummary,
    /// Milliseconds.
    pub(super) self_inflicted_p95: f64,
    pub(super) jain: f64,
    /// Jain's index of the flows' goodput over their life.
    pub(super) jain_overall: f64,
    /// Counts of a whole run.
    pub(super) counts: Option<&'a Counts>,
}

/// A group of flows among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The sum of its flows' goodput, Mbit/s.
    pub(super) goodput: f64,
    /// The sum of all flows' goodput, Mbit/s.
    pub(super) goodput_of_all: f64,
}

impl Totals<'_> {
    /// A volume as a rate over the flows' life.
    pub(super) fn mbps(&self, bytes: Bytes) -> f64 {
        bytes.as_f64() * 8.0 / 1e6 / self.seconds
    }

    /// What is counted in whole runs only; NaN for anything less.
    pub(super) fn of_run(&self, get: impl Fn(&Counts) -> f64) -> f64 {
        self.counts.map_or(f64::NAN, get)
    }
}
