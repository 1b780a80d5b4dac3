//! What an application hands to quinn's transport configuration.

use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::registry;
use lowtide_host::Factory;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::host::Host;

/// What keeps a flow to its controller's pacing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// The window. quinn sees what is in flight and what the rate has allowed since, up to the
    /// controller's own window. The rate's credit comes with acknowledgments, because quinn tells a
    /// controller no other time. Between them quinn's pacer spreads the packets.
    #[default]
    Window,
    /// Nothing but quinn's pacer, which sends 1.25 of the controller's windows a smoothed RTT. Meant for
    /// a quinn whose pacer asks [`metrics`](quinn_proto::congestion::Controller::metrics) for the rate, as
    /// its pull request 2481 would: the rate is there.
    Quinn,
}

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
