//! What an application hands to quinn's transport configuration.

use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::registry;
use lowtide_host::Factory;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::host::Host;
use crate::pacing::Pacing;

/// A controller of the registry for the connections of a transport configuration.
///
/// A [`Factory`] has a controller of your own, a seed, or observers. quinn does not tell a controller its
/// connection's number, so that observers are all asked for with `None`.
#[derive(Clone, Debug)]
pub struct Controllers {
    factory: Factory,
    pacing: Pacing,
}

impl Controllers {
    /// The controller that a spec names, such as `bbr` or `cubic:abe=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        Factory::new(spec).map(Self::from)
    }

    /// Sets what keeps flows to the controller's pacing rate.
    #[must_use]
    pub fn with_pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }
}

impl From<Factory> for Controllers {
    fn from(factory: Factory) -> Self {
        Self {
            factory,
            pacing: Pacing::default(),
        }
    }
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Host::new(self.factory.clone(), self.pacing, current_mtu))
    }
}
