//! One direction of the shared path: queue, link, and what happens behind it.

use lowtide_cc::units::{Bytes, Duration, Time};

use crate::config::PipeConfig;
use crate::impairment::{DelayProcess, LossProcess};
use crate::link::Server;
use crate::queue::DropTail;

#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    packet: T,
    bytes: Bytes,
    since: Time,
}

/// A packet that has just left the link.
#[derive(Clone, Copy, Debug)]
pub struct Exit<T> {
    /// What it is.
    pub packet: T,
    /// Its size.
    pub bytes: Bytes,
    /// Time in queue and on the link.
    pub sojourn: Duration,
    /// When it arrives at the far end; `None` when it is lost on the way.
    pub arrival: Option<Time>,
    /// When the link has sent the next packet, if one waits.
    pub next_exit: Option<Time>,
}

/// What became of a packet offered to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The link was idle and now sends it until then.
    Serving(Time),
    /// It waits.
    Queued,
    /// The queue was full.
    Dropped,
}

/// A queue, the link behind it, and the delay and losses behind that. It has no clock: who uses it
/// calls [`exit`](Self::exit) when the link has sent a packet.
#[derive(Debug)]
pub struct Pipe<T> {
    queue: DropTail<Waiting<T>>,
    server: Server,
    serving: Option<Waiting<T>>,
    loss: LossProcess,
    delay: DelayProcess,
}

impl<T: Copy> Pipe<T> {
    /// An idle one. `base_rtt` resolves buffers given in BDP; `seed` feeds loss and jitter.
    #[must_use]
    pub fn new(config: &PipeConfig, base_rtt: Duration, seed: u64) -> Self {
        Self {
            queue: DropTail::new(config.buffer.resolve(&config.link, base_rtt)),
            server: Server::new(config.link.clone()),
            serving: None,
            loss: LossProcess::new(config.loss, seed),
            delay: DelayProcess::new(config.delay, config.jitter, config.aggregation, seed),
        }
    }

    /// A packet arrives before the queue.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: T, bytes: Bytes) -> Offer {
        let waiting = Waiting {
            packet,
            bytes,
            since: now,
        };
        if self.serving.is_none() {
            self.serving = Some(waiting);
            return Offer::Serving(self.server.serve(now, bytes, false));
        }
        if self.queue.push(waiting, bytes) {
            Offer::Queued
        } else {
            Offer::Dropped
        }
    }

    /// The packet on the link has been sent.
    #[inline]
    pub fn exit(&mut self, now: Time) -> Option<Exit<T>> {
        let done = self.serving.take()?;
        self.serving = self.queue.pop();
        let next_exit = self.serving.map(|next| {
            // One that came in this very moment is too late for what is left of the opportunity.
            self.server.serve(now, next.bytes, next.since < now)
        });
        let arrival = (!self.loss.drops()).then(|| self.delay.arrival(now));
        Some(Exit {
            packet: done.packet,
            bytes: done.bytes,
            sojourn: now.since(done.since),
            arrival,
            next_exit,
        })
    }

    /// Bytes that wait; the packet on the link does not count.
    #[inline]
    #[must_use]
    pub fn queued(&self) -> Bytes {
        self.queue.bytes()
    }
}
