//! A queue for each flow, served by deficit round robin (Shreedhar and Varghese 1995), new flows first
//! if so wished (RFC 8290 §4).

use std::collections::VecDeque;

use lowtide_cc::registry::{Parameter, Values};
use lowtide_cc::units::{Bytes, Time};

use super::discipline::Waiting;
use super::fifo::Fifo;
use super::limit::Capacity;
use crate::network::packet::Handle;

/// How flows are told apart and take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RoundRobin {
    /// Bytes that a flow may send in its turn.
    pub quantum: u64,
    /// Number of queues: flow *n* has queue *n* modulo this.
    pub queues: u64,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::whole("quantum", 1514, 256..=1_000_000)
        .about("bytes that a flow may send in its turn"),
    Parameter::whole("queues", 1024, 1..=65_536)
        .about("number of queues; flow n has queue n modulo this"),
];

impl RoundRobin {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            quantum: values.whole("quantum"),
            queues: values.whole("queues"),
        }
    }
}

/// A flow's queue.
#[derive(Debug)]
struct FlowQueue<S> {
    fifo: Fifo,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    /// Whether the queue is on one of the lists.
    is_active: bool,
    state: S,
}

/// The queues of all flows; `S` is what a discipline keeps for each.
#[derive(Debug)]
pub(super) struct FlowQueues<S> {
    config: RoundRobin,
    /// What was empty comes before all others, once.
    favours_new: bool,
    queues: Vec<FlowQueue<S>>,
    /// Bytes in each queue, side by side: the fattest is found by a look at all.
    backlogs: Vec<u64>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: Bytes,
}

impl<S: Default> FlowQueues<S> {
    pub(super) fn new(config: RoundRobin, favours_new: bool) -> Self {
        Self {
            config,
            favours_new,
            queues: Vec::new(),
            backlogs: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Adds a packet to its flow's queue, of which the state is handed out.
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: Handle) -> &mut S {
        let index = (u64::from(packet.flow()) % self.config.queues) as usize;
        while self.queues.len() <= index {
            self.backlogs.push(0);
            self.queues.push(FlowQueue {
                fifo: Fifo::new(Capacity::UNLIMITED),
                deficit: 0,
                is_active: false,
                state: S::default(),
            });
        }
        let queue = &mut self.queues[index];
        queue.fifo.push(now, packet);
        self.backlogs[index] += packet.bytes.get();
        self.packets += 1;
        self.bytes += packet.bytes;
        if !queue.is_active {
            queue.is_active = true;
            queue.deficit = self.config.quantum as i64;
            let list = if self.favours_new {
                &mut self.new
            } else {
                &mut self.old
            };
            list.push_back(index as u32);
        }
        &mut queue.state
    }

    /// The next packet, which `take` takes from the queue whose turn it is; it may drop some before.
    #[inline]
    pub(super) fn pop(
        &mut self,
        mut take: impl FnMut(&mut S, &mut Fifo) -> Option<Waiting>,
    ) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.config.quantum as i64;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (queue.fifo.packets(), queue.fifo.bytes());
            let next = take(&mut queue.state, &mut queue.fifo);
            self.packets -= packets - queue.fifo.packets();
            self.bytes -= bytes - queue.fifo.bytes();
            self.backlogs[index as usize] = queue.fifo.bytes().get();
            if let Some(next) = next {
                queue.deficit -= next.packet.bytes.get() as i64;
                return Some(next);
            }
            list.pop_front();
            // A new flow that has emptied its queue waits for a round before it is new again (§4.2).
            if is_new {
                self.old.push_back(index);
            } else {
                queue.is_active = false;
            }
        }
    }

    /// Takes packets from the head of the queue with the most bytes, for the sake of a limit: `most`
    /// of them or what makes half of its bytes, at least one.
    pub(super) fn pop_from_fattest(&mut self, most: u64, mut drops: impl FnMut(Handle)) {
        let fattest = self.backlogs.iter().copied().max().unwrap_or(0);
        let Some(index) = self.backlogs.iter().position(|bytes| *bytes == fattest) else {
            return;
        };
        let fifo = &mut self.queues[index].fifo;
        for _ in 0..most {
            let Some(first) = fifo.pop() else {
                break;
            };
            self.packets -= 1;
            self.bytes -= first.packet.bytes;
            drops(first.packet);
            if fifo.bytes().get() <= fattest / 2 {
                break;
            }
        }
        self.backlogs[index] = fifo.bytes().get();
    }

    /// Whether what waits is within a limit.
    #[inline]
    pub(super) fn fits(&self, capacity: &Capacity) -> bool {
        capacity.holds(self.packets, self.bytes)
    }

    /// Bytes that wait.
    #[inline]
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
