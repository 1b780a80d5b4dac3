//! Makes the controllers of an endpoint's connections.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::registry::{self, Spec};
use lowtide_cc::units::Bytes;
use lowtide_cc::{Config, Controller};

use crate::observer::{Observer, Observers};
use crate::path::Path;

/// Makes a controller.
pub type Make = Arc<dyn Fn(&Config) -> Box<dyn Controller> + Send + Sync>;

/// What the controllers of an endpoint are made with. Each gets a seed of its own; clones of a
/// factory count on together.
#[derive(Clone)]
pub struct Factory {
    name: Arc<str>,
    make: Make,
    seed: u64,
    made: Arc<AtomicU64>,
    receiver: ReceiverConfig,
    observers: Option<Observers>,
}

impl Factory {
    /// The controller that a spec names, such as `bbr` or `cubic:abe=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        registry::parse(spec).map(|spec| Self::of(&spec))
    }

    /// The controller of a parsed spec, and the estimator of its receiver if it has one.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let (made, name) = (spec.clone(), spec.entry().name);
        let factory = Self::with_controller(name, Arc::new(move |config| made.build(config)));
        factory.with_receiver(spec.receiver().unwrap_or(ReceiverConfig::DEFAULT))
    }

    /// A controller of your own.
    #[must_use]
    pub fn with_controller(name: &str, make: Make) -> Self {
        Self {
            name: name.into(),
            make,
            seed: RandomState::new().build_hasher().finish(),
            made: Arc::default(),
            receiver: ReceiverConfig::DEFAULT,
            observers: None,
        }
    }

    /// Returns this factory with the controller of another spec; observers and the receiver stay.
    #[must_use]
    pub fn with_spec(&self, spec: &Spec) -> Self {
        let (made, name) = (spec.clone(), spec.entry().name);
        Self {
            name: name.into(),
            make: Arc::new(move |config| made.build(config)),
            ..self.clone()
        }
    }

    /// Seeds the controllers' randomness: those made from now on count from `seed`. By default the
    /// seed differs from run to run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self.made = Arc::default();
        self
    }

    /// Sets the estimator that this endpoint runs for peers that send with RBBR.
    #[must_use]
    pub fn with_receiver(mut self, receiver: ReceiverConfig) -> Self {
        self.receiver = receiver;
        self
    }

    /// Watches all controllers with one observer.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        self.with_observers(Arc::new(move |_| Some(observer.clone())))
    }

    /// Watches each controller with an observer of its own.
    #[must_use]
    pub fn with_observers(mut self, observers: Observers) -> Self {
        self.observers = Some(observers);
        self
    }

    /// The controller's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The estimator for peers that send with RBBR.
    #[must_use]
    pub fn receiver(&self) -> ReceiverConfig {
        self.receiver
    }

    /// The observer of a controller's connection, whose number is `id` where the host knows it.
    #[must_use]
    pub fn observer(&self, id: Option<u64>) -> Option<Arc<dyn Observer>> {
        self.observers.as_ref().and_then(|observers| observers(id))
    }

    /// A path for QUIC packets of `max_datagram` bytes with a new controller, whose clock begins now.
    #[must_use]
    pub fn path(&self, max_datagram: Bytes) -> Path {
        let mut config = Config::for_datagram(max_datagram);
        config.seed = self.seed.wrapping_add(self.made.fetch_add(1, Relaxed));
        Path::new((self.make)(&config))
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Factory").field(&self.name).finish()
    }
}
