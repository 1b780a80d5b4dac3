//! The simulator: flows, each with a sender and a receiver, over a [network](crate::network), and
//! the event loop.
//!
//! Each event is a packet that the network hands to a host, or a timer of a sender or receiver. At
//! the same instant the network comes first, then timers, flow by flow.

mod abc;
mod causal;
mod config;
mod flow;
mod oracle;
mod payload;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Time};

pub use self::causal::{CausalConfig, Forecast};
pub use self::config::{ConfigError, ControllerFactory, FlowConfig, SenderKind, SimConfig};
use self::flow::Flow;
use self::oracle::BottleneckSlots;
use self::payload::{AckPool, Payload};
use crate::network::link::Server;
use crate::network::{Departure, Direction, Dropped, Network, Packet, Tap};
use crate::probe::{Delivery, Probe, Sent};
use crate::schedule::Schedule;
use crate::transport::receiver::Data;
use crate::transport::sender::Workspace;

/// What a finished simulation says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Data packets that crossed the bottleneck link.
    pub bottleneck_packets: u64,
}

/// A flow's timers, in the order in which they fire at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    /// The receiver must acknowledge.
    Receiver = 0,
    /// The sender may send, or must look for losses.
    Sender = 1,
}

const TIMERS_PER_FLOW: u32 = 2;

impl Timer {
    #[inline]
    fn slot(self, flow: u32) -> u32 {
        flow * TIMERS_PER_FLOW + self as u32
    }

    #[inline]
    fn of_slot(slot: u32) -> (u32, Self) {
        let timer = match slot % TIMERS_PER_FLOW {
            0 => Self::Receiver,
            _ => Self::Sender,
        };
        (slot / TIMERS_PER_FLOW, timer)
    }
}

/// A network with its flows, ready to run.
#[derive(Debug)]
pub struct Simulation {
    end: Time,
    ack_size: Bytes,
    network: Network<Payload>,
    timers: Schedule,
    /// By [`Direction`].
    slots: [BottleneckSlots; 2],
    flows: Vec<Flow>,
    acks: AckPool,
    work: Workspace,
    outcome: Outcome,
    has_begun: bool,
}

/// Tells the probe what the network does.
struct ProbeTap<'a, P> {
    probe: &'a mut P,
    acks: &'a mut AckPool,
    outcome: &'a mut Outcome,
    slots: &'a mut [BottleneckSlots; 2],
}

impl<P: Probe> Tap<Payload> for ProbeTap<'_, P> {
    #[inline]
    fn on_departure(&mut self, d: &Departure) {
        if d.direction == Direction::Forward {
            self.outcome.bottleneck_packets += 1;
            self.probe.on_bottleneck_exit(d);
        }
    }

    fn on_drop(&mut self, dropped: Dropped<Payload>) {
        let Packet {
            flow,
            bytes,
            payload,
            ..
        } = dropped.packet;
        match payload {
            Payload::Data(_) => {
                self.probe
                    .on_drop(flow as usize, dropped.at, bytes, dropped.cause);
            }
            Payload::Ack(body) => self.acks.release(body),
        }
    }

    fn on_cross(&mut self, at: Time, direction: Direction, bytes: Bytes) {
        self.slots[direction as usize].give_away(at, bytes);
    }
}

impl Simulation {
    /// Sets up the network.
    ///
    /// # Errors
    /// When the configuration cannot be simulated; see [`ConfigError`].
    pub fn new(config: SimConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut timers = Schedule::new(config.flows.len() * TIMERS_PER_FLOW as usize);
        let mut flows = Vec::with_capacity(config.flows.len());
        for (index, flow) in config.flows.iter().enumerate() {
            timers.set(Timer::Sender.slot(index as u32), flow.start);
            flows.push(Flow::new(index, flow, &config));
        }
        let oracles = |flow: &&FlowConfig| matches!(flow.sender, SenderKind::Oracle);
        let of_oracles = config.flows.iter().filter(oracles);
        let one_way = |way| config.flows.iter().all(|f| f.access.direction == way);
        let alone = of_oracles.clone().count() == config.flows.len()
            && Direction::BOTH.into_iter().any(one_way)
            && Direction::BOTH
                .into_iter()
                .all(|way| config.pipe(way).cross.is_empty());
        let are_shared = of_oracles.count() > 0 && !alone;
        let slots =
            |way| BottleneckSlots::new(Server::new(config.pipe(way).link.clone()), are_shared);
        Ok(Self {
            end: Time::ZERO + config.duration,
            ack_size: config.ack_size,
            network: Network::new(&config.network()),
            timers,
            slots: Direction::BOTH.map(slots),
            flows,
            acks: AckPool::default(),
            work: Workspace::default(),
            outcome: Outcome::default(),
            has_begun: false,
        })
    }

    /// Runs to the end.
    pub fn run<P: Probe>(mut self, probe: &mut P) -> Outcome {
        self.run_through(self.end, probe);
        self.outcome
    }

    /// Runs on until `time`: what happens at that moment is still to come, so that whoever steers a
    /// flow from outside may have a say in it. The same `probe` is to watch all parts of a run. A run in parts
    /// is the same as one in a whole; once `time` is beyond the end, nothing is left to come.
    pub fn run_until<P: Probe>(&mut self, time: Time, probe: &mut P) {
        if let Some(before) = time.as_nanos().checked_sub(1) {
            self.run_through(Time::from_nanos(before).min(self.end), probe);
        }
    }

    /// What the simulation says of itself so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Runs on until `last`, and what happens then as well.
    fn run_through<P: Probe>(&mut self, last: Time, probe: &mut P) {
        if !std::mem::replace(&mut self.has_begun, true) {
            for (index, flow) in self.flows.iter().enumerate() {
                probe.on_flow_start(index, flow.start, flow.access.sender_delay, flow.from_link);
            }
        }
        loop {
            let timer = self.timers.peek().filter(|(at, _)| *at <= last);
            let until = timer.map_or(last, |(at, _)| at);
            let mut tap = ProbeTap {
                probe: &mut *probe,
                acks: &mut self.acks,
                outcome: &mut self.outcome,
                slots: &mut self.slots,
            };
            if let Some(arrival) = self.network.advance(until, &mut tap) {
                let Packet {
                    flow,
                    bytes,
                    ecn,
                    payload,
                } = arrival.packet;
                match payload {
                    Payload::Data(data) => {
                        let arrived = (arrival.at, arrival.detour);
                        self.on_data(arrived, flow, (bytes, ecn), &data, probe);
                    }
                    Payload::Ack(body) => self.on_ack(arrival.at, flow, body, probe),
                }
                continue;
            }
            let Some((now, slot)) = timer else {
                return;
            };
            match Timer::of_slot(slot) {
                (flow, Timer::Receiver) => self.on_receiver_timer(now, flow, probe),
                (flow, Timer::Sender) => self.on_sender_timer(now, flow, probe),
            }
        }
    }

    fn on_sender_timer<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let f = &mut self.flows[flow as usize];
        let mut slots = self.slots[f.access.direction as usize].seen_from(&f.access);
        f.sender.on_timer(now, &mut slots, &mut self.work, probe);
        self.send_all(now, flow, probe);
        let next = self.flows[flow as usize].sender.next_event(now);
        self.timers
            .set(Timer::Sender.slot(flow), next.unwrap_or(Time::MAX));
    }

    fn on_ack<P: Probe>(&mut self, now: Time, flow: u32, body: u32, probe: &mut P) {
        let f = &mut self.flows[flow as usize];
        let mut slots = self.slots[f.access.direction as usize].seen_from(&f.access);
        let ack = self.acks.get(body);
        f.sender.on_ack(now, ack, &mut slots, &mut self.work, probe);
        self.acks.release(body);
        self.send_all(now, flow, probe);
        if let Some(next) = self.flows[flow as usize].sender.next_event(now) {
            self.timers.set_no_later(Timer::Sender.slot(flow), next);
        }
    }

    /// Hands what a sender has sent to the network.
    #[inline]
    fn send_all<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let f = &self.flows[flow as usize];
        let needs_from = f.sender.first_unacked();
        let echo = f.sender.newest_ack();
        let (way, is_oracle) = (f.access.direction, f.is_oracle);
        for out in &self.work.out {
            probe.on_send(&Sent {
                flow: flow as usize,
                now,
                number: out.number,
                bytes: out.bytes,
                retransmission: out.retransmission,
            });
            let data = Data {
                number: out.number,
                segment: out.segment,
                needs_from,
                sent_at: now,
                signal: out.signal,
                reduced: out.reduced,
                bytes: out.bytes,
                pushed: out.pushed,
                echo,
            };
            let packet = Packet {
                flow,
                bytes: out.bytes,
                ecn: out.ecn,
                payload: Payload::Data(data),
            };
            if !is_oracle {
                self.slots[way as usize].give_away(now, out.bytes);
            }
            let mut tap = ProbeTap {
                probe: &mut *probe,
                acks: &mut self.acks,
                outcome: &mut self.outcome,
                slots: &mut self.slots,
            };
            self.network.send(now, way, packet, &mut tap);
        }
        self.work.out.clear();
    }

    fn on_data<P: Probe>(
        &mut self,
        (now, detour): (Time, Duration),
        flow: u32,
        (bytes, ecn): (Bytes, Ecn),
        data: &Data,
        probe: &mut P,
    ) {
        if self.flows[flow as usize]
            .receiver
            .must_ack_before(data.segment)
        {
            self.send_ack(now, flow, probe);
        }
        let f = &mut self.flows[flow as usize];
        f.receiver.estimate(now, bytes, data.signal);
        let arrival = f.receiver.on_packet(now, data, ecn);
        f.receiver.needed_from(data.needs_from);
        probe.on_deliver(&Delivery {
            flow: flow as usize,
            now,
            sent_at: data.sent_at,
            detour,
            bytes,
            first_copy: arrival.first_copy,
            estimator: f.receiver.estimator(),
        });
        let first_missing = f.receiver.first_missing();
        while let Some(written_at) = f.sender.frame_below(first_missing) {
            probe.on_frame(flow as usize, written_at, now);
        }
        if arrival.ack_now {
            self.send_ack(now, flow, probe);
        } else if let Some(deadline) = f.receiver.deadline() {
            self.timers
                .set_no_later(Timer::Receiver.slot(flow), deadline);
        }
    }

    fn on_receiver_timer<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let slot = Timer::Receiver.slot(flow);
        let deadline = self.flows[flow as usize].receiver.deadline();
        let is_due = deadline.is_some_and(|at| at <= now);
        let next = deadline.filter(|_| !is_due).unwrap_or(Time::MAX);
        self.timers.set(slot, next);
        if is_due {
            self.send_ack(now, flow, probe);
        }
    }

    #[inline]
    fn send_ack<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let (body, ack) = self.acks.take();
        self.flows[flow as usize].receiver.write_ack(now, ack);
        let packet = Packet {
            flow,
            bytes: self.ack_size + Bytes::new(ack.timestamps.len() as u64),
            // As TCP's (RFC 3168 §6.1.4); QUIC's may be ECN-capable, but nothing answers their marks.
            ecn: Ecn::NotEct,
            payload: Payload::Ack(body),
        };
        let way = self.flows[flow as usize].access.direction.back();
        self.slots[way as usize].give_away(now, packet.bytes);
        let mut tap = ProbeTap {
            probe,
            acks: &mut self.acks,
            outcome: &mut self.outcome,
            slots: &mut self.slots,
        };
        self.network.send(now, way, packet, &mut tap);
    }
}
