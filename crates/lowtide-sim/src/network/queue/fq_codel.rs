//! FQ-CoDel (RFC 8290): a queue for each flow, served in turn, those of new flows first, each under
//! CoDel; what exceeds the limit is dropped from the head of the fattest queue.

use lowtide_cc::registry::{Parameter, Values};
use lowtide_cc::units::{Bytes, Time};

use super::codel::{self, CoDelConfig, Law};
use super::discipline::{Discipline, Waiting};
use super::flow_queues::{self, FlowQueues, RoundRobin};
use super::limit::Capacity;
use crate::network::packet::{DropCause, Handle};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FqCoDelConfig {
    /// Each queue's.
    pub codel: CoDelConfig,
    /// How flows take turns.
    pub round_robin: RoundRobin,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    codel::PARAMETERS[0],
    codel::PARAMETERS[1],
    codel::PARAMETERS[2],
    codel::PARAMETERS[3],
    flow_queues::PARAMETERS[0],
    flow_queues::PARAMETERS[1],
];

impl FqCoDelConfig {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            codel: CoDelConfig::of(values),
            round_robin: RoundRobin::of(values),
        }
    }
}

/// Packets that are dropped at once when the limit is exceeded (§4.1): to look for the fattest queue
/// costs more than a packet.
const DROP_BATCH: u64 = 64;

/// The queues of all flows.
#[derive(Debug)]
pub(crate) struct FqCoDel {
    codel: CoDelConfig,
    capacity: Capacity,
    queues: FlowQueues<Law>,
}

impl FqCoDel {
    pub(super) fn new(config: FqCoDelConfig, capacity: Capacity) -> Self {
        Self {
            codel: config.codel,
            capacity,
            queues: FlowQueues::new(config.round_robin, true),
        }
    }
}

impl Discipline for FqCoDel {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn bypass(&mut self, now: Time, packet: Handle) -> Result<Handle, DropCause> {
        // It counts against its flow's turn like any other.
        self.queues.push(now, packet).on_enqueue(packet.bytes);
        let next = self.dequeue(now, |_, _| {});
        Ok(next.map_or(packet, |next| next.packet))
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, mut drops: impl FnMut(Handle, DropCause)) {
        self.queues.push(now, packet).on_enqueue(packet.bytes);
        while !self.queues.fits(&self.capacity) {
            self.queues
                .pop_from_fattest(DROP_BATCH, |packet| drops(packet, DropCause::QueueFull));
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, mut drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        let codel = &self.codel;
        self.queues
            .pop(|law, fifo| law.dequeue(now, codel, fifo, &mut drops))
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.queues.bytes()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;
    use proptest::prelude::*;

    use super::*;
    use crate::network::queue::QueueKind;

    fn queue(spec: &str, packets: u64) -> FqCoDel {
        let Ok(QueueKind::FqCoDel(config)) = QueueKind::parse(spec) else {
            panic!("{spec}");
        };
        let bytes = Bytes::MAX;
        FqCoDel::new(config, Capacity { packets, bytes })
    }

    fn packet(id: u32, flow: u32, bytes: u64) -> Handle {
        Handle::new(id, flow, Bytes::new(bytes), Ecn::NotEct)
    }

    #[test]
    fn an_overflow_takes_half_of_the_fattest_queue_from_its_head() {
        let mut queue = queue("fq_codel", 100);
        for n in 0..90 {
            queue.enqueue(Time::ZERO, packet(n, 0, 1_000), |_, _| unreachable!());
        }
        let mut dropped = Vec::new();
        for n in 90..101 {
            let victim = packet(n, 1, 1_000);
            queue.enqueue(Time::ZERO, victim, |packet, _| dropped.push(packet.id()));
        }
        assert_eq!(dropped, (0..45).collect::<Vec<u32>>());
        assert_eq!(queue.bytes(), Bytes::new(56_000));
    }

    /// RFC 8290 §4 and RFC 8289 §5, written down a second time: queues of (arrival, id, bytes), times in
    /// whole microseconds, without a limit.
    #[derive(Default)]
    struct Model {
        flows: Vec<ModelFlow>,
        new: Vec<usize>,
        old: Vec<usize>,
    }

    #[derive(Clone, Default)]
    struct ModelFlow {
        queue: Vec<(u64, u32, u64)>,
        credits: i64,
        first_above: u64,
        /// In fractions of a microsecond.
        drop_next: f64,
        count: u32,
        lastcount: u32,
        dropping: bool,
        maxpacket: u64,
    }

    impl ModelFlow {
        /// `dodequeue`; `first_above` 0: not above.
        fn dodequeue(&mut self, now: u64) -> (Option<(u64, u32, u64)>, bool) {
            if self.queue.is_empty() {
                self.first_above = 0;
                return (None, false);
            }
            let packet = self.queue.remove(0);
            let bytes: u64 = self.queue.iter().map(|packet| packet.2).sum();
            let mut ok_to_drop = false;
            if now - packet.0 < 5_000 || bytes <= self.maxpacket {
                self.first_above = 0;
            } else if self.first_above == 0 {
                self.first_above = now + 100_000;
            } else {
                ok_to_drop = now >= self.first_above;
            }
            (Some(packet), ok_to_drop)
        }

        fn control_law(from: f64, count: u32) -> f64 {
            from + 100_000.0 / f64::from(count).sqrt()
        }

        fn dequeue(&mut self, now: u64, dropped: &mut Vec<u32>) -> Option<(u64, u32, u64)> {
            let (mut packet, mut ok_to_drop) = self.dodequeue(now);
            if self.dropping {
                self.dropping = ok_to_drop;
                while self.dropping && now as f64 >= self.drop_next {
                    dropped.push(packet?.1);
                    self.count += 1;
                    (packet, ok_to_drop) = self.dodequeue(now);
                    if ok_to_drop {
                        self.drop_next = Self::control_law(self.drop_next, self.count);
                    } else {
                        self.dropping = false;
                    }
                }
            } else if ok_to_drop {
                dropped.push(packet?.1);
                (packet, _) = self.dodequeue(now);
                self.dropping = true;
                let delta = self.count - self.lastcount;
                self.count = match delta > 1 && (now as f64) < self.drop_next + 1_600_000.0 {
                    true => delta,
                    false => 1,
                };
                self.drop_next = Self::control_law(now as f64, self.count);
                self.lastcount = self.count;
            }
            packet
        }
    }

    impl Model {
        fn enqueue(&mut self, now: u64, id: u32, flow: usize, bytes: u64) {
            self.flows
                .resize(self.flows.len().max(flow + 1), ModelFlow::default());
            if !self.new.contains(&flow) && !self.old.contains(&flow) {
                self.flows[flow].credits = 1_514;
                self.new.push(flow);
            }
            let own = &mut self.flows[flow];
            own.queue.push((now, id, bytes));
            own.maxpacket = own.maxpacket.max(bytes);
        }

        fn dequeue(&mut self, now: u64) -> (Option<u32>, Vec<u32>) {
            let mut dropped = Vec::new();
            while let Some(flow) = self.new.first().or(self.old.first()).copied() {
                let is_new = !self.new.is_empty();
                let leave = |model: &mut Self| match is_new {
                    true => model.new.remove(0),
                    false => model.old.remove(0),
                };
                if self.flows[flow].credits <= 0 {
                    self.flows[flow].credits += 1_514;
                    leave(self);
                    self.old.push(flow);
                    continue;
                }
                if let Some((_, id, bytes)) = self.flows[flow].dequeue(now, &mut dropped) {
                    self.flows[flow].credits -= bytes as i64;
                    return (Some(id), dropped);
                }
                leave(self);
                if is_new {
                    self.old.push(flow);
                }
            }
            (None, dropped)
        }
    }

    proptest! {
        #[test]
        fn decisions_are_those_of_the_pseudo_code(
            steps in prop::collection::vec((0_u64..3_000, 0_usize..5, 64_u64..1_500, 0_u32..3), 1..1_000),
        ) {
            let mut queue = queue("fq_codel", u64::MAX);
            let mut model = Model::default();
            let mut us = 0;
            for (id, (pause, flow, bytes, departures)) in (0..).zip(steps) {
                us += pause;
                let now = Time::from_nanos(us * 1_000);
                queue.enqueue(now, packet(id, flow as u32, bytes), |_, _| unreachable!());
                model.enqueue(us, id, flow, bytes);
                for _ in 0..departures.min(1 + id % 2) {
                    let mut dropped = Vec::new();
                    let next = queue.dequeue(now, |packet, _| dropped.push(packet.id()));
                    let next = next.map(|next| next.packet.id());
                    prop_assert_eq!((next, dropped), model.dequeue(us));
                }
            }
        }
    }
}
