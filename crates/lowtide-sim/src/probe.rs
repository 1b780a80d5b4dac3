//! What can be observed of a running simulation.

use lowtide_cc::controllers::rbbr;
use lowtide_cc::units::{Bytes, Duration, Time};
pub use lowtide_host::{AckSeen, ExtensionSeen, LossSeen};

pub use crate::network::{Departure, DropCause};

/// A sender put a packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Index of the flow in [`SimConfig::flows`](crate::SimConfig::flows).
    pub flow: usize,
    /// When.
    pub now: Time,
    /// Number of the transmission, from 0; retransmissions get new ones.
    pub number: u64,
    /// The packet's size.
    pub bytes: Bytes,
    /// Whether its data was sent before.
    pub retransmission: bool,
}

/// A data packet reached its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Index of the flow in [`SimConfig::flows`](crate::SimConfig::flows).
    pub flow: usize,
    /// When it arrived.
    pub now: Time,
    /// When it was sent.
    pub sent_at: Time,
    /// What propagation took beyond the least of the flow's way; see
    /// [`Arrival`](crate::network::Arrival).
    pub detour: Duration,
    /// The packet's size.
    pub bytes: Bytes,
    /// Whether the receiver had not seen this data before.
    pub first_copy: bool,
    /// The receiver's bandwidth estimator after this packet, where it has one.
    pub estimator: Option<&'a rbbr::Receiver>,
}

/// Watches a simulation. Every method has an empty default; an unused one costs nothing.
///
/// Flows are announced first; after that, times never go back from one call to the next.
pub trait Probe {
    /// A flow will begin at `start`; its data needs `to_link` to reach the bottleneck and
    /// `from_link` at least from there to the receiver, queue and transmission not counted.
    fn on_flow_start(
        &mut self,
        _flow: usize,
        _start: Time,
        _to_link: Duration,
        _from_link: Duration,
    ) {
    }

    /// A sender put a packet on the wire.
    fn on_send(&mut self, _sent: &Sent) {}

    /// A packet vanished on the way to the receiver.
    fn on_drop(&mut self, _flow: usize, _now: Time, _bytes: Bytes, _cause: DropCause) {}

    /// A packet left the bottleneck link.
    fn on_bottleneck_exit(&mut self, _exit: &Departure) {}

    /// A packet reached the receiver.
    fn on_deliver(&mut self, _delivery: &Delivery<'_>) {}

    /// All of a video's frame, and of those before it, has arrived; the application wrote it at
    /// `written_at`.
    fn on_frame(&mut self, _flow: usize, _written_at: Time, _now: Time) {}

    /// A sender processed an acknowledgment.
    fn on_ack(&mut self, _flow: usize, _ack: &AckSeen<'_>) {}

    /// A sender declared packets lost.
    fn on_loss(&mut self, _flow: usize, _loss: &LossSeen<'_>) {}

    /// A flow's retransmission timer (RTO, PTO) fired.
    fn on_timeout(&mut self, _flow: usize, _now: Time) {}

    /// A sized flow's data has all been acknowledged.
    fn on_flow_complete(&mut self, _flow: usize, _now: Time) {}
}

/// Observes nothing.
impl Probe for () {}

macro_rules! forward {
    ($($method:ident($($arg:ident: $type:ty),*);)*) => {
        impl<A: Probe, B: Probe> Probe for (A, B) {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                self.0.$method($($arg),*);
                self.1.$method($($arg),*);
            })*
        }

        impl<P: Probe> Probe for Option<P> {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                if let Some(probe) = self {
                    probe.$method($($arg),*);
                }
            })*
        }

        impl<P: Probe> Probe for Vec<P> {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                for probe in self {
                    probe.$method($($arg),*);
                }
            })*
        }

        impl<P: Probe + ?Sized> Probe for Box<P> {
            $(#[inline]
            fn $method(&mut self, $($arg: $type),*) {
                (**self).$method($($arg),*);
            })*
        }
    };
}

forward! {
    on_flow_start(flow: usize, start: Time, to_link: Duration, from_link: Duration);
    on_send(sent: &Sent);
    on_drop(flow: usize, now: Time, bytes: Bytes, cause: DropCause);
    on_bottleneck_exit(exit: &Departure);
    on_deliver(delivery: &Delivery<'_>);
    on_frame(flow: usize, written_at: Time, now: Time);
    on_ack(flow: usize, ack: &AckSeen<'_>);
    on_loss(flow: usize, loss: &LossSeen<'_>);
    on_timeout(flow: usize, now: Time);
    on_flow_complete(flow: usize, now: Time);
}
