//! What happened in one stretch of time.

use lowtide_cc::controller::FilterSnapshot;
use lowtide_cc::units::Bytes;
use serde::{Deserialize, Serialize};

use super::envelope::Envelope;

/// A flow, or all together, in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowBin {
    /// Received, copies included.
    pub delivered: Bytes,
    /// Sent.
    pub sent: Bytes,
    /// Packets declared lost.
    pub lost: u32,
    /// Packets whose data was sent again.
    pub resent: u32,
    /// Retransmission timers that fired.
    pub timeouts: u32,
    /// RTT samples, ms.
    pub rtt: Envelope,
    /// Window, kB.
    pub cwnd: Envelope,
    /// Data in flight, kB.
    pub inflight: Envelope,
    /// The controller's bandwidth estimate, Mbit/s.
    pub bandwidth: Envelope,
    /// What its filter, or its receiver's, did.
    pub filter: FilterBin,
}

impl FlowBin {
    /// Takes all of a later bin.
    pub fn merge(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.sent += later.sent;
        self.lost = self.lost.saturating_add(later.lost);
        self.resent = self.resent.saturating_add(later.resent);
        self.timeouts = self.timeouts.saturating_add(later.timeouts);
        for (own, later) in [
            (&mut self.rtt, &later.rtt),
            (&mut self.cwnd, &later.cwnd),
            (&mut self.inflight, &later.inflight),
            (&mut self.bandwidth, &later.bandwidth),
            (&mut self.filter.gain, &later.filter.gain),
            (&mut self.filter.process, &later.filter.process),
            (&mut self.filter.measurement, &later.filter.measurement),
            (&mut self.filter.innovation, &later.filter.innovation),
        ] {
            own.merge(later);
        }
    }
}

/// A bandwidth filter's internals in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterBin {
    /// Kalman gain K.
    pub gain: Envelope,
    /// Standard deviation of the process noise, √Q, Mbit/s.
    pub process: Envelope,
    /// Standard deviation of the measurement noise, √R, Mbit/s.
    pub measurement: Envelope,
    /// Innovation, Mbit/s.
    pub innovation: Envelope,
}

impl FilterBin {
    pub(super) fn take(&mut self, filter: &FilterSnapshot) {
        let mbps = |bytes_per_sec: f64| bytes_per_sec * 8.0 / 1e6;
        self.gain.take(filter.gain);
        self.process.take(mbps(filter.process_noise.sqrt()));
        self.measurement.take(mbps(filter.measurement_noise.sqrt()));
        self.innovation.take(mbps(filter.innovation));
    }
}

/// The bottleneck in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkBin {
    /// What waited behind packets that left, kB.
    pub queue: Envelope,
    /// Time that packets spent in queue and on the link, ms.
    pub sojourn: Envelope,
    /// Packets dropped, at the queue or behind the link.
    pub drops: u32,
}

impl LinkBin {
    /// Takes all of a later bin.
    pub fn merge(&mut self, later: &Self) {
        self.queue.merge(&later.queue);
        self.sojourn.merge(&later.sojourn);
        self.drops = self.drops.saturating_add(later.drops);
    }
}
