//! Compound TCP (Tan et al., IEEE INFOCOM 2006; draft-sridharan-tcpm-ctcp-02).
//!
//! The window is the sum of a loss window, which is Reno's, and a delay window. Without a queue
//! the delay window grows faster the larger the window is; once `gamma` packets are queued it gives
//! back what is queued. A loss halves the sum. With a delay window of zero it is Reno.

pub(crate) mod entry;

mod gamma;

pub use self::gamma::Gamma;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::mechanisms::RenoWindow;
use crate::mechanisms::RoundsByNumber;
use crate::mechanisms::Undo;
use crate::units::{Bytes, Duration, Time};

/// Without a queue the window grows by `ALPHA · window^K` packets a round (α = 1/8 and k = 0.75
/// of the draft).
const ALPHA: f64 = 0.125;
const K: f64 = 0.75;
/// How many packets the delay window gives back for each that is queued (INFOCOM 2006, ζ).
const ZETA: f64 = 1.0;

/// What a timeout that proves spurious gives back, beside Reno's part.
#[derive(Clone, Copy, Debug)]
struct Saved {
    delay_window: Bytes,
    base_rtt: Duration,
    gamma: Gamma,
}

/// What a round has shown so far.
#[derive(Clone, Copy, Debug, Default)]
struct RoundStats {
    rtt_sum: Duration,
    samples: u64,
    /// The window limited the flow.
    limited: bool,
}

/// Compound TCP.
#[derive(Clone, Debug)]
pub struct Compound {
    /// The sum of both windows. Reno grows it by a packet for each window acknowledged and halves
    /// it at a loss, which is just what becomes of the loss window and, at β = 1/2, of the sum.
    reno: RenoWindow,
    /// The part of the sum that is the delay window.
    delay_window: Bytes,
    gamma: Gamma,
    /// The smallest RTT since the beginning or the last timeout.
    base_rtt: Duration,
    round: RoundsByNumber,
    stats: RoundStats,
    undo: Undo<Saved>,
}

impl Compound {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config, gamma: Gamma) -> Self {
        Self {
            reno: RenoWindow::new(config),
            delay_window: Bytes::ZERO,
            gamma,
            base_rtt: Duration::MAX,
            round: RoundsByNumber::default(),
            stats: RoundStats::default(),
            undo: Undo::new(),
        }
    }

    /// Reno's part of the window.
    fn loss_window(&self) -> Bytes {
        self.reno.window() - self.delay_window
    }

    fn save(&self) -> Saved {
        Saved {
            delay_window: self.delay_window,
            base_rtt: self.base_rtt,
            gamma: self.gamma,
        }
    }

    fn end_round(&mut self) {
        let stats = core::mem::take(&mut self.stats);
        if stats.samples == 0 {
            return;
        }
        let rtt = stats.rtt_sum.div(stats.samples);
        // The share of a window that is queued: 1 − base_rtt / rtt.
        let share = 1.0 - self.base_rtt.ratio(rtt);
        let packet = self.reno.max_datagram();
        self.gamma
            .observe(self.loss_window().as_f64() / packet.as_f64() * share);
        // The delay window waits for the end of slow start (draft).
        if self.reno.in_slow_start() {
            return;
        }
        let window = self.reno.packets();
        let queued = window * share;
        if queued >= self.gamma.packets() {
            let back = packet.mul_f64(ZETA * queued).min(self.delay_window);
            self.delay_window -= back;
            self.reno.lower(back);
        } else if stats.limited {
            // Of the growth, Reno's packet is in the loss window.
            let growth = packet.mul_f64(ALPHA * libm::pow(window, K) - 1.0);
            self.delay_window += growth;
            self.reno.raise(growth);
        }
    }

    /// The window was halved: so was each of its parts.
    fn halve(&mut self, before: Saved, now: Time) {
        self.undo.before_reduction(now, before);
        self.delay_window = self.delay_window.mul_f64(0.5).min(self.reno.window());
        self.gamma.on_congestion();
    }
}

impl crate::Wrap for Compound {
    type Inner = RenoWindow;

    fn inner(&self) -> &RenoWindow {
        &self.reno
    }

    fn inner_mut(&mut self) -> &mut RenoWindow {
        &mut self.reno
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.reno.on_packet_sent(sent);
        self.round.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.undo.on_ack();
        let may_grow = self.reno.take_ack(ack);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.max(Duration::from_micros(1));
            self.base_rtt = self.base_rtt.min(rtt);
            self.stats.rtt_sum += rtt;
            self.stats.samples += 1;
        }
        if may_grow {
            self.stats.limited = true;
            self.reno.grow(ack.bytes_acked);
        }
        if self.round.on_ack(ack) && !self.reno.in_recovery() {
            self.end_round();
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let before = self.save();
        if self.reno.take_loss(loss) {
            self.halve(before, loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.undo.before_timeout(timeout.now, self.save());
        self.reno.on_timeout(timeout);
        self.delay_window = Bytes::ZERO;
        self.gamma.reset();
        // The path may be another one (draft).
        self.base_rtt = Duration::MAX;
        self.stats = RoundStats::default();
        self.round.restart();
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        self.reno.on_spurious_timeout(now);
        if let Some(before) = self.undo.take() {
            self.delay_window = before.delay_window.min(self.reno.window());
            self.base_rtt = self.base_rtt.min(before.base_rtt);
            self.gamma = before.gamma;
        }
    }

    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, _marked_packets: u64) {
        let before = self.save();
        if self.reno.take_marks(now) {
            self.halve(before, now);
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            min_rtt: Some(self.base_rtt).filter(|rtt| *rtt != Duration::MAX),
            ..self.reno.snapshot()
        }
    }
}

#[cfg(test)]
mod tests;
