//! One direction of the shared path: queue, link, and what happens behind it.

use lowtide_cc::units::{Bytes, Duration, Time};

use super::config::PipeConfig;
use super::impairment::{DelayProcess, LossProcess};
use super::link::Server;
use super::packet::{DropCause, Handle};
use super::queue::{Discipline, Queue, Waiting};

/// What became of a packet that came to the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// The link was idle and will have sent it then.
    Serving(Time),
    /// The link takes no time and has sent it.
    Passed,
    /// The queue has it, or has dropped it.
    Queued,
}

/// A packet that the link has sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) packet: Handle,
    /// Time in queue and on the link.
    pub(super) sojourn: Duration,
    /// When the link will have sent the next packet, if one waits.
    pub(super) next: Option<Time>,
}

/// A queue, the link behind it, and the delay and losses behind that. It has no clock: its user
/// calls [`send`](Self::send) when the link has sent a packet.
#[derive(Debug)]
pub(super) struct Pipe<Q = Queue> {
    queue: Q,
    server: Server,
    /// The packet on the link.
    serving: Option<Waiting>,
    loss: LossProcess,
    delay: DelayProcess,
}

impl Pipe {
    /// An idle one. `base_rtt` resolves queues in BDP; `seed` feeds loss and jitter.
    pub(super) fn new(config: &PipeConfig, base_rtt: Duration, seed: u64) -> Self {
        let capacity = config.buffer.resolve(&config.link, base_rtt);
        Self::with_queue(Queue::new(capacity, config.policer), config, seed)
    }
}

impl<Q: Discipline> Pipe<Q> {
    fn with_queue(queue: Q, config: &PipeConfig, seed: u64) -> Self {
        Self {
            queue,
            server: Server::new(config.link.clone()),
            serving: None,
            loss: LossProcess::new(config.loss, seed),
            delay: DelayProcess::new(
                config.delay,
                config.moving.clone(),
                config.jitter,
                config.aggregation,
                seed,
            ),
        }
    }

    /// A packet comes to the queue.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Time,
        packet: Handle,
        mut drops: impl FnMut(Handle, DropCause),
    ) -> Offer {
        if self.serving.is_some() {
            self.queue.enqueue(now, packet, drops);
            return Offer::Queued;
        }
        if let Err(cause) = self.queue.bypass(now, packet) {
            drops(packet, cause);
            return Offer::Queued;
        }
        if self.server.takes_no_time() {
            return Offer::Passed;
        }
        self.serving = Some(Waiting { packet, since: now });
        Offer::Serving(self.server.serve(now, packet.bytes, false))
    }

    /// The packet on the link has been sent.
    #[inline]
    pub(super) fn send(&mut self, now: Time, drops: impl FnMut(Handle, DropCause)) -> Option<Sent> {
        let done = self.serving?;
        self.serving = self.queue.dequeue(now, drops);
        let next = self.serving.map(|next| {
            // One that came in this very moment is too late for what is left of the opportunity.
            self.server.serve(now, next.packet.bytes, next.since < now)
        });
        Some(Sent {
            packet: done.packet,
            sojourn: now.since(done.since),
            next,
        })
    }

    /// When the packet that has just left the link arrives at the far end; `None` when it is lost.
    #[inline]
    pub(super) fn arrival(&mut self, now: Time) -> Option<Time> {
        (!self.loss.drops()).then(|| self.delay.arrival(now))
    }

    /// What propagation takes of that packet's way beyond the least; `None` where it does not move.
    #[inline]
    pub(super) fn detour(&self) -> Option<Duration> {
        self.delay.detour()
    }

    /// Bytes that wait; the packet on the link does not count.
    #[inline]
    pub(super) fn queued(&self) -> Bytes {
        self.queue.bytes()
    }

    /// No packet arrives sooner than this after it left the link.
    pub(super) fn least_delay(&self) -> Duration {
        self.delay.least()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use lowtide_cc::units::Rate;

    use super::*;
    use crate::network::link::Link;
    use crate::network::queue::QueueLimit;

    const MS: Duration = Duration::from_millis(1);

    /// A discipline that polices what never waits and drops from the head what waited too long.
    #[derive(Debug)]
    struct Strict {
        refused: u32,
        waiting: VecDeque<Waiting>,
    }

    impl Discipline for Strict {
        fn bypass(&mut self, _now: Time, packet: Handle) -> Result<(), DropCause> {
            if packet.id() == self.refused {
                return Err(DropCause::QueueFull);
            }
            Ok(())
        }

        fn enqueue(&mut self, now: Time, packet: Handle, _drops: impl FnMut(Handle, DropCause)) {
            self.waiting.push_back(Waiting { packet, since: now });
        }

        fn dequeue(
            &mut self,
            now: Time,
            mut drops: impl FnMut(Handle, DropCause),
        ) -> Option<Waiting> {
            loop {
                let next = self.waiting.pop_front()?;
                if now.since(next.since) <= MS {
                    return Some(next);
                }
                drops(next.packet, DropCause::QueueFull);
            }
        }

        fn bytes(&self) -> Bytes {
            self.waiting.iter().map(|w| w.packet.bytes).sum()
        }
    }

    #[test]
    fn a_discipline_may_refuse_what_never_waits_and_drop_when_the_link_asks_for_the_next() {
        let at = |us: u64| Time::from_nanos(us * 1_000);
        // 1500 bytes take 1 ms.
        let link = Arc::new(Link::constant(Rate::from_mbps(12)).unwrap());
        let config = PipeConfig::link_with_delay(link, QueueLimit::Unlimited, MS * 10);
        let strict = Strict {
            refused: 0,
            waiting: VecDeque::new(),
        };
        let mut pipe = Pipe::with_queue(strict, &config, 1);
        let mut dropped = Vec::new();
        let mut drops = |packet: Handle, _| dropped.push(packet.id());
        let packet = |id| Handle::new(id, 0, Bytes::new(1500));
        assert_eq!(pipe.offer(at(0), packet(0), &mut drops), Offer::Queued);
        assert_eq!(
            pipe.offer(at(0), packet(1), &mut drops),
            Offer::Serving(at(1_000))
        );
        for (us, n) in [(200, 2), (300, 3), (400, 4), (1_500, 5)] {
            assert_eq!(pipe.offer(at(us), packet(n), &mut drops), Offer::Queued);
            if n == 4 {
                let sent = pipe.send(at(1_000), &mut drops).unwrap();
                assert_eq!((sent.packet.id(), sent.next), (1, Some(at(2_000))));
            }
        }
        // At 2 ms the third and fourth have waited for too long; the fifth is next.
        let sent = pipe.send(at(2_000), &mut drops).unwrap();
        assert_eq!((sent.packet.id(), sent.next), (2, Some(at(3_000))));
        assert_eq!(pipe.arrival(at(2_000)), Some(at(12_000)));
        assert_eq!(pipe.queued(), Bytes::ZERO);
        let sent = pipe.send(at(3_000), &mut drops).unwrap();
        assert_eq!(
            (sent.packet.id(), sent.sojourn),
            (5, at(3_000).since(at(1_500)))
        );
        assert_eq!(dropped, [0, 3, 4]);
    }
}
