//! One direction of the shared path: queue, link, and what happens behind it.

use std::fmt::Debug;

use lowtide_cc::units::{Bytes, Duration, Time};

use super::config::PipeConfig;
use super::impairment::{DelayProcess, LossProcess};
use super::link::Server;
use super::packet::Packet;
use super::queue::{self, Drops, Queue, Waiting};

/// A packet that has just left the link.
#[derive(Debug)]
pub(super) struct Sent<P> {
    pub(super) packet: Packet<P>,
    /// Time in queue and on the link.
    pub(super) sojourn: Duration,
    /// When it arrives at the far end; `None` when it is lost on the way.
    pub(super) arrival: Option<Time>,
    /// When the link will have sent the next packet, if one waits.
    pub(super) next: Option<Time>,
}

/// A queue, the link behind it, and the delay and losses behind that. It has no clock: its user
/// calls [`send`](Self::send) when the link has sent a packet.
#[derive(Debug)]
pub(super) struct Pipe<P> {
    queue: Box<dyn Queue<P>>,
    server: Server,
    /// The packet on the link.
    serving: Option<Waiting<P>>,
    loss: LossProcess,
    delay: DelayProcess,
}

impl<P: Debug + Send + 'static> Pipe<P> {
    /// An idle one. `base_rtt` resolves queues in BDP; `seed` feeds loss and jitter.
    pub(super) fn new(config: &PipeConfig, base_rtt: Duration, seed: u64) -> Self {
        Self {
            queue: queue::build(config.buffer.resolve(&config.link, base_rtt)),
            server: Server::new(config.link.clone()),
            serving: None,
            loss: LossProcess::new(config.loss, seed),
            delay: DelayProcess::new(config.delay, config.jitter, config.aggregation, seed),
        }
    }

    /// A packet arrives before the queue. When the link was idle and takes it: when it will have
    /// sent it.
    #[inline]
    pub(super) fn offer(
        &mut self,
        now: Time,
        packet: Packet<P>,
        drops: Drops<'_, P>,
    ) -> Option<Time> {
        if self.serving.is_some() {
            self.queue.enqueue(now, packet, drops);
            return None;
        }
        if let Err(cause) = self.queue.bypass(now, &packet) {
            drops(packet, cause);
            return None;
        }
        let until = self.server.serve(now, packet.bytes, false);
        self.serving = Some(Waiting { packet, since: now });
        Some(until)
    }

    /// The packet on the link has been sent.
    #[inline]
    pub(super) fn send(&mut self, now: Time, drops: Drops<'_, P>) -> Option<Sent<P>> {
        let done = self.serving.take()?;
        self.serving = self.queue.dequeue(now, drops);
        let next = self.serving.as_ref().map(|next| {
            // One that came in this very moment is too late for what is left of the opportunity.
            self.server.serve(now, next.packet.bytes, next.since < now)
        });
        let arrival = (!self.loss.drops()).then(|| self.delay.arrival(now));
        Some(Sent {
            packet: done.packet,
            sojourn: now.since(done.since),
            arrival,
            next,
        })
    }

    /// Bytes that wait; the packet on the link does not count.
    #[inline]
    pub(super) fn queued(&self) -> Bytes {
        self.queue.bytes()
    }

    /// Whether the link takes no time, so that nothing ever waits.
    #[inline]
    pub(super) fn takes_no_time(&self) -> bool {
        self.server.takes_no_time()
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
    use crate::network::packet::DropCause;
    use crate::network::queue::QueueLimit;

    const MS: Duration = Duration::from_millis(1);

    /// A discipline that polices what never waits and drops from the head what waited too long.
    #[derive(Debug)]
    struct Strict {
        refused: u32,
        waiting: VecDeque<Waiting<u32>>,
    }

    impl Queue<u32> for Strict {
        fn bypass(&mut self, _now: Time, packet: &Packet<u32>) -> Result<(), DropCause> {
            if packet.payload == self.refused {
                return Err(DropCause::QueueFull);
            }
            Ok(())
        }

        fn enqueue(&mut self, now: Time, packet: Packet<u32>, _drops: Drops<'_, u32>) {
            self.waiting.push_back(Waiting { packet, since: now });
        }

        fn dequeue(&mut self, now: Time, drops: Drops<'_, u32>) -> Option<Waiting<u32>> {
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
        let mut pipe = Pipe::new(&config, Duration::ZERO, 1);
        pipe.queue = Box::new(Strict {
            refused: 0,
            waiting: VecDeque::new(),
        });
        let mut dropped = Vec::new();
        let mut drops = |packet: Packet<u32>, _| dropped.push(packet.payload);
        let packet = |payload| Packet {
            flow: 0,
            bytes: Bytes::new(1500),
            payload,
        };
        assert_eq!(pipe.offer(at(0), packet(0), &mut drops), None);
        assert_eq!(pipe.offer(at(0), packet(1), &mut drops), Some(at(1_000)));
        for (us, n) in [(200, 2), (300, 3), (400, 4), (1_500, 5)] {
            assert_eq!(pipe.offer(at(us), packet(n), &mut drops), None);
            if n == 4 {
                let sent = pipe.send(at(1_000), &mut drops).unwrap();
                assert_eq!((sent.packet.payload, sent.next), (1, Some(at(2_000))));
            }
        }
        // At 2 ms the third and fourth have waited for too long; the fifth is next.
        let sent = pipe.send(at(2_000), &mut drops).unwrap();
        assert_eq!((sent.packet.payload, sent.next), (2, Some(at(3_000))));
        assert_eq!(sent.arrival, Some(at(12_000)));
        assert_eq!(pipe.queued(), Bytes::ZERO);
        let sent = pipe.send(at(3_000), &mut drops).unwrap();
        assert_eq!(
            (sent.packet.payload, sent.sojourn),
            (5, at(3_000).since(at(1_500)))
        );
        assert_eq!(dropped, [0, 3, 4]);
    }
}
