//! Both directions of an emulated path.

use lowtide_cc::units::Duration;
use lowtide_sim::{AccessConfig, NetworkConfig, PipeConfig};

use crate::flow::{FLOWS, Ports};

/// Both directions of a path.
#[derive(Clone, Debug)]
pub struct PathConfig {
    /// Towards the near end: the command's namespace, or the relay's clients. The simulator's
    /// forward direction.
    pub down: PipeConfig,
    /// Towards the far end. The simulator's reverse direction.
    pub up: PipeConfig,
    /// Round-trip propagation delay; what buffers in BDP refer to.
    pub base_rtt: Duration,
    /// Seeds loss and jitter, which are those of a simulation of the same seed.
    pub seed: u64,
    /// Where ports tell flows apart; else each connection is a flow for the queues, and all are one for
    /// probes.
    pub ports: Option<Ports>,
}

impl PathConfig {
    /// The path as a network whose flows have no access links.
    pub(crate) fn network(&self) -> NetworkConfig {
        NetworkConfig {
            forward: self.down.clone(),
            reverse: self.up.clone(),
            access: vec![AccessConfig::default(); FLOWS as usize],
            base_rtt: self.base_rtt,
            seed: self.seed,
        }
    }
}
