//! The providers of an endpoint that speaks RBBR's extension.

use std::sync::Arc;

use crate::connection::Connections;
use crate::controllers::Controllers;
use crate::events::Events;
use crate::interceptor::Interceptor;
use crate::slot::Datagrams;

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

impl Parts {
    pub(crate) fn new(controller: Controllers, connections: &Arc<Connections>) -> Self {
        Self {
            controller,
            events: Events {
                connections: connections.clone(),
            },
            interceptor: Interceptor::new(connections.clone()),
            datagrams: Datagrams {
                connections: connections.clone(),
            },
        }
    }
}
