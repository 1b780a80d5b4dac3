//! What an application hands to noq's transport configuration.

use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::registry;
use lowtide_host::Factory;
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::exchange::Exchange;
use crate::host::Host;

/// A controller of the registry for the connections of a transport configuration.
///
/// A [`Factory`] has a controller of your own, a seed, observers, or the estimator for peers that send with
/// RBBR. noq does not tell a controller its connection's number, so that observers are all asked for
/// with `None`.
#[derive(Clone, Debug)]
pub struct Controllers(Factory);

impl Controllers {
    /// The controller that a spec names, such as `bbr` or `cubic:abe=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        Factory::new(spec).map(Self)
    }
}

impl From<Factory> for Controllers {
    fn from(factory: Factory) -> Self {
        Self(factory)
    }
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let exchange = Arc::new(Exchange::default());
        Box::new(Host::new(self.0.clone(), exchange, current_mtu))
    }
}
