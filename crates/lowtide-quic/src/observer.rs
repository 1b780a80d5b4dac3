//! What can be watched of a running connection.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::Controller;
use lowtide_cc::units::{Bytes, Duration, Time};

/// A controller has processed an acknowledgment.
#[derive(Debug)]
pub struct AckSeen<'a> {
    /// When, since the path's first packet.
    pub now: Time,
    /// The RTT sample it gave.
    pub rtt: Option<Duration>,
    /// What it newly acknowledged.
    pub acked: Bytes,
    /// Data in flight afterwards.
    pub inflight: Bytes,
    /// The controller.
    pub controller: &'a dyn Controller,
}

/// Gives each connection its observer, by s2n-quic's number of it: `Connection::id`. The number is
/// known only with all parts of the endpoint.
pub type Observers = Arc<dyn Fn(Option<u64>) -> Option<Arc<dyn Observer>> + Send + Sync>;

/// Watches a connection's controller. Called on the endpoint's thread: be quick.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A packet of `bytes` left that counts towards bytes in flight.
    fn on_sent(&self, _now: Time, _bytes: Bytes) {}

    /// An acknowledgment was processed.
    fn on_ack(&self, _ack: &AckSeen<'_>) {}

    /// `packets` packets of `bytes` in total were declared lost.
    fn on_loss(&self, _now: Time, _packets: u64, _bytes: Bytes) {}
}
