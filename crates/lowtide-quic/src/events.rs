//! The event subscriber: knows the connections and what their ACK frames say.

use std::sync::Arc;

use s2n_quic::provider::event::{
    ConnectionInfo, ConnectionMeta, Subscriber,
    events::{AckRangeReceived, PacketHeader, PathCreated, TransportParametersReceived},
};

use crate::connection::{Connection, Connections};
use crate::slot::{CAPABILITY, TIMESTAMPS};

/// Tells the other parts which connection they work for. Combine it with a subscriber of your own
/// as a pair: `with_event((parts.events, yours))`.
#[derive(Debug)]
pub struct Events {
    pub(crate) connections: Arc<Connections>,
}

/// One connection, as its events see it. Its end is the connection's end.
#[derive(Debug)]
pub struct Context {
    id: u64,
    connection: Arc<Connection>,
    connections: Arc<Connections>,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.connections.remove(self.id);
    }
}

impl Events {
    /// Counts the endpoint's open connections, also when the endpoint has the events.
    #[must_use]
    pub fn counter(&self) -> ConnectionCounter {
        ConnectionCounter(self.connections.clone())
    }
}

/// Counts the connections that the parts of an endpoint keep.
#[derive(Clone, Debug)]
pub struct ConnectionCounter(Arc<Connections>);

impl ConnectionCounter {
    /// How many are open.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count()
    }
}

impl Subscriber for Events {
    type ConnectionContext = Context;

    fn create_connection_context(
        &mut self,
        meta: &ConnectionMeta,
        _info: &ConnectionInfo<'_>,
    ) -> Context {
        Context {
            id: meta.id,
            connection: self.connections.create(meta.id),
            connections: self.connections.clone(),
        }
    }

    fn on_transport_parameters_received(
        &mut self,
        context: &mut Context,
        _meta: &ConnectionMeta,
        event: &TransportParametersReceived<'_>,
    ) {
        let capability = event.transport_parameters.max_datagram_frame_size;
        let speaks_extension = capability & !TIMESTAMPS == CAPABILITY;
        let asks_for_timestamps = speaks_extension && capability & TIMESTAMPS != 0;
        context
            .connection
            .on_peer_parameters(speaks_extension, asks_for_timestamps);
        self.connections.set_negotiating(&context.connection);
    }

    fn on_path_created(
        &mut self,
        context: &mut Context,
        _meta: &ConnectionMeta,
        _event: &PathCreated<'_>,
    ) {
        self.connections.adopt(&context.connection);
    }

    #[inline]
    fn on_ack_range_received(
        &mut self,
        context: &mut Context,
        _meta: &ConnectionMeta,
        event: &AckRangeReceived<'_>,
    ) {
        if let PacketHeader::OneRtt { number, .. } = event.packet_header {
            context
                .connection
                .on_acked_range(number, event.ack_range.clone());
        }
    }
}
