//! A controller that is steered from outside, and what it sees.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::controller::number::span;

const STATES: &[State] = &[State::new("Steered", StateKind::Steady)];

/// What leaves back to back when pacing: as much as leaves in this time, and two packets at least.
const BURST_TIME: Duration = Duration::from_millis(1);

/// What is done until the next interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    /// Packets leave at this rate, whatever is in flight.
    Rate(Rate),
    /// The most bytes in flight; the host paces as it does for controllers that do not.
    Window(Bytes),
}

/// What the sender has seen since it was last looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) bytes_sent: u64,
    pub(super) bytes_acked: u64,
    pub(super) bytes_lost: u64,
    pub(super) packets_acked: u64,
    pub(super) packets_marked: u64,
    pub(super) rtt_count: u64,
    pub(super) rtt_sum: f64,
    pub(super) rtt_first: f64,
    pub(super) rtt_last: f64,
}

impl Seen {
    pub(super) fn mean_rtt(&self) -> Option<f64> {
        (self.rtt_count > 0).then(|| self.rtt_sum / self.rtt_count as f64)
    }
}

/// What the steered controller and whoever steers it share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) action: Action,
    pub(super) seen: Seen,
    pub(super) inflight: u64,
    /// The smallest RTT so far, seconds; infinite before the first sample.
    pub(super) min_rtt: f64,
}

/// The steering wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel(Arc<Mutex<Shared>>);

impl Wheel {
    pub(super) fn new(action: Action) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            action,
            seen: Seen::default(),
            inflight: 0,
            min_rtt: f64::INFINITY,
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Obeys the wheel, which it looks at once an interval.
#[derive(Debug)]
pub(super) struct Steered {
    wheel: Wheel,
    action: Action,
    interval: Duration,
    next_look: Time,
    packet: Bytes,
}

impl Steered {
    pub(super) fn new(wheel: Wheel, interval: Duration, config: &Config) -> Self {
        let action = wheel.lock().action;
        Self {
            wheel,
            action,
            interval,
            next_look: config.now,
            packet: config.max_datagram.max(Bytes::new(1)),
        }
    }
}

impl Controller for Steered {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        let mut shared = self.wheel.lock();
        shared.seen.bytes_sent += sent.bytes.get();
        shared.inflight = sent.inflight.get();
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let mut shared = self.wheel.lock();
        shared.inflight = ack.inflight.get();
        if let Some(rtt) = ack.rtt.map(span) {
            shared.min_rtt = shared.min_rtt.min(rtt);
        }
        let seen = &mut shared.seen;
        seen.bytes_acked += ack.bytes_acked.get();
        seen.packets_acked += ack.packets.len() as u64;
        if let Some(rtt) = ack.rtt.map(span) {
            if seen.rtt_count == 0 {
                seen.rtt_first = rtt;
            }
            seen.rtt_count += 1;
            seen.rtt_sum += rtt;
            seen.rtt_last = rtt;
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let mut shared = self.wheel.lock();
        shared.seen.bytes_lost += loss.bytes_lost.get();
        shared.inflight = loss.inflight.get();
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.wheel.lock().inflight = timeout.inflight.get();
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, marked: u64) {
        self.wheel.lock().seen.packets_marked += marked;
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1));
    }

    fn on_wakeup(&mut self, now: Time) {
        self.action = self.wheel.lock().action;
        while self.next_look <= now {
            self.next_look += self.interval;
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        Some(self.next_look)
    }

    fn cwnd(&self) -> Bytes {
        match self.action {
            Action::Rate(_) => Bytes::MAX,
            Action::Window(window) => window.max(self.packet),
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        match self.action {
            Action::Rate(rate) => Some(rate),
            Action::Window(_) => None,
        }
    }

    fn send_quantum(&self) -> Bytes {
        match self.action {
            Action::Rate(rate) => rate.volume_in(BURST_TIME).max(self.packet * 2),
            Action::Window(_) => self.packet * 10,
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: STATES[0].name,
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}
