//! What carries whole QUIC stacks in virtual time: the simulator's network for packets that others
//! make, and what a configuration must be like.

mod shared;

use std::ops::RangeInclusive;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Time};

pub use self::shared::{Shared, Timed};
use crate::network::{Arrival, Departure, Dropped, Packet, Tap};
use crate::probe::{Delivery, Sent};
use crate::transport::{EcnFeedback, Pacing, TransportConfig};
use crate::{Direction, Network, Outcome, Probe, SenderKind, SimConfig};

/// IPv4 and UDP headers, which links and queues carry too.
pub const HEADERS: Bytes = Bytes::new(28);

/// Bytes on the wire that a full packet of a QUIC stack may have.
pub const PACKET_SIZES: RangeInclusive<u64> = 1228..=65_535;

/// The most flows of a run: each has two endpoints with buffers of their own.
pub const MAX_FLOWS: usize = 256;

/// Why a QUIC stack cannot carry a configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The oracle and the causal bound are no congestion controllers.
    #[error("the oracle and the causal bound cannot send over QUIC")]
    Bound,
    /// The controller is part of another stack.
    #[error("{0} is part of another QUIC stack")]
    OtherStack(&'static str),
    /// The flows are not QUIC.
    #[error("the QUIC host has no TCP")]
    NotQuic,
    /// A flow's host does not pace at the controller's rate.
    #[error("the QUIC host paces at the controller's rate")]
    Pacing,
    /// A flow's receiver reports ECN as TCP's do.
    #[error("QUIC reports ECN by counts, not by TCP's ECN-Echo")]
    ClassicEcn,
    /// No flows.
    #[error("a run needs at least one flow")]
    NoFlows,
    /// More than [`MAX_FLOWS`].
    #[error("the QUIC host carries at most {MAX_FLOWS} flows, not {0}")]
    TooManyFlows(usize),
    /// Outside [`PACKET_SIZES`].
    #[error("QUIC packets are 1228 B to 65535 B on the wire, not {0}")]
    PacketSize(Bytes),
    /// The stack closed a flow's connection before the run was over.
    #[error("flow {flow}: the connection was closed after {at}: {reason}")]
    Closed {
        /// The flow.
        flow: usize,
        /// When the first of its ends closed it.
        at: Time,
        /// Why, in the stack's words.
        reason: String,
    },
    /// The stack refused something.
    #[error("{0}")]
    Setup(Box<dyn std::error::Error + Send + Sync>),
}

/// The size of a full packet on the wire, of a configuration that a QUIC stack can carry.
///
/// # Errors
/// When it cannot.
pub fn check(config: &SimConfig) -> Result<u16, Error> {
    if config.flows.is_empty() {
        return Err(Error::NoFlows);
    }
    if config.flows.len() > MAX_FLOWS {
        return Err(Error::TooManyFlows(config.flows.len()));
    }
    for flow in &config.flows {
        if flow.sender.knows_link() {
            return Err(Error::Bound);
        }
        if matches!(flow.transport, TransportConfig::Tcp { .. }) {
            return Err(Error::NotQuic);
        }
        if flow.pacing != Pacing::Rate {
            return Err(Error::Pacing);
        }
        if flow.ecn == EcnFeedback::Classic {
            return Err(Error::ClassicEcn);
        }
    }
    Some(config.packet_size.get())
        .filter(|size| PACKET_SIZES.contains(size))
        .and_then(|size| u16::try_from(size).ok())
        .ok_or(Error::PacketSize(config.packet_size))
}

/// The stack's controller that a flow asks for; `None`: one of ours.
///
/// # Errors
/// When it is not among those of this stack.
pub fn stock_of(
    sender: &SenderKind,
    known: &[lowtide_host::Stock],
) -> Result<Option<&'static str>, Error> {
    match sender {
        SenderKind::Stock(stock) if known.contains(stock) => Ok(Some(stock.name)),
        SenderKind::Stock(stock) => Err(Error::OtherStack(stock.name)),
        _ => Ok(None),
    }
}

/// A packet of a stack on its way.
#[derive(Debug)]
struct InFlight<T> {
    payload: T,
    sent_at: Time,
}

/// A packet of a stack at its other end.
#[derive(Debug)]
pub struct Received<T> {
    /// The packet's flow.
    pub flow: usize,
    /// With its data; otherwise it is on the way back.
    pub is_forward: bool,
    /// The packet's codepoint now.
    pub ecn: Ecn,
    /// What was handed in.
    pub payload: T,
}

/// A flow as the network sees it.
#[derive(Debug)]
struct Flow {
    /// Which way its data goes.
    direction: Direction,
    /// Bytes declared lost and not sent again yet.
    owed: Bytes,
}

/// Tells the probe what the network does with data.
struct ProbeTap<'a, P> {
    probe: &'a mut P,
    flows: &'a [Flow],
    bottleneck_packets: &'a mut u64,
}

impl<T, P: Probe> Tap<InFlight<T>> for ProbeTap<'_, P> {
    fn on_departure(&mut self, d: &Departure) {
        if d.direction == Direction::Forward {
            *self.bottleneck_packets += 1;
            self.probe.on_bottleneck_exit(d);
        }
    }

    fn on_drop(&mut self, dropped: Dropped<InFlight<T>>) {
        let Packet { flow, bytes, .. } = dropped.packet;
        if dropped.direction == self.flows[flow as usize].direction {
            self.probe
                .on_drop(flow as usize, dropped.at, bytes, dropped.cause);
        }
    }
}

/// The network between the stacks of a configuration's flows, and what watches it. `T`: what a stack
/// makes packets of.
#[derive(Debug)]
pub struct Dumbbell<T, P> {
    network: Network<InFlight<T>>,
    flows: Vec<Flow>,
    bottleneck_packets: u64,
    /// The probe.
    pub probe: P,
}

impl<T, P: Probe> Dumbbell<T, P> {
    /// An idle network; the probe is told of all flows.
    pub fn new(config: &SimConfig, mut probe: P) -> Self {
        let mut flows = Vec::with_capacity(config.flows.len());
        for (index, flow) in config.flows.iter().enumerate() {
            let from_link = config.from_link(&flow.access);
            probe.on_flow_start(index, flow.start, flow.access.sender_delay, from_link);
            flows.push(Flow {
                direction: flow.access.direction,
                owed: Bytes::ZERO,
            });
        }
        Self {
            network: Network::new(&config.network()),
            flows,
            bottleneck_packets: 0,
            probe,
        }
    }

    /// When something happens next, if no other packet comes.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.network.next_event()
    }

    /// A flow's sender sends a packet of `bytes` that counts as in flight.
    pub fn on_send(&mut self, now: Time, flow: usize, number: u64, bytes: Bytes) {
        let bytes = bytes + HEADERS;
        let Some(path) = self.flows.get_mut(flow) else {
            return;
        };
        // Which bytes are sent again stacks do not show: the next ones are taken for them.
        let retransmission = !path.owed.is_zero();
        path.owed -= bytes;
        self.probe.on_send(&Sent {
            flow,
            now,
            number,
            bytes,
            retransmission,
        });
    }

    /// A flow's sender declared data lost, which it will send again.
    pub fn owe(&mut self, flow: usize, bytes: Bytes) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.owed += bytes;
        }
    }

    /// A stack sends a packet of `bytes` with its headers. All that happens before `now` has happened.
    pub fn submit(&mut self, now: Time, bytes: Bytes, packet: Received<T>) {
        let Received {
            flow,
            is_forward,
            ecn,
            payload,
        } = packet;
        let data = self.flows[flow].direction;
        let direction = if is_forward { data } else { data.back() };
        let packet = Packet {
            flow: flow as u32,
            bytes,
            ecn,
            payload: InFlight {
                payload,
                sent_at: now,
            },
        };
        let mut tap = ProbeTap {
            probe: &mut self.probe,
            flows: &self.flows,
            bottleneck_packets: &mut self.bottleneck_packets,
        };
        self.network.send(now, direction, packet, &mut tap);
    }

    /// Lets happen what happens until `until`, up to the next arrival at a stack.
    pub fn advance(&mut self, until: Time) -> Option<Received<T>> {
        let mut tap = ProbeTap {
            probe: &mut self.probe,
            flows: &self.flows,
            bottleneck_packets: &mut self.bottleneck_packets,
        };
        let arrival: Arrival<InFlight<T>> = self.network.advance(until, &mut tap)?;
        let Packet {
            flow,
            bytes,
            ecn,
            payload,
        } = arrival.packet;
        let flow = flow as usize;
        let is_forward = arrival.direction == self.flows[flow].direction;
        if is_forward {
            self.probe.on_deliver(&Delivery {
                flow,
                now: arrival.at,
                sent_at: payload.sent_at,
                detour: arrival.detour,
                bytes,
                first_copy: true,
                estimator: None,
            });
        }
        Some(Received {
            flow,
            is_forward,
            ecn,
            payload: payload.payload,
        })
    }

    /// The end of the run.
    pub fn finish(self) -> (Outcome, P) {
        let outcome = Outcome {
            bottleneck_packets: self.bottleneck_packets,
        };
        (outcome, self.probe)
    }
}
