//! Sprout (Winstein, Sivaraman and Balakrishnan, NSDI 2013): sends what a cautious forecast of the link will
//! have delivered within 100 ms.
//!
//! A receiver ([`Receiver`]) forecasts how much will arrive in each of the next eight ticks of 20 ms. From
//! what is in flight when a forecast comes, and from what it lets out tick by tick, the sender knows how much
//! is still queued; it may send what the forecast lets out within five ticks from now on, less that queue.
//!
//! Sprout's own receiver is a program of its own, which sends its forecasts back. All that it goes by
//! is when packets arrived, and whether the sender meant to pause then. The sender knows the one from
//! receivers that report it ([`AckedPacket::received_at`](crate::controller::AckedPacket::received_at)),
//! and else takes the times of acknowledgments for it; the other it knows best. So the receiver's part
//! runs at the sender.

pub(crate) mod entry;

mod flights;
mod receiver;

use self::flights::Flights;
pub use self::receiver::{Forecaster, Receiver};
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::estimators::TICKS;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// A tick, [`crate::estimators::TICK`].
const TICK: Duration = Duration::from_millis(20);
/// Ticks within which what is sent is to be delivered (`TARGET_DELAY_TICKS`).
const TARGET: usize = 5;
/// A packet leaves at least that often, so that there is something to forecast from
/// (`fallback_interval`).
const HEARTBEAT: Duration = Duration::from_millis(50);

const START: State = State::new("Start", StateKind::Start);
const FORECAST: State = State::new("Forecast", StateKind::Steady);
const OUTAGE: State = State::new("Outage", StateKind::Outage);
const STATES: &[State] = &[START, FORECAST, OUTAGE];

/// When packets arrived.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// The receiver reports it, by a clock of its own; else it is when they are acknowledged.
    is_peers: bool,
    /// How far the sender's clock was ahead of it when the newest report came, modulo 2^64 ns.
    lag: u64,
}

impl Clock {
    /// The newest arrival that could be known at `now`.
    fn at(self, now: Time) -> Time {
        Time::from_nanos(now.as_nanos().wrapping_sub(self.lag))
    }
}

/// A forecast in use.
#[derive(Clone, Copy, Debug)]
struct Outlook {
    /// Delivered by the end of each tick.
    delivered: [Bytes; TICKS],
    at: Time,
    /// Ticks that have passed since.
    tick: usize,
    /// Sent, and not delivered by now if the forecast is right.
    queue: Bytes,
}

impl Outlook {
    fn advance(&mut self, now: Time) {
        let passed = now.since(self.at).as_nanos() / TICK.as_nanos();
        let passed = passed.min(TICKS as u64 - 1) as usize;
        while self.tick < passed {
            let before = match self.tick {
                0 => Bytes::ZERO,
                tick => self.delivered[tick - 1],
            };
            self.queue -= self.delivered[self.tick] - before;
            self.tick += 1;
        }
    }

    /// What may be sent now.
    fn allowance(&self) -> Bytes {
        let target = (self.tick + TARGET).min(TICKS - 1);
        (self.delivered[target] - self.delivered[self.tick]) - self.queue
    }

    fn next_tick(&self) -> Option<Time> {
        (self.tick + 1 < TICKS).then(|| self.at + TICK * (self.tick as u64 + 1))
    }
}

/// Sprout.
#[derive(Clone, Debug)]
pub struct Sprout {
    receiver: Receiver,
    clock: Option<Clock>,
    flights: Flights,
    /// Arrived at a time that was not reported; counted with the next packet of which it was.
    unplaced: Bytes,
    /// One of them ended a flight.
    unplaced_end: bool,
    outlook: Option<Outlook>,
    inflight: Bytes,
    sent_at: Time,
    heartbeat_due: bool,
    max_datagram: Bytes,
    initial_window: Bytes,
}

impl Sprout {
    /// A flow that has heard nothing.
    #[must_use]
    pub fn new(config: &Config, forecaster: Forecaster) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        Self {
            receiver: Receiver::new(forecaster),
            clock: None,
            flights: Flights::default(),
            unplaced: Bytes::ZERO,
            unplaced_end: false,
            outlook: None,
            inflight: Bytes::ZERO,
            sent_at: config.now,
            heartbeat_due: false,
            max_datagram,
            initial_window: config.initial_window.max(max_datagram),
        }
    }

    fn advance(&mut self, now: Time) {
        if let Some(outlook) = &mut self.outlook {
            outlook.advance(now);
        }
    }

    /// Tells the receiver what arrived; true when that has ended a tick.
    fn hear(&mut self, ack: &AckEvent<'_>) -> bool {
        let clock = self.clock.get_or_insert_with(|| Clock {
            is_peers: ack.packets.iter().any(|p| p.received_at.is_some()),
            lag: 0,
        });
        // A peer that reports no time at all has stopped to, or had no room: what it acknowledges has arrived.
        let at_latest = clock.at(ack.now);
        let is_reported = ack.packets.iter().any(|p| p.received_at.is_some());
        let mut ticked = false;
        for packet in ack.packets {
            self.unplaced += packet.bytes;
            self.unplaced_end |= self.flights.ended_with(packet.number);
            let at = if clock.is_peers && is_reported {
                packet.received_at
            } else {
                Some(at_latest)
            };
            if let Some(at) = at {
                clock.lag = ack.now.as_nanos().wrapping_sub(at.as_nanos());
                let packets = core::mem::take(&mut self.unplaced).as_f64();
                let packets = packets / self.max_datagram.as_f64();
                let ends_flight = core::mem::take(&mut self.unplaced_end);
                ticked |= self.receiver.on_arrival(at, packets, ends_flight);
            }
        }
        ticked
    }

    fn renew_outlook(&mut self, now: Time) {
        if self.receiver.escapes() {
            self.outlook = None;
            return;
        }
        let delivered = self.receiver.forecast();
        self.outlook = Some(Outlook {
            delivered: delivered.map(|packets| self.max_datagram.mul_f64(packets)),
            at: now,
            tick: 0,
            queue: self.inflight,
        });
    }

    /// What may be sent now; `None` before the first forecast.
    fn allowance(&self) -> Option<Bytes> {
        self.outlook.as_ref().map(Outlook::allowance)
    }

    /// The forecast holds the next packet back.
    fn is_held(&self) -> bool {
        self.allowance().is_some_and(|a| a < self.max_datagram)
    }
}

impl Controller for Sprout {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.advance(sent.now);
        self.inflight = sent.inflight;
        self.sent_at = sent.now;
        self.heartbeat_due = false;
        let inflight = sent.inflight.as_f64() / self.max_datagram.as_f64();
        self.receiver.on_packet_sent(inflight, sent.app_limited);
        if let Some(outlook) = &mut self.outlook {
            outlook.queue += sent.bytes;
        }
        let more_follows = sent.inflight + self.max_datagram <= self.cwnd();
        self.flights
            .on_packet_sent(sent.number, sent.app_limited || !more_follows);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.advance(ack.now);
        self.inflight = ack.inflight;
        if self.hear(ack) {
            self.renew_outlook(ack.now);
        }
    }

    /// What is lost is out of flight, and no more than that.
    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.inflight = loss.inflight;
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.inflight = timeout.inflight;
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram.max(Bytes::new(1));
    }

    fn on_wakeup(&mut self, now: Time) {
        self.advance(now);
        // Sprout's receiver reports silence, too.
        if let (Some(clock), false) = (self.clock, self.inflight.is_zero())
            && self.receiver.advance(clock.at(now))
        {
            self.renew_outlook(now);
        }
        self.heartbeat_due |= self.is_held() && now >= self.sent_at + HEARTBEAT;
    }

    fn next_wakeup(&self) -> Option<Time> {
        let tick = self.outlook.as_ref().and_then(Outlook::next_tick);
        let waits = self.is_held() && !self.heartbeat_due;
        let heartbeat = waits.then(|| self.sent_at + HEARTBEAT);
        tick.into_iter().chain(heartbeat).min()
    }

    fn cwnd(&self) -> Bytes {
        let Some(allowance) = self.allowance() else {
            return self.initial_window.max(self.max_datagram);
        };
        let allowance = if self.heartbeat_due {
            allowance.max(self.max_datagram)
        } else {
            allowance
        };
        (self.inflight + allowance).max(self.max_datagram)
    }

    /// What may be sent, is sent; where a host wants a rate, within a tick.
    fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_volume(self.cwnd(), TICK);
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        self.cwnd()
    }

    fn snapshot(&self) -> Snapshot {
        let expects = |o: &Outlook| !o.delivered[TICKS - 1].is_zero();
        Snapshot {
            phase: match &self.outlook {
                None => START.name,
                Some(outlook) if expects(outlook) => FORECAST.name,
                Some(_) => OUTAGE.name,
            },
            bandwidth: self
                .receiver
                .packets_per_second()
                .map(|rate| Rate::from_bytes_per_sec((rate * self.max_datagram.as_f64()) as u64)),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}
