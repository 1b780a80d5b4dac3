//! Reno's window: slow start, congestion avoidance, half at a congestion event, one packet after a
//! timeout (RFC 9002 §7, RFC 5681). It is a controller by itself, around which NewReno, Vegas, Compound
//! and Prague say what they do otherwise.

use super::prr::ProportionalReduction;
use super::recovery::RecoveryEpoch;
use super::undo::Undo;
use super::validation::Validation;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent, TimeoutKind,
    Transport,
};
use crate::ecn::Ecn;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Rate, Time};

/// Window reduction at a congestion event (RFC 9002 §7.3.2, `kLossReductionFactor`).
const LOSS_REDUCTION: f64 = 0.5;
/// Window reduction at a mark with ABE (RFC 8511 §3.1, β_ecn of Reno).
const ABE_REDUCTION: f64 = 0.8;
/// The smallest window (RFC 9002 §7.2), and the smallest threshold (RFC 5681 §3.1, equation 4).
const MIN_WINDOW_PACKETS: u64 = 2;
/// The largest burst of an unpaced sender (RFC 9002 §7.7).
const BURST_PACKETS: u64 = 10;

/// Reno as a controller: its window, and what becomes of it at losses and timeouts.
#[derive(Clone, Debug)]
pub struct RenoWindow {
    cwnd: Bytes,
    ssthresh: Bytes,
    max_datagram: Bytes,
    transport: Transport,
    /// Acknowledged since the window last grew by a packet in congestion avoidance.
    acked: Bytes,
    recovery: RecoveryEpoch,
    prr: ProportionalReduction,
    validation: Validation,
    /// What a mark leaves of the window in congestion avoidance.
    mark_reduction: f64,
    /// Window and threshold.
    undo: Undo<(Bytes, Bytes)>,
}

const SLOW_START: State = State::new("SlowStart", StateKind::Start);
const AVOIDANCE: State = State::new("CongestionAvoidance", StateKind::Steady);
const RECOVERY: State = State::new("Recovery", StateKind::Recovery);

impl RenoWindow {
    /// In slow start.
    pub(crate) fn new(config: &Config) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        Self {
            cwnd: config.initial_window.max(max_datagram * MIN_WINDOW_PACKETS),
            ssthresh: Bytes::MAX,
            max_datagram,
            transport: config.transport,
            acked: Bytes::ZERO,
            recovery: RecoveryEpoch::new(config.transport),
            prr: ProportionalReduction::new(config.transport),
            validation: Validation::new(config),
            mark_reduction: LOSS_REDUCTION,
            undo: Undo::new(),
        }
    }

    /// Turns on ABE (RFC 8511).
    pub(crate) fn with_abe(mut self) -> Self {
        self.mark_reduction = ABE_REDUCTION;
        self
    }

    /// Reno's window that reduces at each loss event instead of once a round trip.
    pub(crate) fn with_each_loss(mut self) -> Self {
        self.recovery = self.recovery.with_each_loss();
        self
    }

    /// The window, in a recovery the one that it comes down to.
    #[inline]
    pub(crate) fn window(&self) -> Bytes {
        self.cwnd
    }

    /// The window in packets, above zero.
    pub(crate) fn packets(&self) -> f64 {
        self.cwnd.as_f64() / self.max_datagram.as_f64()
    }

    pub(crate) fn max_datagram(&self) -> Bytes {
        self.max_datagram
    }

    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.recovery.is_active()
    }

    fn min_window(&self) -> Bytes {
        self.max_datagram * MIN_WINDOW_PACKETS
    }

    /// RFC 9002 §7.3.2, over TCP too: RFC 5681 §3.1 halves the flight, Linux the window as here
    /// (`tcp_reno_ssthresh`). Where the flight is smaller, [`Validation`] alone bounds the window.
    fn reduce(&mut self, now: Time, to: f64) {
        self.undo.before_reduction(now, (self.cwnd, self.ssthresh));
        let mut left = self.cwnd.mul_f64(to);
        if self.transport == Transport::Tcp {
            // Linux counts whole packets. A part of one would slow growth and let nothing leave.
            left -= Bytes::new(left.get() % self.max_datagram.get());
        }
        self.ssthresh = left.max(self.min_window());
        self.cwnd = self.ssthresh;
        self.acked = Bytes::ZERO;
    }

    /// An acknowledgment arrived; true when the window may grow for it: no recovery is under way
    /// and the window limits the flow.
    #[inline]
    pub(crate) fn take_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        if self.recovery.on_ack(ack) {
            self.prr.end();
        }
        self.prr
            .on_ack(ack, self.cwnd, self.max_datagram, &self.recovery);
        self.undo.on_ack();
        self.validation.on_ack(ack, self.max_datagram);
        let slow_start = self.in_slow_start();
        !self.recovery.is_active()
            && self
                .validation
                .allows_growth(ack, self.cwnd, self.max_datagram, slow_start)
    }

    /// Grows for `acked` data as Reno does.
    #[inline]
    pub(crate) fn grow(&mut self, acked: Bytes) {
        if self.in_slow_start() {
            // RFC 9002 §7.3.1. TCP as Linux has it does the same, without RFC 5681's limit of a segment for each
            // acknowledgment (§3.1, equation 2).
            self.cwnd += acked;
            return;
        }
        // One packet for each window acknowledged (RFC 9002 §7.3.3), by counting bytes.
        self.acked += acked;
        if self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += self.max_datagram;
        }
    }

    /// Grows by this much, instead of by Reno's rule.
    pub(crate) fn raise(&mut self, by: Bytes) {
        self.cwnd += by;
    }

    /// Shrinks by this much, but not below the smallest window, and goes on in congestion avoidance
    /// (Linux `tcp_vegas_ssthresh`).
    pub(crate) fn lower(&mut self, by: Bytes) {
        let least = self.min_window().min(self.cwnd);
        self.cwnd = (self.cwnd - by).max(least);
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }

    /// Packets were lost; true when that is a congestion event, and the window was halved.
    pub(crate) fn take_loss(&mut self, loss: &LossEvent<'_>) -> bool {
        let reduces = self.recovery.on_loss(loss) && !self.undo.is_pending();
        if reduces {
            self.prr.begin_at_loss(loss, self.cwnd, self.max_datagram);
            self.reduce(loss.now, LOSS_REDUCTION);
        }
        reduces
    }

    /// Packets were marked; true when that is a congestion event, and the window was reduced.
    pub(crate) fn take_marks(&mut self, now: Time) -> bool {
        let reduces = !self.recovery.is_active();
        if reduces {
            // ABE is for congestion avoidance alone (RFC 8511).
            let to = if self.in_slow_start() {
                LOSS_REDUCTION
            } else {
                self.mark_reduction
            };
            self.recovery.restart();
            self.prr.begin_at_mark(now, self.cwnd);
            self.reduce(now, to);
        }
        reduces
    }
}

impl Controller for RenoWindow {
    #[inline]
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
        self.prr.on_packet_sent(sent);
        let restarted = self
            .validation
            .on_packet_sent(sent, self.cwnd, self.max_datagram);
        if let Some(window) = restarted {
            // Most of the window is known to be safe (RFC 2861; Linux `tcp_current_ssthresh`).
            self.ssthresh = self.ssthresh.max(self.cwnd.mul_f64(0.75));
            self.cwnd = window;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if self.take_ack(ack) {
            self.grow(ack.bytes_acked);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.take_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.undo
            .before_timeout(timeout.now, (self.cwnd, self.ssthresh));
        match timeout.kind {
            // RFC 5681 §3.1: the loss window is one segment.
            TimeoutKind::Rto => self.cwnd = self.max_datagram,
            // RFC 9002 §7.6.2.
            TimeoutKind::PersistentCongestion => self.cwnd = self.min_window(),
        }
        self.acked = Bytes::ZERO;
        self.prr.end();
        self.recovery.end_by_timeout(timeout.now);
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.recovery.on_spurious_timeout();
        // RFC 4015 §3.2, without its limit to the flight: what was given up is in flight again.
        if let Some((cwnd, ssthresh)) = self.undo.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = ssthresh;
        }
    }

    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, _marked_packets: u64) {
        self.take_marks(now);
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram.max(Bytes::new(1));
        self.cwnd = self.cwnd.max(self.min_window());
    }

    /// In a recovery what may be in flight until the window has come down.
    #[inline]
    fn cwnd(&self) -> Bytes {
        self.prr.window().unwrap_or(self.cwnd)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.max_datagram * BURST_PACKETS
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: match (self.recovery.is_active(), self.in_slow_start()) {
                (true, _) => RECOVERY.name,
                (false, true) => SLOW_START.name,
                (false, false) => AVOIDANCE.name,
            },
            ssthresh: Some(self.ssthresh).filter(|s| *s != Bytes::MAX),
            in_recovery: self.recovery.is_active(),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        &[SLOW_START, AVOIDANCE, RECOVERY]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_tcp_a_reduced_window_is_whole_packets() {
        let left_of_25 = |transport| {
            let packet = Bytes::new(1_000);
            let mut config = Config::for_datagram(packet);
            config.initial_window = packet * 25;
            config.transport = transport;
            let mut window = RenoWindow::new(&config);
            window.on_ecn_ce(Time::ZERO, Time::ZERO, 1);
            window.cwnd
        };
        let windows = [Transport::Tcp, Transport::Quic].map(left_of_25);
        assert_eq!(windows, [12_000, 12_500].map(Bytes::new));
    }
}
