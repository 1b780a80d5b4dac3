//! What an application hands to noq's transport configuration.

use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::registry::{self, Spec};
use lowtide_host::{Factory, Make, Observer, Observers};
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::exchange::Exchange;
use crate::host::Host;

/// A controller of the registry for the connections of a transport configuration.
#[derive(Clone, Debug)]
pub struct Controllers {
    factory: Factory,
}

impl Controllers {
    fn made_by(factory: Factory) -> Self {
        Self { factory }
    }

    /// The controller that a spec names, such as `bbr` or `cubic:abe=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        Factory::new(spec).map(Self::made_by)
    }

    /// The controller of a parsed spec.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        Self::made_by(Factory::of(spec))
    }

    /// A controller of your own.
    #[must_use]
    pub fn with_controller(name: &str, make: Make) -> Self {
        Self::made_by(Factory::with_controller(name, make))
    }

    /// Seeds the controllers' randomness, so that runs can be repeated; by default the seed differs
    /// from run to run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.factory = self.factory.with_seed(seed);
        self
    }

    /// Sets the estimator that this endpoint runs for peers that send with RBBR.
    #[must_use]
    pub fn with_receiver(mut self, receiver: ReceiverConfig) -> Self {
        self.factory = self.factory.with_receiver(receiver);
        self
    }

    /// Watches all controllers with one observer.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.factory = self.factory.with_observer(observer);
        self
    }

    /// Watches each controller with an observer of its own. noq does not tell a controller its
    /// connection's number, so that they are all asked for with `None`.
    #[must_use]
    pub fn with_observers(mut self, observers: Observers) -> Self {
        self.factory = self.factory.with_observers(observers);
        self
    }
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let exchange = Arc::new(Exchange::default());
        Box::new(Host::new(self.factory.clone(), exchange, current_mtu))
    }
}
