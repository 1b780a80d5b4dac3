//! One way through the link, without clock and sockets.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::PipeConfig;
use lowtide_sim::engine::lane::Lane;
use lowtide_sim::engine::pipe::{Offer, Pipe};

use crate::distribution::Distribution;
use crate::summary::DirectionSummary;

/// Both ways of a path.
#[derive(Clone, Debug)]
pub struct PathConfig {
    /// Towards the near end: the command's namespace, or the relay's clients.
    pub down: PipeConfig,
    /// Towards the far end.
    pub up: PipeConfig,
    /// Round-trip propagation delay; what buffers in BDP refer to.
    pub base_rtt: Duration,
    /// Seeds loss and jitter.
    pub seed: u64,
}

/// Memory that the packets of one direction may take. A queue without limit would otherwise grow
/// as long as somebody sends.
const MEMORY: u64 = 256 << 20;

/// What a stored packet takes beside its bytes, roughly.
const PER_PACKET: u64 = 128;

#[derive(Debug)]
struct Stored<D> {
    bytes: Vec<u8>,
    /// What it counts as on the link.
    size: Bytes,
    destination: Option<D>,
    arrived: Time,
}

/// A packet that is to be sent on now.
#[derive(Debug)]
pub struct Release<'a, D> {
    /// What it is.
    pub packet: &'a [u8],
    /// Where it goes.
    pub destination: &'a D,
    /// When it should have been sent on, by the link's model.
    pub due: Time,
}

/// One way through the link: the packets in its queue, on the link, and in the delay behind it.
///
/// The link's own events happen at the times that the model gives them, however late they are
/// looked at, so that lateness never adds up. `D` says where a packet goes.
#[derive(Debug)]
pub struct Direction<D> {
    pipe: Pipe<u32>,
    /// When the packet on the link has been sent.
    exit_at: Option<Time>,
    /// No packet arrives sooner than this after it left the link.
    least_delay: Duration,
    on_their_way: Lane<(Time, u32)>,
    packets: Vec<Stored<D>>,
    free: Vec<u32>,
    memory: u64,
    pub(crate) counts: Counts,
}

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) summary: DirectionSummary,
    pub(crate) queue_delay: Distribution,
    pub(crate) delay: Distribution,
    pub(crate) release_error: Distribution,
}

impl<D> Direction<D> {
    /// An empty one; its time starts at zero. `seed` feeds loss and jitter.
    #[must_use]
    pub fn new(config: &PipeConfig, base_rtt: Duration, seed: u64) -> Self {
        Self {
            pipe: Pipe::new(config, base_rtt, seed),
            exit_at: None,
            least_delay: config.delay,
            on_their_way: Lane::new(),
            packets: Vec::new(),
            free: Vec::new(),
            memory: 0,
            counts: Counts::default(),
        }
    }

    /// A packet arrives that counts as `size` on the link. `now` never decreases from call to
    /// call.
    pub fn offer(&mut self, now: Time, packet: &[u8], size: Bytes, destination: D) {
        self.settle(now);
        let summary = &mut self.counts.summary;
        summary.offered_packets += 1;
        summary.offered_bytes = summary.offered_bytes.saturating_add(size.get());
        let cost = packet.len() as u64 + PER_PACKET;
        if self.memory + cost > MEMORY {
            summary.dropped_memory_packets += 1;
            return;
        }
        let slot = self.store(now, packet, size, destination);
        match self.pipe.offer(now, slot, size) {
            Offer::Serving(until) => self.exit_at = Some(until),
            Offer::Queued => {}
            Offer::Dropped => {
                self.counts.summary.dropped_queue_packets += 1;
                self.free(slot);
            }
        }
    }

    /// Lets everything happen on the link that happens until `now`.
    fn settle(&mut self, now: Time) {
        while let Some(at) = self.exit_at.filter(|at| *at <= now && *at != Time::MAX) {
            let Some(exit) = self.pipe.exit(at) else {
                self.exit_at = None;
                return;
            };
            self.exit_at = exit.next_exit;
            self.counts.queue_delay.record(exit.sojourn);
            match exit.arrival {
                Some(arrival) => {
                    self.on_their_way.push(arrival, (arrival, exit.packet));
                }
                None => {
                    self.counts.summary.lost_packets += 1;
                    self.free(exit.packet);
                }
            }
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
        if self.on_their_way.next_arrival().is_none_or(|at| at > now) {
            return false;
        }
        let Some((due, slot)) = self.on_their_way.pop() else {
            return false;
        };
        let stored = &self.packets[slot as usize];
        let Some(destination) = &stored.destination else {
            return false;
        };
        let sent_at = send(Release {
            packet: &stored.bytes,
            destination,
            due,
        });
        let counts = &mut self.counts;
        match sent_at {
            Some(at) => {
                counts.summary.delivered_packets += 1;
                let bytes = &mut counts.summary.delivered_bytes;
                *bytes = bytes.saturating_add(stored.size.get());
                counts.delay.record(at.since(stored.arrived));
                counts.release_error.record(at.since(due));
            }
            None => counts.summary.refused_packets += 1,
        }
        self.free(slot);
        true
    }

    /// When [`release`](Self::release) may have something next; `None` before another packet
    /// comes.
    #[must_use]
    pub fn next_release(&self) -> Option<Time> {
        let after_exit = self
            .exit_at
            .filter(|at| *at != Time::MAX)
            .map(|at| at + self.least_delay);
        match (self.on_their_way.next_arrival(), after_exit) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub(crate) fn into_counts(self) -> Counts {
        self.counts
    }

    fn store(&mut self, now: Time, packet: &[u8], size: Bytes, destination: D) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.packets.push(Stored {
                bytes: Vec::new(),
                size: Bytes::ZERO,
                destination: None,
                arrived: Time::ZERO,
            });
            (self.packets.len() - 1) as u32
        });
        let stored = &mut self.packets[slot as usize];
        let held = stored.bytes.capacity();
        stored.bytes.clear();
        stored.bytes.extend_from_slice(packet);
        stored.size = size;
        stored.destination = Some(destination);
        stored.arrived = now;
        // Buffers keep their memory for the next packet; it counts as long as they have it.
        self.memory += (stored.bytes.capacity() - held) as u64;
        self.memory += PER_PACKET;
        slot
    }

    fn free(&mut self, slot: u32) {
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
