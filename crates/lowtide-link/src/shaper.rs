//! One direction of the emulated link, without clock and sockets.

use std::collections::VecDeque;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::network::{Departure, DropCause, Dropped, Packet, Tap};
use lowtide_sim::probe::{Delivery, Sent};
use lowtide_sim::{Direction, Network, Probe};

use crate::flow::FLOWS;
use crate::path::PathConfig;
use crate::summary::Counts;

/// Memory that the packets of one direction may take. A queue without limit would otherwise grow
/// as long as packets arrive.
const MEMORY: u64 = 256 << 20;

/// What a stored packet takes beside its bytes, roughly.
const PER_PACKET: u64 = 128;

#[derive(Debug)]
struct Stored<D> {
    bytes: Vec<u8>,
    /// What it counts as on the link.
    size: Bytes,
    /// The ECN bits that it came with.
    ecn: Ecn,
    destination: Option<D>,
    arrived: Time,
}

/// A packet that comes to the link.
#[derive(Debug)]
pub struct Incoming<'a, D> {
    /// The packet's bytes.
    pub packet: &'a [u8],
    /// Size of the packet on the link.
    pub size: Bytes,
    /// The packet's ECN bits.
    pub ecn: Ecn,
    /// The packet's flow, below 1024, for queues that tell flows apart.
    pub flow: u32,
    /// Where it goes.
    pub destination: D,
}

/// A packet to be sent on now.
#[derive(Debug)]
pub struct Release<'a, D> {
    /// What it is, as it came.
    pub packet: &'a mut [u8],
    /// The ECN bits that it is to have now.
    pub ecn: Ecn,
    /// Where it goes.
    pub destination: &'a D,
    /// When it should have been sent on, by the link's model.
    pub due: Time,
}

/// One direction of the emulated link: the packets in its queue, on it, and in the delay behind it.
///
/// What the model does happens at the times that the model gives, however late it is looked at, so
/// that lateness never adds up. `D` says where a packet goes. The probe `P` sees all packets as flow
/// number 0, or by their ports' flows ([`PathConfig::ports`]), at the model's times.
#[derive(Debug)]
pub struct Shaper<D, P = ()> {
    /// The whole network, of which one direction is used: directions have nothing in common.
    network: Network<Slot>,
    direction: Direction,
    /// Packets that have arrived by the model but have not been sent on, with the time at which
    /// they are due, and their ECN bits by then.
    due: VecDeque<(Time, Ecn, Slot)>,
    inside: Inside<D, P>,
}

/// Index of a stored packet.
type Slot = u32;

/// The packets in the network. Counts what the network does, tells the probe, and frees what is dropped.
#[derive(Debug)]
struct Inside<D, P> {
    stored: Store<D>,
    counts: Counts,
    probe: P,
    /// Whether the probe is told of flows one by one.
    by_flow: bool,
}

impl<D, P> Inside<D, P> {
    /// What the probe calls a flow.
    fn shown(&self, flow: u32) -> u32 {
        if self.by_flow { flow } else { 0 }
    }
}

impl<D, P: Probe> Tap<Slot> for Inside<D, P> {
    fn on_departure(&mut self, departure: &Departure) {
        self.counts.queue_delay.record(departure.sojourn);
        let flow = self.shown(departure.flow);
        let departure = Departure { flow, ..*departure };
        self.probe.on_bottleneck_exit(&departure);
    }

    fn on_drop(&mut self, dropped: Dropped<Slot>) {
        let summary = &mut self.counts.summary;
        match dropped.cause {
            DropCause::QueueFull | DropCause::Policed => summary.dropped_queue_packets += 1,
            DropCause::Managed => summary.dropped_managed_packets += 1,
            DropCause::LinkLoss => summary.lost_packets += 1,
        }
        let Dropped {
            at, cause, packet, ..
        } = dropped;
        let flow = self.shown(packet.flow) as usize;
        self.probe.on_drop(flow, at, packet.bytes, cause);
        self.stored.free(packet.payload);
    }
}

impl<D, P: Probe> Shaper<D, P> {
    /// An empty one; its time starts at zero.
    #[must_use]
    pub fn new(path: &PathConfig, direction: Direction, mut probe: P) -> Self {
        let network = path.network();
        let behind = network.pipe(direction).least_delay();
        for flow in 0..path.ports.map_or(1, |ports| usize::from(ports.count)) {
            probe.on_flow_start(flow, Time::ZERO, Duration::ZERO, behind);
        }
        Self {
            network: Network::new(&network),
            direction,
            due: VecDeque::new(),
            inside: Inside {
                stored: Store::new(),
                counts: Counts::default(),
                probe,
                by_flow: path.ports.is_some(),
            },
        }
    }

    /// A packet arrives. `now` never decreases from call to call.
    pub fn offer(&mut self, now: Time, incoming: Incoming<'_, D>) {
        self.settle(now);
        let Incoming {
            size, ecn, flow, ..
        } = incoming;
        let inside = &mut self.inside;
        let seen = inside.shown(flow) as usize;
        let summary = &mut inside.counts.summary;
        inside.probe.on_send(&Sent {
            flow: seen,
            now,
            number: summary.offered_packets,
            bytes: size,
            retransmission: false,
        });
        summary.offered_packets += 1;
        summary.offered_bytes = summary.offered_bytes.saturating_add(size.get());
        summary.offered_ecn.count(ecn);
        let Some(slot) = inside.stored.take(now, incoming) else {
            summary.dropped_memory_packets += 1;
            inside.probe.on_drop(seen, now, size, DropCause::QueueFull);
            return;
        };
        let packet = Packet {
            flow: flow % FLOWS,
            bytes: size,
            ecn,
            payload: slot,
        };
        self.network.send(now, self.direction, packet, inside);
    }

    /// Lets everything happen that happens by the model until `now`.
    fn settle(&mut self, now: Time) {
        let inside = &mut self.inside;
        while let Some(arrival) = self.network.advance(now, inside) {
            let flow = inside.shown(arrival.packet.flow) as usize;
            let stored = &inside.stored.packets[arrival.packet.payload as usize];
            inside.probe.on_deliver(&Delivery {
                flow,
                now: arrival.at,
                sent_at: stored.arrived,
                detour: arrival.detour,
                bytes: stored.size,
                first_copy: true,
                estimator: None,
            });
            let Packet { ecn, payload, .. } = arrival.packet;
            self.due.push_back((arrival.at, ecn, payload));
        }
    }

    /// Hands the next packet that is due by `now` to `send`, which returns the moment at which it
    /// was sent on, or `None` when that failed. False when none is due.
    pub fn release(
        &mut self,
        now: Time,
        send: impl FnOnce(Release<'_, D>) -> Option<Time>,
    ) -> bool {
        self.settle(now);
        let Some((due, ecn, slot)) = self.due.pop_front() else {
            return false;
        };
        let Inside { stored, counts, .. } = &mut self.inside;
        let packet = &mut stored.packets[slot as usize];
        let Some(destination) = &packet.destination else {
            return false;
        };
        let sent_at = send(Release {
            packet: &mut packet.bytes,
            ecn,
            destination,
            due,
        });
        match sent_at {
            Some(at) => {
                counts.summary.delivered_packets += 1;
                let bytes = &mut counts.summary.delivered_bytes;
                *bytes = bytes.saturating_add(packet.size.get());
                counts.summary.delivered_ecn.count(ecn);
                let is_marked = ecn == Ecn::Ce && packet.ecn != Ecn::Ce;
                counts.summary.marked_packets += u64::from(is_marked);
                counts.delay.record(at.since(packet.arrived));
                counts.release_error.record(at.since(due));
            }
            None => counts.summary.refused_packets += 1,
        }
        stored.free(slot);
        true
    }

    /// When [`release`](Self::release) may have something next; `None` before another packet
    /// comes.
    #[must_use]
    pub fn next_release(&self) -> Option<Time> {
        let due = self.due.front().map(|(due, ..)| *due);
        due.or_else(|| self.network.next_arrival())
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(crate) fn counts(&mut self) -> &mut Counts {
        &mut self.inside.counts
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(crate) fn into_parts(self) -> (Counts, P) {
        (self.inside.counts, self.inside.probe)
    }
}

/// The packets themselves. Buffers are reused.
#[derive(Debug)]
struct Store<D> {
    packets: Vec<Stored<D>>,
    free: Vec<Slot>,
    /// What they take, in bytes.
    memory: u64,
}

impl<D> Store<D> {
    fn new() -> Self {
        Self {
            packets: Vec::new(),
            free: Vec::new(),
            memory: 0,
        }
    }

    /// Stores a packet; `None` when there is no memory for it.
    fn take(&mut self, now: Time, incoming: Incoming<'_, D>) -> Option<Slot> {
        let Incoming { packet, size, .. } = incoming;
        if self.memory + packet.len() as u64 + PER_PACKET > MEMORY {
            return None;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.packets.push(Stored {
                bytes: Vec::new(),
                size: Bytes::ZERO,
                ecn: Ecn::NotEct,
                destination: None,
                arrived: Time::ZERO,
            });
            (self.packets.len() - 1) as Slot
        });
        let stored = &mut self.packets[slot as usize];
        let held = stored.bytes.capacity();
        stored.bytes.clear();
        stored.bytes.extend_from_slice(packet);
        stored.size = size;
        stored.ecn = incoming.ecn;
        stored.destination = Some(incoming.destination);
        stored.arrived = now;
        // Buffers keep their memory for the next packet; it counts as long as they have it.
        self.memory += (stored.bytes.capacity() - held) as u64;
        self.memory += PER_PACKET;
        Some(slot)
    }

    fn free(&mut self, slot: Slot) {
        /// Buffers above this are rare, and not worth keeping.
        const KEPT: usize = 2048;
        let stored = &mut self.packets[slot as usize];
        stored.destination = None;
        if stored.bytes.capacity() > KEPT {
            self.memory -= stored.bytes.capacity() as u64;
            stored.bytes = Vec::new();
        }
        self.memory -= PER_PACKET;
        self.free.push(slot);
    }
}
