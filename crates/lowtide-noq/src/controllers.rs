//! What an application hands to noq's transport configuration.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::registry::{self, Spec};
use lowtide_host::{Factory, Make, Observer};
use noq_proto::congestion::{Controller, ControllerFactory};

use crate::exchange::Exchange;
use crate::host::{Host, Setup};

/// A controller of the registry for the connections of a transport configuration.
#[derive(Clone)]
pub struct Controllers {
    name: String,
    make: Make,
    setup: Setup,
}

impl Controllers {
    /// The controller that a spec names, such as `bbr` or `cubic:hystart=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        registry::parse(spec).map(|spec| Self::of(&spec))
    }

    /// The controller of a checked spec.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let (made, name) = (spec.clone(), spec.entry().name);
        Self::with_controller(name, Arc::new(move |config| made.build(config)))
    }

    /// A controller of your own.
    #[must_use]
    pub fn with_controller(name: &str, make: Make) -> Self {
        let factory = Arc::new(Factory::new(make.clone(), Factory::any_seed()));
        Self {
            name: name.to_string(),
            make,
            setup: Setup {
                factory,
                observer: None,
            },
        }
    }

    /// Seeds the controllers' randomness, so that runs can be repeated; by default it differs from
    /// run to run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.setup.factory = Arc::new(Factory::new(self.make.clone(), seed));
        self
    }

    /// Watches all controllers.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.setup.observer = Some(observer);
        self
    }
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controllers").field(&self.name).finish()
    }
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let exchange = Arc::new(Exchange::default());
        Box::new(Host::new(self.setup.clone(), exchange, current_mtu))
    }
}
