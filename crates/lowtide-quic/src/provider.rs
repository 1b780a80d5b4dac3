//! What an application hands to s2n-quic's builders.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::controllers::rbbr::ReceiverConfig;
use lowtide_cc::registry::{self, Spec};
use lowtide_host::{Factory, Make, Observer, default_receiver};
use s2n_quic::provider::congestion_controller::{Endpoint, PathInfo};

use crate::connection::{Connections, Link};
use crate::controller::{Host, Setup};
use crate::events::Events;
use crate::interceptor::Interceptor;
use crate::slot::Datagrams;

/// Gives each connection its observer, by s2n-quic's number of it: `Connection::id`. The number is
/// known only with all parts of the endpoint.
pub type Observers = Arc<dyn Fn(Option<u64>) -> Option<Arc<dyn Observer>> + Send + Sync>;

/// A controller of the registry for one s2n-quic endpoint.
///
/// It is a congestion controller provider by itself. [`parts`](Self::parts) adds what s2n-quic does
/// not tell its controllers: which packets exactly an acknowledgment covers, and RBBR's frames.
pub struct Provider {
    name: String,
    make: Make,
    seed: u64,
    receiver: ReceiverConfig,
    observers: Option<Observers>,
    alone: Option<Setup>,
}

impl Provider {
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
        let provider = Self::with_controller(name, Arc::new(move |config| made.build(config)));
        match spec.receiver() {
            Some(receiver) => provider.with_receiver(receiver),
            None => provider,
        }
    }

    /// A controller of your own.
    ///
    /// # Panics
    /// When the registry has no `rbbr`, whose estimator serves peers that run RBBR.
    #[must_use]
    pub fn with_controller(name: &str, make: Make) -> Self {
        Self {
            name: name.to_string(),
            make,
            seed: Factory::any_seed(),
            receiver: default_receiver(),
            observers: None,
            alone: None,
        }
    }

    /// Seeds the controllers' randomness, so that runs can be repeated; by default it differs from
    /// run to run.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how the estimator works that this endpoint runs for peers whose sender is RBBR's.
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

    /// Watches each connection's controller with an observer of its own.
    #[must_use]
    pub fn with_observers(mut self, observers: Observers) -> Self {
        self.observers = Some(observers);
        self
    }

    /// The parts of one endpoint, all of which must be given to the same builder.
    #[must_use]
    pub fn parts(self) -> Parts {
        let setup = self.setup();
        let connections = Arc::new(Connections::new(self.receiver));
        Parts {
            controller: Controllers {
                setup,
                connections: connections.clone(),
            },
            interceptor: Interceptor::new(connections.clone()),
            datagrams: Datagrams {
                connections: connections.clone(),
            },
            events: Events { connections },
        }
    }

    fn setup(&self) -> Setup {
        Setup {
            factory: Arc::new(Factory::new(self.make.clone(), self.seed)),
            observers: self.observers.clone(),
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.name).finish()
    }
}

impl Endpoint for Provider {
    type CongestionController = Host;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Host {
        if self.alone.is_none() {
            self.alone = Some(self.setup());
        }
        let setup = self.alone.clone().unwrap_or_else(|| self.setup());
        Host::new(setup, Link::default(), path.max_datagram_size)
    }
}

/// What one endpoint needs to speak RBBR's extension:
///
/// ```no_run
/// # use std::path::Path;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parts = lowtide_quic::Rbbr::default().parts();
/// let server = s2n_quic::Server::builder()
///     .with_tls((Path::new("cert.pem"), Path::new("key.pem")))?
///     .with_io("0.0.0.0:4433")?
///     .with_congestion_controller(parts.controller)?
///     .with_event(parts.events)?
///     .with_packet_interceptor(parts.interceptor)?
///     .with_datagram(parts.datagrams)?
///     .start()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Parts {
    /// The congestion controllers.
    pub controller: Controllers,
    /// The event subscriber.
    pub events: Events,
    /// The packet interceptor.
    pub interceptor: Interceptor,
    /// The datagram provider.
    pub datagrams: Datagrams,
}

/// The congestion controllers of an endpoint that has the other parts.
#[derive(Debug)]
pub struct Controllers {
    setup: Setup,
    connections: Arc<Connections>,
}

impl Endpoint for Controllers {
    type CongestionController = Host;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Host {
        let link = self.connections.link_for_controller();
        Host::new(self.setup.clone(), link, path.max_datagram_size)
    }
}

macro_rules! types {
    ($($room:ident::$entry:ident as $type:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("The registry's `", $name, "`, with its default parameters.")]
            ///
            /// Alone a controller that works by feedback (`rbbr`) goes by the sender's own estimate; with its
            /// [`parts`](Self::parts) at both ends, by the receiver's.
            #[derive(Debug)]
            pub struct $type(Provider);

            impl Default for $type {
                fn default() -> Self {
                    // A test builds them all.
                    Self(Provider::new($name).expect("the registry has it"))
                }
            }

            impl $type {
                /// The parts of one endpoint, all of which must be given to the same builder.
                #[must_use]
                pub fn parts(self) -> Parts {
                    self.0.parts()
                }
            }

            impl From<$type> for Provider {
                fn from(typed: $type) -> Self {
                    typed.0
                }
            }

            impl Endpoint for $type {
                type CongestionController = Host;

                fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Host {
                    self.0.new_congestion_controller(path)
                }
            }
        )*

        #[cfg(test)]
        const TYPED: &[(&str, fn() -> Provider)] =
            &[$(($name, || $type::default().into())),*];
    };
}

lowtide_cc::for_each_controller!(types);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_of_the_registry_has_a_type() {
        let typed: Vec<&str> = TYPED
            .iter()
            .map(|(name, make)| {
                assert_eq!(make().name, *name);
                *name
            })
            .collect();
        let all: Vec<&str> = registry::all().iter().map(|e| e.name).collect();
        assert_eq!(typed, all);
    }
}
