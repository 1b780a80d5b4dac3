//! NewReno (RFC 9002 §7; timeouts as RFC 5681).

use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent, TimeoutKind,
};
use crate::recovery::RecoveryEpoch;
use crate::units::{Bytes, Rate, Time};

/// Window reduction at a congestion event (RFC 9002 §7.3.2, `kLossReductionFactor`).
const LOSS_REDUCTION: f64 = 0.5;
/// The smallest window (RFC 9002 §7.2).
const MIN_WINDOW_PACKETS: u64 = 2;
/// The largest burst of an unpaced sender (RFC 9002 §7.7).
const BURST_PACKETS: u64 = 10;

/// Whether the window, not the application, limits the flow; only then may it grow (RFC 9002
/// §7.8). In slow start half a window in use suffices, because it may double in a round (Linux
/// `tcp_is_cwnd_limited`).
pub(crate) fn is_cwnd_limited(
    ack: &AckEvent<'_>,
    cwnd: Bytes,
    max_datagram: Bytes,
    slow_start: bool,
) -> bool {
    let room = if slow_start {
        Bytes::new(cwnd.get() / 2)
    } else {
        max_datagram * 3
    };
    ack.prior_inflight + room >= cwnd
}

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    cwnd: Bytes,
    ssthresh: Bytes,
    max_datagram: Bytes,
    /// Acknowledged since the window last grew by a packet in congestion avoidance.
    acked: Bytes,
    recovery: RecoveryEpoch,
    /// Window and threshold before the last reduction, and when that was: losses that a timeout
    /// declares are reported just before it, and belong to it.
    before_reduction: Option<(Time, (Bytes, Bytes))>,
    /// Window and threshold before a timeout, to undo it, until an acknowledgment has come.
    before_timeout: Option<(Bytes, Bytes)>,
}

impl NewReno {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        Self {
            cwnd: config.initial_window.max(max_datagram * MIN_WINDOW_PACKETS),
            ssthresh: Bytes::MAX,
            max_datagram,
            acked: Bytes::ZERO,
            recovery: RecoveryEpoch::default(),
            before_reduction: None,
            before_timeout: None,
        }
    }

    fn min_window(&self) -> Bytes {
        self.max_datagram * MIN_WINDOW_PACKETS
    }

    fn reduce(&mut self, now: Time) {
        self.before_reduction = Some((now, (self.cwnd, self.ssthresh)));
        self.ssthresh = self.cwnd.mul_f64(LOSS_REDUCTION).max(self.min_window());
        self.cwnd = self.ssthresh;
        self.acked = Bytes::ZERO;
    }
}

impl Controller for NewReno {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.recovery.on_ack(ack);
        // The host judges a timeout by the first acknowledgment, before it comes here.
        self.before_timeout = None;
        let slow_start = self.cwnd < self.ssthresh;
        if self.recovery.is_active()
            || !is_cwnd_limited(ack, self.cwnd, self.max_datagram, slow_start)
        {
            return;
        }
        if slow_start {
            self.cwnd += ack.bytes_acked;
            return;
        }
        // One packet for each window acknowledged (RFC 9002 §7.3.3), by counting bytes.
        self.acked += ack.bytes_acked;
        if self.acked >= self.cwnd {
            self.acked -= self.cwnd;
            self.cwnd += self.max_datagram;
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        // When the timer expires again, ssthresh is held (RFC 5681 §3.1).
        if self.recovery.on_loss(loss) && self.before_timeout.is_none() {
            self.reduce(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        // Repeated timeouts are undone to before the first.
        let before = match self.before_reduction {
            Some((at, before)) if at == timeout.now => before,
            _ => (self.cwnd, self.ssthresh),
        };
        self.before_timeout.get_or_insert(before);
        match timeout.kind {
            // RFC 5681 §3.1: the loss window is one segment.
            TimeoutKind::Rto => self.cwnd = self.max_datagram,
            // RFC 9002 §7.6.2.
            TimeoutKind::PersistentCongestion => self.cwnd = self.min_window(),
        }
        self.acked = Bytes::ZERO;
        self.recovery.end();
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        // RFC 4015 §3.2, without its limit to the flight: what was given up is in flight again.
        if let Some((cwnd, ssthresh)) = self.before_timeout.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = ssthresh;
        }
    }

    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, _marked_packets: u64) {
        if !self.recovery.is_active() {
            self.recovery.restart();
            self.reduce(now);
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.max_datagram = max_datagram.max(Bytes::new(1));
        self.cwnd = self.cwnd.max(self.min_window());
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        self.max_datagram * BURST_PACKETS
    }

    fn snapshot(&self) -> Snapshot {
        let slow_start = self.cwnd < self.ssthresh;
        Snapshot {
            phase: match (self.recovery.is_active(), slow_start) {
                (true, _) => "Recovery",
                (false, true) => "SlowStart",
                (false, false) => "CongestionAvoidance",
            },
            ssthresh: Some(self.ssthresh).filter(|s| *s != Bytes::MAX),
            in_recovery: self.recovery.is_active(),
            ..Snapshot::default()
        }
    }
}
