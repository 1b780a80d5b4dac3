//! The event loop.
//!
//! ```text
//!             sender's access      bottleneck                    receiver's access
//!   sender ──► rate ─► delay ──► queue ─► link ─► delay, loss ──► rate ─► delay ──► receiver
//!     ▲                                                                              │
//!     └──────────── delays ◄─── delay, loss, aggregation ◄─ link ◄─ queue ◄──────────┘
//! ```
//!
//! Each event is one of: a packet left one of the two links, a packet or an acknowledgment reached
//! the end of a delay line, a sender's or receiver's timer. Access links are FIFO and
//! unlimited, so that the time a packet leaves them is known when it enters; they need no event.

pub mod access;
pub mod lane;
mod oracle;
mod packet;
pub mod pipe;
mod schedule;

use lowtide_cc::Config;
use lowtide_cc::rbbr;
use lowtide_cc::units::{Bytes, Duration, Time};

use self::access::AccessLink;
use self::lane::Lane;
use self::oracle::BottleneckSlots;
use self::packet::{AckPacket, DataPacket};
use self::pipe::{Offer, Pipe};
use self::schedule::Schedule;
use crate::config::{AccessConfig, FlowConfig, SenderKind, SimConfig};
use crate::link::Server;
use crate::probe::{Delivery, DropCause, Probe, Sent};
use crate::source::Source;
use crate::transport::receiver::{Ack, Receiver};
use crate::transport::sender::{Driver, Outgoing, Sender, SenderSetup};

/// What a finished simulation says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Data packets that crossed the bottleneck link.
    pub bottleneck_packets: u64,
    /// Events that were processed.
    pub events: u64,
}

/// Why a configuration cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is nobody to send.
    #[error("a simulation needs at least one flow")]
    NoFlows,
    /// More flows than slots can be numbered.
    #[error("{0} flows are too many: the most is {MAX_FLOWS}")]
    TooManyFlows(usize),
    /// Packets would carry nothing.
    #[error("the packet size must be at least 1 byte")]
    ZeroPacketSize,
    /// Nothing would happen.
    #[error("the duration must be longer than zero")]
    ZeroDuration,
    /// The oracle would send infinitely fast.
    #[error("flow {0}: the oracle needs a bottleneck of limited rate")]
    OracleOnUnlimitedLink(usize),
    /// Flow, which rate.
    #[error("flow {0}: the rate of the {1}'s access link must be above zero")]
    ZeroAccessRate(usize, &'static str),
    /// Acknowledging every zero packets makes no sense.
    #[error("flow {0}: a receiver acknowledges at least every 1 packet, not every 0")]
    ZeroAckEvery(usize),
}

/// The most flows of one simulation.
const MAX_FLOWS: usize = 1_000_000;

/// Slots of the schedule, in the order in which they fire at the same instant: the two links, the
/// lines towards receivers, those towards senders, then each flow's own.
const FORWARD_LINK: u32 = 0;
const REVERSE_LINK: u32 = 1;
const FIRST_LINE: u32 = 2;

/// A flow's own slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowSlot {
    /// The head of the line towards the bottleneck.
    Access = 0,
    /// The receiver's acknowledgment timer.
    Receiver = 1,
    /// The sender's timers.
    Sender = 2,
}

const SLOTS_PER_FLOW: u32 = 3;

/// Where each kind of slot begins.
#[derive(Clone, Copy, Debug)]
struct SlotMap {
    first_ack_line: u32,
    first_flow: u32,
}

impl SlotMap {
    #[inline]
    fn of_flow(self, flow: u32, slot: FlowSlot) -> u32 {
        self.first_flow + flow * SLOTS_PER_FLOW + slot as u32
    }

    #[inline]
    fn of_delivery_line(self, line: u32) -> u32 {
        FIRST_LINE + line
    }

    #[inline]
    fn of_ack_line(self, line: u32) -> u32 {
        self.first_ack_line + line
    }
}

/// Delay lines. Flows whose packets take the same way share one, so that there are few of them
/// however many flows there are; packets then mostly join at the end.
#[derive(Debug)]
struct Lines<T> {
    lanes: Vec<Lane<T>>,
}

impl<T> Lines<T> {
    /// One line for each different key; returns each flow's line.
    fn by_key<K: PartialEq>(keys: impl Iterator<Item = Option<K>>) -> (Self, Vec<u32>) {
        let mut known: Vec<Option<K>> = Vec::new();
        let mut line_of = Vec::new();
        for key in keys {
            // `None` is a way of one's own.
            let at = known.iter().position(|k| key.is_some() && *k == key);
            line_of.push(at.unwrap_or(known.len()) as u32);
            if at.is_none() {
                known.push(key);
            }
        }
        (
            Self {
                lanes: known.iter().map(|_| Lane::new()).collect(),
            },
            line_of,
        )
    }

    fn count(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Adds an item; true when it became the head.
    #[inline]
    fn push(&mut self, line: u32, arrival: Time, item: T) -> bool {
        self.lanes[line as usize].push(arrival, item)
    }

    /// Takes the head and sets the line's slot to the next one.
    #[inline]
    fn pop(&mut self, line: u32, slot: u32, schedule: &mut Schedule) -> Option<T> {
        pop_head(&mut self.lanes[line as usize], slot, schedule)
    }
}

#[inline]
fn pop_head<T>(lane: &mut Lane<T>, slot: u32, schedule: &mut Schedule) -> Option<T> {
    let head = lane.pop();
    match lane.next_arrival() {
        Some(time) => schedule.set(slot, time),
        None => schedule.clear(slot),
    }
    head
}

#[derive(Debug)]
struct Flow {
    sender: Sender,
    receiver: Receiver,
    sender_access: AccessLink,
    receiver_access: AccessLink,
    /// Delay of acknowledgments outside the shared path.
    ack_delay: Duration,
    to_bottleneck: Lane<DataPacket>,
    delivery_line: u32,
    ack_line: u32,
}

/// Acknowledgments on their way. Bodies are reused.
#[derive(Debug, Default)]
struct AckPool {
    bodies: Vec<Ack>,
    free: Vec<u32>,
}

impl AckPool {
    #[inline]
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.bodies.push(Ack::default());
            (self.bodies.len() - 1) as u32
        })
    }
}

/// A network with its flows, ready to run.
#[derive(Debug)]
pub struct Simulation {
    end: Time,
    ack_size: Bytes,
    schedule: Schedule,
    forward: Pipe<DataPacket>,
    reverse: Pipe<AckPacket>,
    /// Acknowledgments need no event at a reverse link that takes no time.
    reverse_is_free: bool,
    slots: BottleneckSlots,
    flows: Vec<Flow>,
    deliveries: Lines<DataPacket>,
    ack_lines: Lines<AckPacket>,
    slot_map: SlotMap,
    /// When each flow starts, and its delays before and behind the link.
    starts: Vec<(Time, Duration, Duration)>,
    acks: AckPool,
    outbox: Vec<Outgoing>,
    outcome: Outcome,
}

impl Simulation {
    /// Sets up the network.
    ///
    /// # Errors
    /// When the configuration cannot be simulated; see [`ConfigError`].
    pub fn new(config: SimConfig) -> Result<Self, ConfigError> {
        check(&config)?;
        let base_rtt = config.base_rtt(&config.flows[0].access);
        let end = Time::ZERO + config.duration;
        let access = || config.flows.iter().map(|f| f.access);
        let (deliveries, delivery_line) =
            Lines::by_key(access().map(|a| a.receiver_rate.is_none().then_some(a.receiver_delay)));
        let (ack_lines, ack_line) =
            Lines::by_key(access().map(|a| Some(a.sender_delay + a.receiver_delay)));
        let first_ack_line = FIRST_LINE + deliveries.count();
        let slot_map = SlotMap {
            first_ack_line,
            first_flow: first_ack_line + ack_lines.count(),
        };
        let mut schedule = Schedule::new(
            slot_map.first_flow as usize + config.flows.len() * SLOTS_PER_FLOW as usize,
        );
        let mut flows = Vec::with_capacity(config.flows.len());
        let mut starts = Vec::with_capacity(config.flows.len());
        for (index, flow) in config.flows.iter().enumerate() {
            schedule.set(slot_map.of_flow(index as u32, FlowSlot::Sender), flow.start);
            let from_link = config.forward.delay + flow.access.receiver_delay;
            starts.push((flow.start, flow.access.sender_delay, from_link));
            let lines = (delivery_line[index], ack_line[index]);
            flows.push(Flow::new(index, flow, &config, end, lines));
        }
        Ok(Self {
            end,
            ack_size: config.ack_size,
            schedule,
            // Odd constants keep the streams of the two directions apart.
            forward: Pipe::new(&config.forward, base_rtt, derive_seed(config.seed, 1)),
            reverse: Pipe::new(&config.reverse, base_rtt, derive_seed(config.seed, 2)),
            reverse_is_free: config.reverse.link.is_unlimited(),
            slots: BottleneckSlots::new(Server::new(config.forward.link.clone())),
            flows,
            deliveries,
            ack_lines,
            slot_map,
            starts,
            acks: AckPool::default(),
            outbox: Vec::new(),
            outcome: Outcome::default(),
        })
    }

    /// Runs to the end.
    pub fn run<P: Probe>(mut self, probe: &mut P) -> Outcome {
        for (flow, (start, to_link, from_link)) in self.starts.iter().enumerate() {
            probe.on_flow_start(flow, *start, *to_link, *from_link);
        }
        while let Some((now, slot)) = self.schedule.peek() {
            if now > self.end {
                break;
            }
            self.outcome.events += 1;
            match slot {
                FORWARD_LINK => self.on_forward_exit(now, probe),
                REVERSE_LINK => self.on_reverse_exit(now),
                _ if slot >= self.slot_map.first_flow => {
                    let index = slot - self.slot_map.first_flow;
                    let flow = index / SLOTS_PER_FLOW;
                    match index % SLOTS_PER_FLOW {
                        0 => self.on_bottleneck_arrival(now, flow, probe),
                        1 => self.on_receiver_timer(now, flow),
                        _ => self.on_sender_timer(now, flow, probe),
                    }
                }
                _ if slot >= self.slot_map.first_ack_line => {
                    self.on_ack_arrival(now, slot - self.slot_map.first_ack_line, probe);
                }
                _ => self.on_delivery(now, slot - FIRST_LINE, probe),
            }
        }
        self.outcome
    }

    fn on_sender_timer<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        self.schedule
            .clear(self.slot_map.of_flow(flow, FlowSlot::Sender));
        let f = &mut self.flows[flow as usize];
        let mut slots = self
            .slots
            .seen_from(f.sender_access.delay, f.sender_access.rate);
        f.sender.on_timer(now, &mut slots, &mut self.outbox, probe);
        self.after_sender(now, flow, probe);
    }

    fn on_ack_arrival<P: Probe>(&mut self, now: Time, line: u32, probe: &mut P) {
        let slot = self.slot_map.of_ack_line(line);
        let Some(AckPacket { flow, body }) = self.ack_lines.pop(line, slot, &mut self.schedule)
        else {
            return;
        };
        let f = &mut self.flows[flow as usize];
        let mut slots = self
            .slots
            .seen_from(f.sender_access.delay, f.sender_access.rate);
        let ack = &self.acks.bodies[body as usize];
        f.sender
            .on_ack(now, ack, &mut slots, &mut self.outbox, probe);
        self.acks.free.push(body);
        self.after_sender(now, flow, probe);
    }

    /// Puts what a sender has sent on the wire, and sets its timer.
    #[inline]
    fn after_sender<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for out in outbox.drain(..) {
            probe.on_send(&Sent {
                flow: flow as usize,
                now,
                number: out.number,
                bytes: out.bytes,
                retransmission: out.retransmission,
            });
            let packet = DataPacket {
                flow,
                number: out.number,
                segment: out.segment,
                bytes: out.bytes,
                sent_at: now,
                signal: out.signal,
            };
            let f = &mut self.flows[flow as usize];
            let arrival = f.sender_access.pass(now, out.bytes);
            if arrival == now {
                self.offer_forward(now, packet, probe);
            } else if f.to_bottleneck.push(arrival, packet) {
                self.schedule
                    .set(self.slot_map.of_flow(flow, FlowSlot::Access), arrival);
            }
        }
        self.outbox = outbox;
        if let Some(next) = self.flows[flow as usize].sender.next_event(now) {
            self.schedule
                .set_no_later(self.slot_map.of_flow(flow, FlowSlot::Sender), next);
        }
    }

    fn on_bottleneck_arrival<P: Probe>(&mut self, now: Time, flow: u32, probe: &mut P) {
        let slot = self.slot_map.of_flow(flow, FlowSlot::Access);
        let lane = &mut self.flows[flow as usize].to_bottleneck;
        let Some(packet) = pop_head(lane, slot, &mut self.schedule) else {
            return;
        };
        self.offer_forward(now, packet, probe);
    }

    #[inline]
    fn offer_forward<P: Probe>(&mut self, now: Time, packet: DataPacket, probe: &mut P) {
        match self.forward.offer(now, packet, packet.bytes) {
            Offer::Serving(until) => self.schedule.set(FORWARD_LINK, until),
            Offer::Queued => {}
            Offer::Dropped => {
                probe.on_drop(
                    packet.flow as usize,
                    now,
                    packet.bytes,
                    DropCause::QueueFull,
                );
            }
        }
    }

    fn on_forward_exit<P: Probe>(&mut self, now: Time, probe: &mut P) {
        let exit = self.forward.exit(now);
        match exit.and_then(|e| e.next_exit) {
            Some(time) => self.schedule.set(FORWARD_LINK, time),
            None => self.schedule.clear(FORWARD_LINK),
        }
        let Some(exit) = exit else {
            return;
        };
        self.outcome.bottleneck_packets += 1;
        let flow = exit.packet.flow;
        probe.on_bottleneck_exit(flow as usize, now, self.forward.queued(), exit.sojourn);
        let Some(arrival) = exit.arrival else {
            probe.on_drop(flow as usize, now, exit.bytes, DropCause::LinkLoss);
            return;
        };
        let f = &mut self.flows[flow as usize];
        let arrival = f.receiver_access.pass(arrival, exit.bytes);
        let line = f.delivery_line;
        if self.deliveries.push(line, arrival, exit.packet) {
            self.schedule
                .set(self.slot_map.of_delivery_line(line), arrival);
        }
    }

    fn on_delivery<P: Probe>(&mut self, now: Time, line: u32, probe: &mut P) {
        let slot = self.slot_map.of_delivery_line(line);
        let Some(packet) = self.deliveries.pop(line, slot, &mut self.schedule) else {
            return;
        };
        let flow = packet.flow;
        let f = &mut self.flows[flow as usize];
        f.receiver.estimate(now, packet.bytes, packet.signal);
        let arrival = f.receiver.on_packet(now, packet.number, packet.segment);
        probe.on_deliver(&Delivery {
            flow: flow as usize,
            now,
            sent_at: packet.sent_at,
            bytes: packet.bytes,
            first_copy: arrival.first_copy,
            estimator: f.receiver.estimator(),
        });
        if arrival.ack_now {
            self.send_ack(now, flow);
        } else if let Some(deadline) = f.receiver.deadline() {
            self.schedule
                .set_no_later(self.slot_map.of_flow(flow, FlowSlot::Receiver), deadline);
        }
    }

    fn on_receiver_timer(&mut self, now: Time, flow: u32) {
        let slot = self.slot_map.of_flow(flow, FlowSlot::Receiver);
        self.schedule.clear(slot);
        match self.flows[flow as usize].receiver.deadline() {
            Some(deadline) if deadline <= now => self.send_ack(now, flow),
            Some(deadline) => self.schedule.set(slot, deadline),
            None => {}
        }
    }

    #[inline]
    fn send_ack(&mut self, now: Time, flow: u32) {
        let body = self.acks.take();
        let f = &mut self.flows[flow as usize];
        f.receiver
            .write_ack(now, &mut self.acks.bodies[body as usize]);
        match self
            .reverse
            .offer(now, AckPacket { flow, body }, self.ack_size)
        {
            Offer::Serving(_) if self.reverse_is_free => self.on_reverse_exit(now),
            Offer::Serving(until) => self.schedule.set(REVERSE_LINK, until),
            Offer::Queued => {}
            Offer::Dropped => self.acks.free.push(body),
        }
    }

    fn on_reverse_exit(&mut self, now: Time) {
        let exit = self.reverse.exit(now);
        if !self.reverse_is_free {
            match exit.and_then(|e| e.next_exit) {
                Some(time) => self.schedule.set(REVERSE_LINK, time),
                None => self.schedule.clear(REVERSE_LINK),
            }
        }
        let Some(exit) = exit else {
            return;
        };
        let Some(arrival) = exit.arrival else {
            self.acks.free.push(exit.packet.body);
            return;
        };
        let f = &self.flows[exit.packet.flow as usize];
        let (arrival, line) = (arrival + f.ack_delay, f.ack_line);
        if self.ack_lines.push(line, arrival, exit.packet) {
            self.schedule.set(self.slot_map.of_ack_line(line), arrival);
        }
    }
}

impl Flow {
    /// `lines`: where its packets and its acknowledgments arrive.
    fn new(
        index: usize,
        flow: &FlowConfig,
        config: &SimConfig,
        end: Time,
        (delivery_line, ack_line): (u32, u32),
    ) -> Self {
        let seed = derive_seed(config.seed, 16 + index as u64);
        let (driver, estimator) = match &flow.sender {
            SenderKind::Oracle => (Driver::Oracle { next: None }, None),
            SenderKind::Controlled {
                controller,
                estimator,
            } => {
                let mut cc_config = Config::for_datagram(config.packet_size);
                cc_config.initial_window = flow.transport.initial_window(config.packet_size);
                cc_config.now = flow.start;
                cc_config.seed = seed;
                let estimator = estimator.as_ref().map(rbbr::Receiver::new);
                (Driver::Controller(controller(&cc_config)), estimator)
            }
        };
        let AccessConfig {
            sender_rate,
            sender_delay,
            receiver_rate,
            receiver_delay,
        } = flow.access;
        Self {
            sender: Sender::new(SenderSetup {
                flow: index,
                transport: flow.transport,
                pacing: flow.pacing,
                driver,
                source: Source::new(flow.source, flow.start, config.packet_size, seed),
                packet_size: config.packet_size,
                start: flow.start,
                stop: flow.stop.unwrap_or(Time::MAX).min(end),
            }),
            receiver: Receiver::new(&flow.transport, estimator),
            sender_access: AccessLink::new(sender_rate, sender_delay),
            receiver_access: AccessLink::new(receiver_rate, receiver_delay),
            ack_delay: sender_delay + receiver_delay,
            to_bottleneck: Lane::new(),
            delivery_line,
            ack_line,
        }
    }
}

/// Independent seeds from one (SplitMix64's finaliser over the stream number).
#[must_use]
pub fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add(stream.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn check(config: &SimConfig) -> Result<(), ConfigError> {
    if config.flows.is_empty() {
        return Err(ConfigError::NoFlows);
    }
    if config.flows.len() > MAX_FLOWS {
        return Err(ConfigError::TooManyFlows(config.flows.len()));
    }
    if config.packet_size.is_zero() {
        return Err(ConfigError::ZeroPacketSize);
    }
    if config.duration.is_zero() {
        return Err(ConfigError::ZeroDuration);
    }
    for (index, flow) in config.flows.iter().enumerate() {
        if matches!(flow.sender, SenderKind::Oracle) && config.forward.link.is_unlimited() {
            return Err(ConfigError::OracleOnUnlimitedLink(index));
        }
        for (rate, side) in [
            (flow.access.sender_rate, "sender"),
            (flow.access.receiver_rate, "receiver"),
        ] {
            if rate.is_some_and(|r| r.is_zero()) {
                return Err(ConfigError::ZeroAccessRate(index, side));
            }
        }
        if let crate::transport::TransportConfig::Quic { ack_every: 0, .. } = flow.transport {
            return Err(ConfigError::ZeroAckEvery(index));
        }
    }
    Ok(())
}
