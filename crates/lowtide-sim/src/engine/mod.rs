//! The event loop.

use crate::{Probe, SimConfig};

/// What a finished simulation says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Data packets that crossed the bottleneck link.
    pub bottleneck_packets: u64,
}

/// Why a configuration cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// A network with its flows, ready to run.
#[derive(Debug)]
pub struct Simulation {
    config: SimConfig,
}

impl Simulation {
    /// Sets up the network.
    ///
    /// # Errors
    /// When the configuration cannot be simulated: no flows, a zero packet size, a zero duration.
    pub fn new(config: SimConfig) -> Result<Self, ConfigError> {
        Ok(Self { config })
    }

    /// Runs to the end.
    pub fn run<P: Probe>(self, _probe: &mut P) -> Outcome {
        let _ = self.config;
        Outcome::default()
    }
}
