//! What can be watched of a controller and its host, in real connections and simulated ones.

use std::fmt;
use std::sync::Arc;

use lowtide_cc::Controller;
use lowtide_cc::controller::{AckedPacket, Feedback, LostPacket, PacketSent};
use lowtide_cc::units::{Bytes, Duration, Time};

/// What a host knows of RBBR's extension. What the controller makes of the reports is in
/// [`Snapshot::feedback`](lowtide_cc::controller::Snapshot::feedback).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtensionSeen {
    /// Whether both ends speak it; `None` where that is not known, or nothing is negotiated.
    pub negotiated: Option<bool>,
    /// Reports that the controller was given.
    pub reports: u64,
    /// The newest of them.
    pub newest: Option<Feedback>,
}

impl ExtensionSeen {
    /// How old the newest report is; `None` before the first.
    #[must_use]
    pub fn age(&self, now: Time) -> Option<Duration> {
        self.newest.map(|feedback| now.since(feedback.now))
    }
}

/// A controller has processed an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct AckSeen<'a> {
    /// When, on the host's clock (in QUIC stacks since the path's first packet).
    pub now: Time,
    /// The RTT sample it gave.
    pub rtt: Option<Duration>,
    /// The packets that it newly acknowledged.
    pub packets: &'a [AckedPacket],
    /// The transport's smoothed RTT (RFC 9002 §5.3).
    pub smoothed_rtt: Duration,
    /// Bytes in flight afterwards.
    pub inflight: Bytes,
    /// RBBR's extension: whether it is spoken, and what the peer has reported.
    pub extension: ExtensionSeen,
    /// The controller after it; `None` where a flow has none, as the simulator's oracle.
    pub controller: Option<&'a dyn Controller>,
}

/// Packets were declared lost. The controller has been told.
#[derive(Clone, Copy, Debug)]
pub struct LossSeen<'a> {
    /// When, on the host's clock.
    pub now: Time,
    /// The packets.
    pub packets: &'a [LostPacket],
    /// Their total size.
    pub bytes: Bytes,
    /// Bytes in flight without them.
    pub inflight: Bytes,
}

/// What a controller has been told of.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// Packets were declared lost.
    Loss(LossSeen<'a>),
    /// When the peer reported packets newly marked ECN-CE, and how many.
    Marked(Time, u64),
    /// An acknowledgment.
    Ack(AckSeen<'a>),
}

impl Observation<'_> {
    /// Tells an observer.
    pub fn show(&self, observer: &dyn Observer) {
        match self {
            Self::Loss(loss) => observer.on_loss(loss),
            Self::Marked(now, packets) => observer.on_marked(*now, *packets),
            Self::Ack(ack) => observer.on_ack(ack),
        }
    }
}

/// Watches a connection's controller. Called where the transport runs: be quick.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A packet left that counts towards bytes in flight.
    fn on_sent(&self, _sent: &PacketSent) {}

    /// An acknowledgment was processed.
    fn on_ack(&self, _ack: &AckSeen<'_>) {}

    /// The peer reported so many packets newly marked ECN-CE. The controller has been told.
    fn on_marked(&self, _now: Time, _packets: u64) {}

    /// Packets were declared lost. The controller has been told.
    fn on_loss(&self, _loss: &LossSeen<'_>) {}
}

/// Gives each connection's controller its observer, by the connection's number where the host knows
/// it.
pub type Observers = Arc<dyn Fn(Option<u64>) -> Option<Arc<dyn Observer>> + Send + Sync>;
