//! Room for the frame in packets that data fills, and the negotiation.
//!
//! A bulk sender's packets are full when the interceptor sees them. The datagram provider is asked
//! before stream data are written: it puts a DATAGRAM frame (RFC 9221) there, which the interceptor
//! replaces. The provider also sets the one transport parameter within reach.

use std::sync::Arc;

use lowtide_cc::controllers::rbbr::frame;
use s2n_quic::connection;
use s2n_quic::provider::datagram::{
    ConnectionInfo, Endpoint, Packet, PreConnectionInfo, ReceiveContext, Receiver, Sender,
};

use crate::connection::{Connection, Connections};

/// Value of `max_datagram_frame_size` by which an endpoint says that it speaks the extension:
/// `RBBR`, version 1, and 65535, so that to everybody else it means "any size".
pub const CAPABILITY: u64 = 0x0052_4242_5201_FFFF;

/// What an endpoint adds to [`CAPABILITY`] that asks its peer for receive timestamps.
pub const TIMESTAMPS: u64 = 0x2_0000;

/// Data of the DATAGRAM frame that keeps the place: with its type and length as long as RBBR's frame
/// and a PING.
const PLACEHOLDER_DATA: usize = frame::LENGTH + PING.len() - 2;

/// A PING frame (RFC 9000 §19.2). s2n-quic counts the packet as ack-eliciting because of the
/// DATAGRAM frame; RBBR's is not, so that one is needed for the peer to agree.
pub(crate) const PING: [u8; 1] = [0x01];

/// The DATAGRAM frame as it is found in the packet: type, length, data.
pub(crate) const PLACEHOLDER: [u8; PLACEHOLDER_DATA + 2] = {
    let mut bytes = [0; PLACEHOLDER_DATA + 2];
    bytes[0] = 0x31;
    bytes[1] = PLACEHOLDER_DATA as u8;
    bytes
};

/// What a packet must have room for: a larger one would make s2n-quic drop the length.
const MIN_ROOM: usize = PLACEHOLDER.len() + 8;

/// The datagram provider. Applications' own datagrams are not possible beside it.
#[derive(Debug)]
pub struct Datagrams {
    pub(crate) connections: Arc<Connections>,
}

impl Endpoint for Datagrams {
    type Sender = Slot;
    type Receiver = Ignored;

    fn create_connection(&mut self, _info: &ConnectionInfo) -> (Slot, Ignored) {
        let connection = self.connections.take_negotiating();
        (Slot { connection }, Ignored(()))
    }

    fn max_datagram_frame_size(&self, _info: &PreConnectionInfo) -> u64 {
        match self.connections.asks_for_timestamps() {
            true => CAPABILITY | TIMESTAMPS,
            false => CAPABILITY,
        }
    }
}

/// Makes room in one connection's packets.
#[derive(Debug)]
pub struct Slot {
    connection: Option<Arc<Connection>>,
}

impl Sender for Slot {
    #[inline]
    fn on_transmit<P: Packet>(&mut self, packet: &mut P) {
        let Some(connection) = self.connection.as_ref().filter(|c| c.wants_slot()) else {
            return;
        };
        // Writes beyond the room are unchecked in release builds.
        if packet.remaining_capacity() >= MIN_ROOM
            && packet.write_datagram(&PLACEHOLDER[2..]).is_ok()
        {
            connection.open_slot();
        }
    }

    /// Never by itself: a signal matters to the packets after it and travels with the
    /// first of them. A packet sent only for the signal could cause an endless exchange on an idle
    /// connection.
    fn has_transmission_interest(&self) -> bool {
        false
    }

    fn on_connection_error(&mut self, _error: connection::Error) {}
}

/// Peers send us no datagrams; any that arrive are dropped.
#[derive(Debug)]
pub struct Ignored(());

impl Receiver for Ignored {
    fn on_datagram(&mut self, _context: &ReceiveContext<'_>, _datagram: &[u8]) {}

    fn on_connection_error(&mut self, _error: connection::Error) {}
}
