//! What drives the stacks: their applications, their timers, and the network between them.

use std::collections::VecDeque;
use std::time::Instant;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::network::seed::Stream;
use lowtide_sim::source::{Source, SourceConfig};
use lowtide_sim::stack::{self, Dumbbell, Error, HEADERS, Received, Shared, Timed};
use lowtide_sim::transport::EcnFeedback;
use lowtide_sim::{FlowConfig, Outcome, Probe, SimConfig};

use crate::end::{CHUNK, Certificate, End, Setup, Stack};

/// The streams of randomness that a flow's seed gives its ends.
pub(crate) const SERVER_STREAM: u64 = 1;
pub(crate) const CLIENT_STREAM: u64 = 2;

/// The first bit of packets with a long header, which are those of the handshake (RFC 9000 §17.2).
const LONG_HEADER: u8 = 0x80;

/// The network and the time.
struct Wire<P> {
    dumbbell: Dumbbell<Vec<u8>, P>,
    now: Time,
}

impl<P: Probe + Send + 'static> Timed for Wire<P> {
    type Packet = Vec<u8>;
    type Probe = P;

    fn now(&mut self) -> Time {
        self.now
    }

    fn dumbbell(&mut self) -> &mut Dumbbell<Vec<u8>, P> {
        &mut self.dumbbell
    }
}

/// The two ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Sender,
    Receiver,
}

/// What an application does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its flow has not begun.
    Waiting,
    /// Connects, or writes.
    Active,
    /// All is written.
    Finished,
    /// All is acknowledged, or nobody waits for it.
    Over,
}

/// A flow at work.
pub(crate) struct Flow<E> {
    config: FlowConfig,
    pub(crate) sender: E,
    receiver: E,
    /// When their timers are due.
    timeouts: [Option<Time>; 2],
    source: Source,
    stage: Stage,
    /// The most that the application writes at once: where frames are told apart, a packet.
    at_once: usize,
    written: u64,
    pub(crate) read: u64,
    /// Frames that have been written and not read: where in the stream they end, and when they were
    /// written.
    frames: VecDeque<(u64, Time)>,
}

impl<E: End> Flow<E> {
    /// When it has something to do whatever arrives.
    fn next(&self) -> Option<Time> {
        let of_application = match self.stage {
            Stage::Waiting => Some(self.config.start),
            Stage::Active if self.sender.is_up() => {
                let stop = self.config.stop.into_iter();
                stop.chain(self.source.next_write()).min()
            }
            Stage::Active => self.config.stop,
            Stage::Finished | Stage::Over => None,
        };
        let timers = self.timeouts.iter().flatten().copied();
        timers.chain(of_application).min()
    }

    fn end(&mut self, side: Side) -> &mut E {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }

    /// The application writes what its source has and the stack takes.
    fn write(&mut self, now: Time) {
        if self.stage != Stage::Active {
            return;
        }
        if self.config.stop.is_some_and(|stop| now >= stop) {
            self.sender.reset();
            self.stage = Stage::Over;
            return;
        }
        if !self.sender.is_up() {
            return;
        }
        loop {
            let available = self.source.available(now).get();
            let written = self.sender.write(self.at_once.min(available as usize));
            if written == 0 {
                break;
            }
            self.source.take(Bytes::new(written as u64));
            self.written += written as u64;
            while let Some(at) = self.source.completed_frame() {
                self.frames.push_back((self.written, at));
            }
        }
        if self.source.is_finished() {
            self.sender.finish();
            self.stage = Stage::Finished;
        }
    }

    /// Sends again whether a sized flow is over, once.
    fn is_complete(&mut self) -> bool {
        if self.stage != Stage::Finished || !self.sender.is_delivered() {
            return false;
        }
        self.stage = Stage::Over;
        matches!(self.config.source, SourceConfig::Sized(_))
    }
}

/// A run under way.
pub(crate) struct Run<E, P> {
    /// The stack's time at the beginning.
    base: Instant,
    pub(crate) flows: Vec<Flow<E>>,
    wire: Shared<Wire<P>>,
    packet_size: Bytes,
    /// What a stack puts together; kept for its memory.
    buffer: Vec<u8>,
}

/// Runs a configuration with a stack and hands back its outcome and the probe.
pub(crate) fn run<S: Stack, P: Probe + Send + 'static>(
    mut stack: S,
    config: &SimConfig,
    probe: P,
) -> Result<(Outcome, P), Error> {
    let mut run = Run::new(&mut stack, config, probe)?;
    run.until(Time::ZERO + config.duration)?;
    run.finish()
}

impl<E: End, P: Probe + Send + 'static> Run<E, P> {
    pub(crate) fn new(
        stack: &mut impl Stack<End = E>,
        config: &SimConfig,
        probe: P,
    ) -> Result<Self, Error> {
        let packet_size = stack::check(config)?;
        let certificate = Certificate::new()?;
        let wire = Shared::new(Wire {
            dumbbell: Dumbbell::new(config, probe),
            now: Time::ZERO,
        });
        let mut flows = Vec::with_capacity(config.flows.len());
        for (index, flow) in config.flows.iter().enumerate() {
            let seed = Stream::Flow(index).seed(config.seed);
            let [sender, receiver] = stack.ends(&Setup {
                config,
                flow,
                packet_size,
                seed,
                certificate: &certificate,
                observer: wire.observer(index),
            })?;
            let has_frames = matches!(
                flow.source,
                SourceConfig::Video { .. } | SourceConfig::Frames { .. }
            );
            flows.push(Flow {
                config: flow.clone(),
                sender,
                receiver,
                timeouts: [None; 2],
                source: Source::new(flow.source, flow.start, config.packet_size, seed),
                stage: Stage::Waiting,
                at_once: if has_frames {
                    usize::from(packet_size)
                } else {
                    CHUNK
                },
                written: 0,
                read: 0,
                frames: VecDeque::new(),
            });
        }
        Ok(Self {
            base: Instant::now(),
            flows,
            wire,
            packet_size: config.packet_size,
            buffer: Vec::new(),
        })
    }

    /// The outcome and the probe.
    pub(crate) fn finish(self) -> Result<(Outcome, P), Error> {
        // With the observers.
        drop(self.flows);
        Ok(self.wire.into_inner()?.dumbbell.finish())
    }

    fn instant(&self, time: Time) -> Instant {
        self.base + std::time::Duration::from(time.since(Time::ZERO))
    }

    /// Lets all happen that happens before `end`.
    pub(crate) fn until(&mut self, end: Time) -> Result<(), Error> {
        loop {
            let network = self.wire.lock().dumbbell.next_event();
            let flows = self.flows.iter().filter_map(Flow::next);
            let Some(next) = flows.chain(network).min().filter(|next| *next < end) else {
                return Ok(());
            };
            let now = {
                let mut wire = self.wire.lock();
                wire.now = wire.now.max(next);
                wire.now
            };
            while let Some(received) = self.arrival(now) {
                self.receive(now, &received)?;
            }
            for index in 0..self.flows.len() {
                if self.flows[index].next().is_some_and(|at| at <= now) {
                    self.wake(now, index)?;
                }
            }
        }
    }

    fn arrival(&self, now: Time) -> Option<Received<Vec<u8>>> {
        self.wire.lock().dumbbell.advance(now)
    }

    fn receive(&mut self, now: Time, received: &Received<Vec<u8>>) -> Result<(), Error> {
        let side = if received.is_forward {
            Side::Receiver
        } else {
            Side::Sender
        };
        let instant = self.instant(now);
        let end = self.flows[received.flow].end(side);
        end.receive(instant, received.ecn, &received.payload);
        self.serve(now, received.flow, side)
    }

    /// Something of a flow is due.
    fn wake(&mut self, now: Time, index: usize) -> Result<(), Error> {
        let instant = self.instant(now);
        for side in [Side::Sender, Side::Receiver] {
            let flow = &mut self.flows[index];
            let is_due = flow.timeouts[side as usize].is_some_and(|at| at <= now);
            if is_due {
                flow.end(side).on_timeout(instant);
            }
            if is_due || side == Side::Sender {
                self.serve(now, index, side)?;
            }
        }
        Ok(())
    }

    /// Lets one end of a flow, and its application, do all that they can do now.
    fn serve(&mut self, now: Time, index: usize, side: Side) -> Result<(), Error> {
        let instant = self.instant(now);
        let flow = &mut self.flows[index];
        if let Some(reason) = flow.end(side).update(instant) {
            return Err(Error::Closed {
                flow: index,
                at: now,
                reason,
            });
        }
        match side {
            Side::Sender => {
                if flow.stage == Stage::Waiting && now >= flow.config.start {
                    flow.stage = Stage::Active;
                    flow.sender.connect(instant)?;
                    flow.receiver.connect(instant)?;
                    // Where the receiver is the client, it speaks first.
                    self.transmit(now, index, Side::Receiver);
                }
                let flow = &mut self.flows[index];
                flow.write(now);
                if flow.is_complete() {
                    let probe = &mut self.wire.lock().dumbbell.probe;
                    probe.on_flow_complete(index, now);
                }
            }
            Side::Receiver => {
                flow.read += flow.receiver.read();
                while let Some(&(_, written_at)) =
                    flow.frames.front().filter(|(end, _)| *end <= flow.read)
                {
                    flow.frames.pop_front();
                    let probe = &mut self.wire.lock().dumbbell.probe;
                    probe.on_frame(index, written_at, now);
                }
            }
        }
        self.transmit(now, index, side);
        let timeout = self.flows[index].end(side).timeout();
        let past = |at: Instant| Duration::from(at.saturating_duration_since(self.base));
        self.flows[index].timeouts[side as usize] = timeout.map(|at| Time::ZERO + past(at));
        Ok(())
    }

    /// Hands the packets that may leave now to the network.
    fn transmit(&mut self, now: Time, index: usize, side: Side) {
        let instant = self.instant(now);
        let flow = &mut self.flows[index];
        let may_mark = side == Side::Sender && flow.config.ecn != EcnFeedback::Off;
        self.buffer.clear();
        while let Some((size, ecn)) = flow.end(side).transmit(instant, &mut self.buffer) {
            let mut wire = self.wire.lock();
            for payload in self.buffer.chunks(size.max(1)) {
                let is_of_handshake = payload[0] & LONG_HEADER != 0;
                let bytes = if is_of_handshake {
                    self.packet_size
                } else {
                    Bytes::new(payload.len() as u64) + HEADERS
                };
                let packet = Received {
                    flow: index,
                    is_forward: side == Side::Sender,
                    ecn: if may_mark { ecn } else { Ecn::NotEct },
                    payload: payload.to_vec(),
                };
                wire.dumbbell.submit(now, bytes, packet);
            }
            drop(wire);
            self.buffer.clear();
        }
    }
}
