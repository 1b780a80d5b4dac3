//! The simulator's network between s2n-quic's hosts.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::network::{Arrival, Departure, Dropped, Packet, Tap};
use lowtide_sim::probe::{Delivery, Sent};
use lowtide_sim::{Direction, Network, Probe, SimConfig};
use s2n_quic::provider::io::testing::network::{self as s2n, Buffers};
use s2n_quic::provider::io::testing::{spawn, time};
use s2n_quic_core::inet::ExplicitCongestionNotification;

use crate::clock::Clock;

/// IPv4 and UDP headers, which links and queues carry too.
const HEADERS: u64 = 28;

/// A packet of s2n-quic on its way.
#[derive(Debug)]
struct InFlight {
    packet: s2n::Packet,
    sent_at: Time,
}

/// A flow as the network sees it.
#[derive(Debug)]
struct Flow {
    /// Its sender's.
    address: SocketAddr,
    /// Bytes declared lost and not sent again yet.
    owed: Bytes,
}

/// Tells the probe what the network does with data.
struct Watch<'a, P> {
    probe: &'a mut P,
    bottleneck_packets: &'a mut u64,
}

impl<P: Probe> Tap<InFlight> for Watch<'_, P> {
    fn on_departure(&mut self, d: &Departure) {
        if d.direction == Direction::Forward {
            *self.bottleneck_packets += 1;
            self.probe.on_bottleneck_exit(d);
        }
    }

    fn on_drop(&mut self, dropped: Dropped<InFlight>) {
        if dropped.direction == Direction::Forward {
            let Packet { flow, bytes, .. } = dropped.packet;
            self.probe
                .on_drop(flow as usize, dropped.at, bytes, dropped.cause);
        }
    }
}

/// The network, and what watches it.
pub(crate) struct Dumbbell<P> {
    network: Network<InFlight>,
    flows: Vec<Flow>,
    clock: Clock,
    /// The next time at which the executor will look here.
    wakes_at: Option<Time>,
    pub(crate) bottleneck_packets: u64,
    pub(crate) probe: P,
}

impl<P: Probe> Dumbbell<P> {
    pub(crate) fn new(config: &SimConfig, probe: P) -> Self {
        Self {
            network: Network::new(&config.network()),
            flows: Vec::new(),
            clock: Clock::default(),
            wakes_at: None,
            bottleneck_packets: 0,
            probe,
        }
    }

    /// The time since the first call.
    pub(crate) fn now(&mut self) -> Time {
        self.clock.time(time::now())
    }

    /// The sender of the next of the configuration's flows has `address`.
    pub(crate) fn add_flow(&mut self, address: SocketAddr) {
        self.flows.push(Flow {
            address,
            owed: Bytes::ZERO,
        });
    }

    /// A flow's sender hands a packet to the network.
    pub(crate) fn on_send(&mut self, flow: usize, number: u64, bytes: Bytes) {
        let now = self.now();
        let bytes = bytes + Bytes::new(HEADERS);
        let Some(path) = self.flows.get_mut(flow) else {
            return;
        };
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
    pub(crate) fn owe(&mut self, flow: usize, bytes: Bytes) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.owed += bytes;
        }
    }

    /// A host sends a packet. All that happens before `now` has happened.
    fn submit(&mut self, now: Time, packet: s2n::Packet) {
        let source: SocketAddr = packet.path.local_address.0.into();
        let target: SocketAddr = packet.path.remote_address.0.into();
        let flow_of = |address| self.flows.iter().position(|f| f.address == address);
        let (direction, flow) = match (flow_of(source), flow_of(target)) {
            (Some(flow), _) => (Direction::Forward, flow),
            (None, Some(flow)) => (Direction::Reverse, flow),
            (None, None) => return,
        };
        let packet = Packet {
            flow: flow as u32,
            bytes: Bytes::new(packet.payload.len() as u64 + HEADERS),
            ecn: Ecn::from_bits(packet.ecn as u8),
            payload: InFlight {
                packet,
                sent_at: now,
            },
        };
        let mut watch = Watch {
            probe: &mut self.probe,
            bottleneck_packets: &mut self.bottleneck_packets,
        };
        self.network.send(now, direction, packet, &mut watch);
    }

    fn arrive(&mut self, arrival: Arrival<InFlight>) -> s2n::Packet {
        let Packet {
            flow,
            bytes,
            ecn,
            payload,
        } = arrival.packet;
        if arrival.direction == Direction::Forward {
            self.probe.on_deliver(&Delivery {
                flow: flow as usize,
                now: arrival.at,
                sent_at: payload.sent_at,
                bytes,
                first_copy: true,
                estimator: None,
            });
        }
        let mut packet = payload.packet;
        packet.ecn = ExplicitCongestionNotification::new(ecn.bits());
        packet.switch();
        packet
    }

    /// Does all that is due by `now`.
    fn advance(&mut self, now: Time, arrived: &mut Vec<s2n::Packet>) {
        loop {
            let mut watch = Watch {
                probe: &mut self.probe,
                bottleneck_packets: &mut self.bottleneck_packets,
            };
            let Some(arrival) = self.network.advance(now, &mut watch) else {
                return;
            };
            arrived.push(self.arrive(arrival));
        }
    }
}

/// The network as it is shared between the executor, which drives it, and the run.
pub(crate) struct Shared<P>(Arc<Mutex<Dumbbell<P>>>);

impl<P> Clone for Shared<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P: Probe> Shared<P> {
    pub(crate) fn new(dumbbell: Dumbbell<P>) -> Self {
        Self(Arc::new(Mutex::new(dumbbell)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Dumbbell<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The network, once nothing else refers to it.
    pub(crate) fn into_inner(self) -> Option<Dumbbell<P>> {
        let mutex = Arc::into_inner(self.0)?;
        Some(mutex.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Probe + Send + 'static> s2n::Network for Shared<P> {
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
        let mut network = self.lock();
        let now = network.now();
        let mut done = sent.len();
        let mut arrived = Vec::new();
        network.advance(now, &mut arrived);
        for packet in sent {
            network.submit(now, packet);
        }
        network.advance(now, &mut arrived);
        if let Some(next) = network.network.next_event()
            && network.wakes_at.is_none_or(|at| next < at)
        {
            network.wakes_at = Some(next);
            // Up to the clock's next microsecond.
            let wait = next.since(now).as_nanos().next_multiple_of(1_000);
            let shared = self.clone();
            spawn(async move {
                time::delay(core::time::Duration::from_nanos(wait)).await;
                shared.lock().wakes_at = None;
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
