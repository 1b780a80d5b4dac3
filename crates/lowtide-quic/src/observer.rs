//! What can be watched of a running connection.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::Controller;
use lowtide_cc::controller::{AckedPacket, LostPacket, PacketSent};
use lowtide_cc::units::{Bytes, Duration, Time};

/// A controller has processed an acknowledgment.
#[derive(Debug)]
pub struct AckSeen<'a> {
    /// When, since the path's first packet.
    pub now: Time,
    /// The RTT sample it gave.
    pub rtt: Option<Duration>,
    /// The packets that it newly acknowledged.
    pub packets: &'a [AckedPacket],
    /// s2n-quic's smoothed RTT.
    pub smoothed_rtt: Duration,
    /// Data in flight afterwards.
    pub inflight: Bytes,
    /// The controller.
    pub controller: &'a dyn Controller,
}

/// Packets were declared lost.
#[derive(Debug)]
pub struct LossSeen<'a> {
    /// When, since the path's first packet.
    pub now: Time,
    /// The packets.
    pub packets: &'a [LostPacket],
    /// Their total size.
    pub bytes: Bytes,
    /// Data in flight without them.
    pub inflight: Bytes,
}

/// Gives each connection its observer, by s2n-quic's number of it: `Connection::id`. The number is
/// known only with all parts of the endpoint.
pub type Observers = Arc<dyn Fn(Option<u64>) -> Option<Arc<dyn Observer>> + Send + Sync>;

/// Watches a connection's controller. Called on the endpoint's thread: be quick.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A packet left that counts towards bytes in flight.
    fn on_sent(&self, _sent: &PacketSent) {}

    /// An acknowledgment was processed.
    fn on_ack(&self, _ack: &AckSeen<'_>) {}

    /// Packets were declared lost. The controller has been told.
    fn on_loss(&self, _loss: &LossSeen<'_>) {}
}
