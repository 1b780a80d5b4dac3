//! One direction of the shared path: queue, link, and what happens behind it.

use lowtide_cc::units::{Bytes, Duration, Time};

use super::bucket::TokenBucket;
use super::config::PipeConfig;
use super::impairment::{DelayProcess, EcnTreatment, LossProcess, ScriptProcess};
use super::link::Server;
use super::packet::{DropCause, Handle};
use super::queue::{Discipline, Queue, QueueSetup, Waiting};

/// What became of a packet that came to the pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// The link was idle and will have sent it then.
    Serving(Time),
    /// The link takes no time and has sent it.
    Passed(Handle),
    /// The queue has it, or has dropped it.
    Queued,
}

/// What the link has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    /// A packet that it has sent.
    pub(super) sent: Option<Sent>,
    /// When it will have done the next thing, if one waits.
    pub(super) next: Option<Time>,
}

/// A packet that the link has sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) packet: Handle,
    /// Time in queue and on the link.
    pub(super) sojourn: Duration,
}

impl Sent {
    fn new(now: Time, done: Waiting) -> Self {
        Self {
            packet: done.packet,
            sojourn: now.since(done.since),
        }
    }
}

/// A policer, a queue, the link behind it, and the delay and losses behind that. It has no clock: its
/// user calls [`serve`](Self::serve) when the link has something to do.
#[derive(Debug)]
pub(super) struct Pipe<Q = Queue> {
    policer: Option<TokenBucket>,
    queue: Q,
    server: Server,
    /// The packet on the link.
    serving: Option<Waiting>,
    /// The queue decides late, and the link sends at moments of its own: the packet for the next moment
    /// is chosen at that moment.
    chooses_late: bool,
    /// Whether that moment is set.
    awaits_moment: bool,
    ecn: EcnTreatment,
    loss: LossProcess,
    script: Option<Box<ScriptProcess>>,
    delay: DelayProcess,
}

/// What a pipe needs besides its configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipeSetup {
    /// To which queues in BDP refer.
    pub(super) base_rtt: Duration,
    /// Feeds loss and jitter.
    pub(super) seed: u64,
    /// Feeds what the queue decides by chance.
    pub(super) queue_seed: u64,
}

impl Pipe {
    /// An idle one.
    pub(super) fn new(config: &PipeConfig, setup: &PipeSetup) -> Self {
        let queue = Queue::new(&QueueSetup {
            kind: config.queue,
            capacity: config.buffer.resolve(&config.link, setup.base_rtt),
            link: config.link.clone(),
            seed: setup.queue_seed,
        });
        Self::with_queue(queue, config, setup.seed)
    }
}

impl<Q: Discipline> Pipe<Q> {
    fn with_queue(queue: Q, config: &PipeConfig, seed: u64) -> Self {
        let server = Server::new(config.link.clone());
        Self {
            policer: config.policer.map(|p| TokenBucket::new(p.rate, p.burst)),
            chooses_late: queue.decides_late() && server.has_moments(),
            queue,
            server,
            serving: None,
            awaits_moment: false,
            ecn: config.ecn,
            loss: LossProcess::new(config.loss, seed),
            script: (!config.script.is_empty())
                .then(|| Box::new(ScriptProcess::new(config.script.clone()))),
            delay: DelayProcess::new(
                config.delay,
                config.moving.clone(),
                config.jitter,
                config.aggregation,
                seed,
            )
            .over_wifi(config.wifi.clone()),
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
        if let Some(policer) = &mut self.policer
            && !policer.takes(now, packet.bytes)
        {
            drops(packet, DropCause::Policed);
            return Offer::Queued;
        }
        if self.serving.is_some() || self.awaits_moment {
            self.queue.enqueue(now, packet, &mut drops);
            return Offer::Queued;
        }
        if self.chooses_late {
            self.queue.enqueue(now, packet, &mut drops);
            self.awaits_moment = true;
            return Offer::Serving(self.server.next_moment(now, false));
        }
        let packet = match self.queue.bypass(now, packet) {
            Ok(packet) => packet,
            Err(cause) => {
                drops(packet, cause);
                return Offer::Queued;
            }
        };
        if self.server.takes_no_time() {
            return Offer::Passed(packet);
        }
        self.serving = Some(Waiting { packet, since: now });
        Offer::Serving(self.server.serve(now, packet.bytes, false))
    }

    /// The packet on the link has been sent, or the moment has come to choose one.
    #[inline]
    pub(super) fn serve(&mut self, now: Time, mut drops: impl FnMut(Handle, DropCause)) -> Served {
        if self.chooses_late {
            return self.serve_late(now, &mut drops);
        }
        let Some(done) = self.serving else {
            return Served::default();
        };
        self.queue.dequeue_to(&mut self.serving, now, &mut drops);
        let next = self.serving.map(|next| {
            // One that came in this very moment is too late for what is left of the opportunity.
            self.server.serve(now, next.packet.bytes, next.since < now)
        });
        Served {
            sent: Some(Sent::new(now, done)),
            next,
        }
    }

    // Behind a call, so that the others do not carry it along.
    #[inline(never)]
    fn serve_late(&mut self, now: Time, drops: impl FnMut(Handle, DropCause)) -> Served {
        let done = match self.serving.take() {
            Some(done) => done,
            None => {
                self.awaits_moment = false;
                let Some(next) = self.queue.dequeue(now, drops) else {
                    return Served::default();
                };
                let until = self.server.serve(now, next.packet.bytes, true);
                if until > now {
                    self.serving = Some(next);
                    return Served {
                        sent: None,
                        next: Some(until),
                    };
                }
                next
            }
        };
        self.awaits_moment = !self.queue.bytes().is_zero();
        Served {
            sent: Some(Sent::new(now, done)),
            next: self
                .awaits_moment
                .then(|| self.server.next_moment(now, true)),
        }
    }

    /// When the packet that has just left the link arrives at the far end; `None` when it is lost.
    #[inline]
    pub(super) fn arrival(&mut self, now: Time, packet: &mut Handle) -> Option<Time> {
        if self.ecn != EcnTreatment::Kept {
            packet.set_ecn(self.ecn.apply(packet.ecn()));
        }
        let late = match &mut self.script {
            None => Duration::ZERO,
            Some(script) => script.delay(now)?,
        };
        (!self.loss.drops()).then(|| self.delay.arrival(now) + late)
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

    use lowtide_cc::Ecn;
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
        fn bypass(&mut self, _now: Time, packet: Handle) -> Result<Handle, DropCause> {
            if packet.id() == self.refused {
                return Err(DropCause::QueueFull);
            }
            Ok(packet)
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
        let packet = |id| Handle::new(id, 0, Bytes::new(1500), Ecn::NotEct);
        assert_eq!(pipe.offer(at(0), packet(0), &mut drops), Offer::Queued);
        assert_eq!(
            pipe.offer(at(0), packet(1), &mut drops),
            Offer::Serving(at(1_000))
        );
        for (us, n) in [(200, 2), (300, 3), (400, 4), (1_500, 5)] {
            assert_eq!(pipe.offer(at(us), packet(n), &mut drops), Offer::Queued);
            if n == 4 {
                let served = pipe.serve(at(1_000), &mut drops);
                let id = served.sent.map(|s| s.packet.id());
                assert_eq!((id, served.next), (Some(1), Some(at(2_000))));
            }
        }
        // At 2 ms the third and fourth have waited for too long; the fifth is next.
        let served = pipe.serve(at(2_000), &mut drops);
        let mut sent = served.sent.unwrap();
        assert_eq!((sent.packet.id(), served.next), (2, Some(at(3_000))));
        assert_eq!(pipe.arrival(at(2_000), &mut sent.packet), Some(at(12_000)));
        assert_eq!(pipe.queued(), Bytes::ZERO);
        let sent = pipe.serve(at(3_000), &mut drops).sent.unwrap();
        assert_eq!(
            (sent.packet.id(), sent.sojourn),
            (5, at(3_000).since(at(1_500)))
        );
        assert_eq!(dropped, [0, 3, 4]);
    }
}
