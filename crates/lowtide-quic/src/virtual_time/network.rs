//! The simulator's links and queues as s2n-quic's network.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::engine::access::AccessLink;
use lowtide_sim::engine::derive_seed;
use lowtide_sim::engine::pipe::{Offer, Pipe};
use lowtide_sim::probe::{Delivery, DropCause, Sent};
use lowtide_sim::{Probe, SimConfig};
use s2n_quic::provider::io::testing::network::{Buffers, Network, Packet};
use s2n_quic::provider::io::testing::{spawn, time};

use crate::clock::Clock;

/// IPv4 and UDP headers, which links and queues carry too.
pub(crate) const HEADERS: u64 = 28;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// From a sender of data to its receiver.
    Forward,
    Reverse,
}

/// Index of a packet in the table.
type Slot = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The link of this way has sent a packet.
    Exit(Way),
    /// A packet reaches the queue.
    Enter(Way, Slot),
    /// A packet reaches its host.
    Arrive(Way, Slot),
}

#[derive(Debug)]
struct InFlight {
    packet: Packet,
    flow: usize,
    bytes: Bytes,
    sent_at: Time,
}

/// What a flow's packets pass besides the shared path.
#[derive(Debug)]
struct FlowPath {
    address: SocketAddr,
    sender: AccessLink,
    receiver: AccessLink,
    /// Delays of the reverse way outside the shared path.
    before_reverse: lowtide_cc::units::Duration,
    after_reverse: lowtide_cc::units::Duration,
    /// Bytes declared lost and not sent again yet.
    owed: Bytes,
}

/// The network, and what watches it.
pub(crate) struct Dumbbell<P> {
    forward: Pipe<Slot>,
    reverse: Pipe<Slot>,
    flows: Vec<FlowPath>,
    packets: Vec<Option<InFlight>>,
    free: Vec<Slot>,
    /// Time, order of insertion, event.
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    inserted: u64,
    clock: Clock,
    /// The next time at which the executor will look here.
    wakes_at: Option<Time>,
    pub(crate) bottleneck_packets: u64,
    pub(crate) probe: P,
}

impl<P: Probe> Dumbbell<P> {
    pub(crate) fn new(config: &SimConfig, probe: P) -> Self {
        let base_rtt = config.base_rtt(&config.flows[0].access);
        Self {
            // The seeds of the simulator's own engine: the same losses and jitter.
            forward: Pipe::new(&config.forward, base_rtt, derive_seed(config.seed, 1)),
            reverse: Pipe::new(&config.reverse, base_rtt, derive_seed(config.seed, 2)),
            flows: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            events: BinaryHeap::new(),
            inserted: 0,
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

    /// Adds a flow whose sender has `address`.
    pub(crate) fn add_flow(&mut self, address: SocketAddr, config: &SimConfig) {
        let access = config.flows[self.flows.len()].access;
        self.flows.push(FlowPath {
            address,
            sender: AccessLink::new(access.sender_rate, access.sender_delay),
            receiver: AccessLink::new(access.receiver_rate, access.receiver_delay),
            before_reverse: access.receiver_delay,
            after_reverse: access.sender_delay,
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

    fn schedule(&mut self, time: Time, event: Event) {
        self.inserted += 1;
        self.events.push(Reverse((time, self.inserted, event)));
    }

    /// A host sends a packet.
    fn submit(&mut self, now: Time, packet: Packet) {
        let source: SocketAddr = packet.path.local_address.0.into();
        let target: SocketAddr = packet.path.remote_address.0.into();
        let flow_of = |address| self.flows.iter().position(|f| f.address == address);
        let (way, flow) = match (flow_of(source), flow_of(target)) {
            (Some(flow), _) => (Way::Forward, flow),
            (None, Some(flow)) => (Way::Reverse, flow),
            (None, None) => return,
        };
        let bytes = Bytes::new(packet.payload.len() as u64 + HEADERS);
        let in_flight = InFlight {
            packet,
            flow,
            bytes,
            sent_at: now,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.packets.push(None);
            self.packets.len() - 1
        });
        self.packets[slot] = Some(in_flight);
        let path = &mut self.flows[flow];
        let entry = match way {
            Way::Forward => path.sender.pass(now, bytes),
            Way::Reverse => now + path.before_reverse,
        };
        self.schedule(entry, Event::Enter(way, slot));
    }

    fn drop_packet(&mut self, now: Time, way: Way, slot: Slot, cause: DropCause) {
        self.free.push(slot);
        if let Some(lost) = self.packets[slot].take()
            && way == Way::Forward
        {
            self.probe.on_drop(lost.flow, now, lost.bytes, cause);
        }
    }

    fn enter(&mut self, now: Time, way: Way, slot: Slot) {
        let Some(bytes) = self.packets[slot].as_ref().map(|p| p.bytes) else {
            return;
        };
        let pipe = match way {
            Way::Forward => &mut self.forward,
            Way::Reverse => &mut self.reverse,
        };
        match pipe.offer(now, slot, bytes) {
            Offer::Serving(Time::MAX) | Offer::Queued => {}
            Offer::Serving(until) => self.schedule(until, Event::Exit(way)),
            Offer::Dropped => self.drop_packet(now, way, slot, DropCause::QueueFull),
        }
    }

    fn exit(&mut self, now: Time, way: Way) {
        let pipe = match way {
            Way::Forward => &mut self.forward,
            Way::Reverse => &mut self.reverse,
        };
        let Some(exit) = pipe.exit(now) else {
            return;
        };
        let queued = pipe.queued();
        if let Some(next) = exit.next_exit.filter(|next| *next != Time::MAX) {
            self.schedule(next, Event::Exit(way));
        }
        let Some(flow) = self.packets[exit.packet].as_ref().map(|p| p.flow) else {
            return;
        };
        if way == Way::Forward {
            self.bottleneck_packets += 1;
            self.probe
                .on_bottleneck_exit(flow, now, queued, exit.sojourn);
        }
        let Some(arrival) = exit.arrival else {
            self.drop_packet(now, way, exit.packet, DropCause::LinkLoss);
            return;
        };
        let path = &mut self.flows[flow];
        let arrival = match way {
            Way::Forward => path.receiver.pass(arrival, exit.bytes),
            Way::Reverse => arrival + path.after_reverse,
        };
        self.schedule(arrival, Event::Arrive(way, exit.packet));
    }

    fn arrive(&mut self, now: Time, way: Way, slot: Slot) -> Option<Packet> {
        self.free.push(slot);
        let arrived = self.packets[slot].take()?;
        if way == Way::Forward {
            self.probe.on_deliver(&Delivery {
                flow: arrived.flow,
                now,
                sent_at: arrived.sent_at,
                bytes: arrived.bytes,
                first_copy: true,
                estimator: None,
            });
        }
        let mut packet = arrived.packet;
        packet.switch();
        Some(packet)
    }

    /// Does all that is due; the next time at which something is.
    fn advance(&mut self, now: Time, arrived: &mut Vec<Packet>) -> Option<Time> {
        while let Some(&Reverse((time, _, event))) = self.events.peek() {
            if time > now {
                return Some(time);
            }
            self.events.pop();
            match event {
                Event::Exit(way) => self.exit(time, way),
                Event::Enter(way, slot) => self.enter(time, way, slot),
                Event::Arrive(way, slot) => arrived.extend(self.arrive(time, way, slot)),
            }
        }
        None
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

    /// The network, once nobody else has it.
    pub(crate) fn into_inner(self) -> Option<Dumbbell<P>> {
        let mutex = Arc::into_inner(self.0)?;
        Some(mutex.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<P: Probe + Send + 'static> Network for Shared<P> {
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
        for packet in sent {
            network.submit(now, packet);
        }
        let mut arrived = Vec::new();
        let next = network.advance(now, &mut arrived);
        if let Some(next) = next
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
