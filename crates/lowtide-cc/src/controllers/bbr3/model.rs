//! What the mechanisms share: the state, the window, and the path's bandwidth and minimum RTT.

use super::phase::Phase;
use crate::controller::Config;
use crate::mechanisms::Rounds;
use crate::units::{Bytes, Duration, Rate};

/// `MinPipeCwnd` (§5.6.4.3), in packets: enough for a peer that acknowledges every other packet.
const MIN_PIPE_PACKETS: u64 = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    pub(super) phase: Phase,
    pub(super) rounds: Rounds,
    /// Highest delivery rate of this and the previous cycle (`max_bw`); zero before the first
    /// sample.
    pub(super) max_bandwidth: Rate,
    /// The rate to send at: `max_bandwidth`, or less while losses bound it (`bw`).
    pub(super) bandwidth: Rate,
    /// [`Duration::MAX`] before the first sample.
    pub(super) min_rtt: Duration,
    /// The pipe has been full once (`full_bw_reached`).
    pub(super) full_pipe: bool,
    pub(super) cwnd: Bytes,
    pub(super) send_quantum: Bytes,
    pub(super) max_datagram: Bytes,
    pub(super) initial_window: Bytes,
    /// Send quanta that hosts hold back or bunch (`offload_budget`).
    pub(super) offload_quanta: u64,
}

impl Model {
    pub(super) fn new(config: &Config, offload_quanta: u64) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        let initial_window = config.initial_window.max(max_datagram);
        Self {
            phase: Phase::Startup,
            rounds: Rounds::default(),
            max_bandwidth: Rate::ZERO,
            bandwidth: Rate::ZERO,
            min_rtt: Duration::MAX,
            full_pipe: false,
            cwnd: initial_window,
            send_quantum: max_datagram * 2,
            max_datagram,
            initial_window,
            offload_quanta,
        }
    }

    /// `MinPipeCwnd`.
    pub(super) fn min_pipe(&self) -> Bytes {
        self.max_datagram * MIN_PIPE_PACKETS
    }

    /// `BDPMultiple` (§5.6.4.2): the initial window before the first RTT sample.
    pub(super) fn bdp(&self, bandwidth: Rate, gain: f64) -> Bytes {
        if self.min_rtt == Duration::MAX {
            return self.initial_window;
        }
        bandwidth.volume_in(self.min_rtt).mul_f64(gain)
    }

    /// `QuantizationBudget` (§5.6.4.2): room for offload, for the smallest pipe, and in UP for two packets
    /// more, so that a gain of 1.25 raises even the smallest flight.
    pub(super) fn with_quantization_budget(&self, volume: Bytes) -> Bytes {
        let least = (self.send_quantum * self.offload_quanta).max(self.min_pipe());
        let volume = volume.max(least);
        if self.phase == Phase::Up {
            volume + self.max_datagram * 2
        } else {
            volume
        }
    }

    /// `Inflight(bandwidth, 1.0)`: no queue stands when no more is in flight.
    pub(super) fn drained_inflight(&self, bandwidth: Rate) -> Bytes {
        self.with_quantization_budget(self.bdp(bandwidth, 1.0))
    }

    /// `TargetInflight` (§5.3.3.8.3): the BDP, unless congestion cut the window below it.
    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp(self.bandwidth, 1.0).min(self.cwnd)
    }
}
