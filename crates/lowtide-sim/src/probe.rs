//! What can be observed of a running simulation.

use lowtide_cc::Controller;
use lowtide_cc::units::{Bytes, Duration, Time};

/// Why a packet vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The bottleneck's queue was full.
    QueueFull,
    /// The loss model took it behind the link.
    LinkLoss,
}

/// A data packet reached its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Index of the flow in [`SimConfig::flows`](crate::SimConfig::flows).
    pub flow: usize,
    /// When it arrived.
    pub now: Time,
    /// When it was sent.
    pub sent_at: Time,
    /// Its size.
    pub bytes: Bytes,
    /// Whether the receiver had not seen this data before.
    pub first_copy: bool,
}

/// A sender processed an acknowledgment.
pub struct AckSeen<'a> {
    /// Index of the flow.
    pub flow: usize,
    /// When.
    pub now: Time,
    /// The RTT sample it gave.
    pub rtt: Option<Duration>,
    /// Data in flight afterwards.
    pub inflight: Bytes,
    /// The controller after it processed the acknowledgment; `None` for the oracle.
    pub controller: Option<&'a dyn Controller>,
}

/// Watches a simulation. Every method has an empty default; an unused one costs nothing.
///
/// Times never go back from one call to the next.
pub trait Probe {
    /// A flow begins: `packet_bytes` is the size of its full packets, `base_delay` the one-way
    /// propagation delay from sender to receiver.
    fn on_flow_start(&mut self, _flow: usize, _now: Time, _base_delay: Duration) {}

    /// A sender put a packet on the wire.
    fn on_send(&mut self, _flow: usize, _now: Time, _bytes: Bytes, _retransmission: bool) {}

    /// A packet vanished on the way to the receiver.
    fn on_drop(&mut self, _flow: usize, _now: Time, _bytes: Bytes, _cause: DropCause) {}

    /// A packet left the bottleneck link; `queued` is what still waits behind it, and `sojourn`
    /// is how long it was in queue and on the link.
    fn on_bottleneck_exit(&mut self, _flow: usize, _now: Time, _queued: Bytes, _sojourn: Duration) {
    }

    /// A packet reached the receiver.
    fn on_deliver(&mut self, _delivery: &Delivery) {}

    /// A sender processed an acknowledgment.
    fn on_ack(&mut self, _ack: &AckSeen<'_>) {}

    /// A sender declared `bytes` in `packets` packets lost.
    fn on_loss(&mut self, _flow: usize, _now: Time, _packets: u64, _bytes: Bytes) {}

    /// A flow's retransmission timer (RTO, PTO) fired.
    fn on_timeout(&mut self, _flow: usize, _now: Time) {}

    /// A sized flow's data has all been acknowledged.
    fn on_flow_complete(&mut self, _flow: usize, _now: Time) {}
}

/// Observes nothing.
impl Probe for () {}
