//! The simulator's network between s2n-quic's hosts.

use std::net::SocketAddr;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::stack::{self, Dumbbell, HEADERS, Received, Timed};
use lowtide_sim::{Outcome, Probe, SimConfig};
use s2n_quic::provider::io::testing::network::{self as s2n, Buffers};
use s2n_quic::provider::io::testing::{spawn, time};
use s2n_quic_core::inet::ExplicitCongestionNotification;

use crate::clock::Clock;

/// The network, and what s2n-quic needs around it.
pub(crate) struct Hosts<P> {
    pub(crate) dumbbell: Dumbbell<s2n::Packet, P>,
    /// The senders' addresses.
    addresses: Vec<SocketAddr>,
    clock: Clock,
    /// The next time at which the executor will look here.
    wakes_at: Option<Time>,
    /// The first connection that failed.
    closed: Option<stack::Error>,
    /// The time of the run is over, and its endpoints are taken down.
    is_over: bool,
}

impl<P: Probe> Hosts<P> {
    pub(crate) fn new(config: &SimConfig, probe: P) -> Self {
        Self {
            dumbbell: Dumbbell::new(config, probe),
            addresses: Vec::new(),
            clock: Clock::default(),
            wakes_at: None,
            closed: None,
            is_over: false,
        }
    }

    /// The connection of a flow failed at a time.
    pub(crate) fn close(&mut self, flow: usize, at: Time, reason: String) {
        if !self.is_over {
            self.closed
                .get_or_insert(stack::Error::Closed { flow, at, reason });
        }
    }

    /// The time of the run is over. Connections that end from now on have not failed.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// What the run has brought.
    pub(crate) fn finish(self) -> Result<(Outcome, P), stack::Error> {
        match self.closed {
            Some(error) => Err(error),
            None => Ok(self.dumbbell.finish()),
        }
    }

    /// The sender of the next of the configuration's flows has `address`.
    pub(crate) fn add_flow(&mut self, address: SocketAddr) {
        self.addresses.push(address);
    }

    /// A host sends a packet. All that happens before `now` has happened.
    fn submit(&mut self, now: Time, payload: s2n::Packet) {
        let source: SocketAddr = payload.path.local_address.0.into();
        let target: SocketAddr = payload.path.remote_address.0.into();
        let flow_of = |address| self.addresses.iter().position(|a| *a == address);
        let (flow, is_forward) = match (flow_of(source), flow_of(target)) {
            (Some(flow), _) => (flow, true),
            (None, Some(flow)) => (flow, false),
            (None, None) => return,
        };
        let bytes = Bytes::new(payload.payload.len() as u64) + HEADERS;
        let packet = Received {
            flow,
            is_forward,
            ecn: Ecn::from_bits(payload.ecn as u8),
            payload,
        };
        self.dumbbell.submit(now, bytes, packet);
    }

    /// Does all that is due by `now`.
    fn advance(&mut self, now: Time, arrived: &mut Vec<s2n::Packet>) {
        while let Some(received) = self.dumbbell.advance(now) {
            let mut packet = received.payload;
            packet.ecn = ExplicitCongestionNotification::new(received.ecn.bits());
            packet.switch();
            arrived.push(packet);
        }
    }
}

/// The network as the executor and the run share it.
pub(crate) type Shared<P> = stack::Shared<Hosts<P>>;

impl<P: Probe + Send + 'static> Timed for Hosts<P> {
    type Packet = s2n::Packet;
    type Probe = P;

    /// The time since the first call.
    fn now(&mut self) -> Time {
        self.clock.time(time::now())
    }

    fn dumbbell(&mut self) -> &mut Dumbbell<s2n::Packet, P> {
        &mut self.dumbbell
    }
}

/// The network as the executor drives it.
pub(crate) struct Driven<P>(pub(crate) Shared<P>);

impl<P: Probe + Send + 'static> s2n::Network for Driven<P> {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let mut sent = Vec::new();
        buffers.drain_pending_transmissions(|packet| {
            sent.push(packet);
            Ok(())
        });
        // The order in which s2n-quic empties its hosts differs from run to run.
        sent.sort_by_key(|packet| {
            let source: SocketAddr = packet.path.local_address.0.into();
            source
        });
        let mut network = self.0.lock();
        let now = network.now();
        let mut done = sent.len();
        let mut arrived = Vec::new();
        network.advance(now, &mut arrived);
        for packet in sent {
            network.submit(now, packet);
        }
        network.advance(now, &mut arrived);
        if let Some(next) = network.dumbbell.next_event()
            && network.wakes_at.is_none_or(|at| next < at)
        {
            network.wakes_at = Some(next);
            // Up to the clock's next microsecond.
            let wait = next.since(now).as_nanos().next_multiple_of(1_000);
            let shared = self.0.clone();
            spawn(async move {
                time::delay(core::time::Duration::from_nanos(wait)).await;
                let mut network = shared.lock();
                // Unless an earlier one has been set since: else each would set another for good.
                if network.wakes_at == Some(next) {
                    network.wakes_at = None;
                }
            });
            // Counts as work, or time would pass before the task has begun to wait.
            done += 1;
        }
        drop(network);
        done += arrived.len();
        for packet in arrived {
            buffers.rx(*packet.path.local_address, |queue| queue.enqueue(packet));
        }
        done
    }
}
