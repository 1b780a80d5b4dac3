//! Prague (draft-briscoe-iccrg-prague-congestion-control-04): the L4S sender (RFC 9330, RFC 9331).
//!
//! Queues that support L4S mark ECT(1) packets as soon as a queue of a millisecond stands. Prague
//! answers with the share of marked packets, α: one virtual round's marks take α/2 of the window, each
//! packet that is not marked adds its part of a packet a round. "Virtual" means as if the round trip
//! took at least 25 ms, so that flows of short round trips do not push others aside. Losses are Reno's;
//! so are marks that come from a queue of the old kind, where that is looked for (`classic.rs`).

mod alpha;
mod classic;
pub(crate) mod entry;
#[cfg(test)]
mod tests;

use self::alpha::MarkedShare;
use self::classic::ClassicMarks;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::mechanisms::{RenoWindow, SmoothedRtt};
use crate::units::{Bytes, Duration, Rate, Time};

/// The round trip as which shorter ones count (draft §2.4.4; the reference implementations' default).
const LEAST_VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// What a burst may hold: an L4S queue marks from a millisecond on (Linux `prague_burst_shift`: 1/4096 s).
const BURST: Duration = Duration::from_micros(250);
/// What Reno takes off its window at a mark of the old kind (RFC 3168 §6.1.2).
const CLASSIC_REDUCTION: f64 = 0.5;
/// In slow start packets leave at twice the rate at which they are acknowledged, so that pacing does
/// not hold back what doubles.
const SLOW_START_PACING: f64 = 2.0;

/// A reduction for marks is the last for a virtual round (the draft's CWR state).
#[derive(Clone, Copy, Debug)]
struct Reduced {
    at: Time,
    /// Packets from here on were sent after it.
    next_number: u64,
    by: Bytes,
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    reno: RenoWindow,
    rtt: SmoothedRtt,
    min_rtt: Duration,
    marks: MarkedShare,
    classic: Option<ClassicMarks>,
    /// Marks of the acknowledgment under way.
    newly_marked: u64,
    reduced: Option<Reduced>,
    /// Growth that is less than a byte.
    growth: f64,
}

impl Prague {
    /// A flow in slow start; `falls_back`: whether marks of queues of the old kind are answered as
    /// Reno answers them.
    #[must_use]
    pub fn new(config: &Config, falls_back: bool) -> Self {
        Self {
            reno: RenoWindow::new(config),
            rtt: SmoothedRtt::default(),
            min_rtt: Duration::MAX,
            marks: MarkedShare::new(config.now),
            classic: falls_back.then(ClassicMarks::new),
            newly_marked: 0,
            reduced: None,
            growth: 0.0,
        }
    }

    /// A flow in congestion avoidance that has seen no marks so far.
    pub(crate) fn in_avoidance(config: &Config) -> Self {
        let mut prague = Self::new(config, false);
        prague.reno.lower(Bytes::ZERO);
        prague.marks.alpha = 0.0;
        prague
    }

    fn virtual_rtt(&self) -> Duration {
        self.rtt.mean().max(LEAST_VIRTUAL_RTT)
    }

    /// The share of the window that marks take: α/2 (draft §2.4.2).
    fn reduction(&self) -> f64 {
        let scalable = self.marks.alpha / 2.0;
        let classic = self.classic.map_or(0.0, |c| c.share());
        scalable + classic * (CLASSIC_REDUCTION - scalable).max(0.0)
    }

    fn reduce(&mut self, now: Time) {
        let before = self.reno.window();
        self.reno.lower(before.mul_f64(self.reduction()));
        self.reduced = Some(Reduced {
            at: now,
            next_number: self.marks.next_number,
            by: before - self.reno.window(),
        });
    }

    /// A packet a round, for what was not marked, by the square of the real round trip in virtual ones (draft §2.4.4):
    /// once because a real round is so much shorter, once because a packet a round is so much faster.
    fn grow(&mut self, unmarked: f64) {
        let share = self.rtt.mean().ratio(self.virtual_rtt());
        let packet = self.reno.max_datagram().as_f64();
        self.growth += unmarked * packet * packet / self.reno.window().as_f64() * share * share;
        let whole = libm::floor(self.growth);
        self.growth -= whole;
        self.reno.raise(Bytes::new(whole as u64));
    }
}

impl crate::Wrap for Prague {
    type Inner = RenoWindow;

    fn inner(&self) -> &RenoWindow {
        &self.reno
    }

    fn inner_mut(&mut self) -> &mut RenoWindow {
        &mut self.reno
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.reno.on_packet_sent(sent);
        self.marks.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if let Some(rtt) = ack.rtt {
            self.rtt.update(rtt);
            self.min_rtt = self.min_rtt.min(rtt);
        }
        let newest = ack.packets.last().map_or(0, |p| p.number);
        let virtual_rtt = self.virtual_rtt();
        self.reduced = self.reduced.filter(|reduced| {
            newest < reduced.next_number || ack.now.since(reduced.at) < virtual_rtt
        });
        let marked = core::mem::take(&mut self.newly_marked);
        if self
            .marks
            .on_ack(ack, virtual_rtt)
            .is_some_and(|share| share > 0.0)
            && let Some(classic) = &mut self.classic
        {
            classic.on_marked_round(&self.rtt, self.min_rtt);
        }
        let may_grow = self.reno.take_ack(ack);
        if marked > 0 && self.reduced.is_none() && !self.reno.in_recovery() {
            self.reduce(ack.now);
        }
        if !may_grow {
            return;
        }
        if self.reno.in_slow_start() {
            self.reno.grow(ack.bytes_acked);
        } else {
            self.grow((ack.packets.len() as u64).saturating_sub(marked) as f64);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if self.reno.take_loss(loss)
            && let Some(reduced) = self.reduced.take()
        {
            // Half of what the window was before the marks of this round (draft §2.4.1: the response to loss).
            self.reno.raise(reduced.by.mul_f64(0.5));
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
        self.reduced = None;
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, marked_packets: u64) {
        self.newly_marked = self.newly_marked.saturating_add(marked_packets);
        self.marks.on_marks(marked_packets);
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    /// After slow start a window an RTT and no more (draft, "Packet Pacing").
    fn pacing_rate(&self) -> Option<Rate> {
        if self.rtt.mean().is_zero() {
            return None;
        }
        let rate = Rate::from_volume(self.reno.window(), self.rtt.mean());
        let gain = if self.reno.in_slow_start() {
            SLOW_START_PACING
        } else {
            1.0
        };
        Some(rate.mul_f64(gain).max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        let burst = Controller::pacing_rate(self).map(|rate| rate.volume_in(BURST));
        burst
            .unwrap_or_default()
            .max(self.reno.max_datagram())
            .min(self.reno.send_quantum())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            min_rtt: Some(self.min_rtt).filter(|rtt| *rtt != Duration::MAX),
            ..self.reno.snapshot()
        }
    }
}
