//! What an application hands to s2n-quic's builders.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use lowtide_cc::registry::{self, Spec};
use lowtide_host::Factory;
use s2n_quic::provider::congestion_controller::{Endpoint, PathInfo};

use crate::codepoints::Codepoints;
use crate::connection::{Config, Connections, Link};
use crate::events::Events;
use crate::host::Host;
use crate::interceptor::Interceptor;
use crate::slot::Datagrams;

/// Names the controller for a new path to a peer; `None`: the endpoint's own.
pub type Choice = Arc<dyn Fn(SocketAddr) -> Option<Spec> + Send + Sync>;

/// A controller of the registry for the connections of an s2n-quic endpoint.
///
/// It is a congestion controller provider by itself. [`parts`](Self::parts) adds what s2n-quic does
/// not tell its controllers: which packets exactly an acknowledgment covers, and RBBR's frames.
///
/// A [`Factory`] has a controller of your own, a seed, observers, or the estimator for peers that send with
/// RBBR. Observers are asked for by s2n-quic's number of the connection (`Connection::id`), which is
/// known only with all [`parts`](Self::parts).
pub struct Controllers {
    factory: Factory,
    choice: Option<Choice>,
    timestamps: bool,
    ecn: bool,
    /// None where the endpoint has only the controllers.
    connections: Option<Arc<Connections>>,
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controllers").field(&self.factory).finish()
    }
}

impl Controllers {
    /// The controller that a spec names, such as `bbr` or `cubic:abe=true`.
    ///
    /// # Errors
    /// When there is no such controller or parameter.
    pub fn new(spec: &str) -> Result<Self, registry::Error> {
        Factory::new(spec).map(Self::from)
    }

    /// Lets the peer's address decide which controller a path gets.
    #[must_use]
    pub fn with_choice(mut self, choice: Choice) -> Self {
        self.choice = Some(choice);
        self
    }

    /// Asks peers to report when packets arrived
    /// ([`AckedPacket::received_at`](lowtide_cc::controller::AckedPacket::received_at)). Needs all
    /// [`parts`](Self::parts), at both ends.
    #[must_use]
    pub fn with_timestamps(mut self) -> Self {
        self.timestamps = true;
        self
    }

    /// Sends no packet ECN-capable, whatever the controller asks for. Needs all [`parts`](Self::parts).
    #[must_use]
    pub fn without_ecn(mut self) -> Self {
        self.ecn = false;
        self
    }

    /// The parts of one endpoint, all of which must be given to the same builder.
    #[must_use]
    pub fn parts(self) -> Parts {
        let connections = Arc::new(Connections::new(Config {
            receiver: self.factory.receiver(),
            asks_for_timestamps: self.timestamps,
            uses_ecn: self.ecn,
        }));
        Parts {
            controller: Self {
                connections: Some(connections.clone()),
                ..self
            },
            interceptor: Interceptor::new(connections.clone()),
            datagrams: Datagrams {
                connections: connections.clone(),
            },
            codepoints: Codepoints {
                connections: connections.clone(),
            },
            events: Events { connections },
        }
    }

    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        self.factory.name()
    }
}

impl From<Factory> for Controllers {
    fn from(factory: Factory) -> Self {
        Self {
            factory,
            choice: None,
            timestamps: false,
            ecn: true,
            connections: None,
        }
    }
}

impl Endpoint for Controllers {
    type CongestionController = Host;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Host {
        let link = match &self.connections {
            Some(connections) => connections.link_for_controller(),
            None => Link::default(),
        };
        let chosen = self.choice.as_ref().and_then(|choice| {
            let peer = &path.remote_address;
            let ip = match <[u8; 4]>::try_from(peer.ip()) {
                Ok(ip) => IpAddr::from(ip),
                Err(_) => IpAddr::from(<[u8; 16]>::try_from(peer.ip()).ok()?),
            };
            choice(SocketAddr::new(ip, peer.port()))
        });
        let factory = match chosen {
            Some(spec) => self.factory.with_spec(&spec),
            None => self.factory.clone(),
        };
        Host::new(factory, link, path.max_datagram_size)
    }
}

/// What one endpoint needs so that receivers report when packets arrived, and RBBR's estimate, and so
/// that packets carry the ECN codepoint that their controller asks for:
///
/// ```no_run
/// # use std::path::Path;
/// # use s2n_quic::provider::io;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parts = lowtide_quic::Controllers::new("ebb")?.with_timestamps().parts();
/// let server = s2n_quic::Server::builder()
///     .with_tls((Path::new("cert.pem"), Path::new("key.pem")))?
///     .with_io(parts.codepoints.on(io::Default::new("0.0.0.0:4433")?))?
///     .with_limits(lowtide_quic::limits())?
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
    /// Around the I/O provider.
    pub codepoints: Codepoints,
}
