//! CUBIC (RFC 9438), with the HyStart of its transport: Linux's over TCP, HyStart++ (RFC 9406) over QUIC.
//!
//! After a congestion event the window follows `W(t) = C·(t − K)³ + W_max`: fast towards the window
//! at which the event came, slow around it, then faster again in search of a new limit. Where
//! Reno would be faster, it follows Reno.

pub(crate) mod entry;

mod hystart;
mod linux;

pub use self::hystart::HyStart;
use self::hystart::{Flow, SlowStart};
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent, TimeoutKind,
};
use crate::ecn::Ecn;
use crate::mechanisms::ProportionalReduction;
use crate::mechanisms::RecoveryEpoch;
use crate::mechanisms::Undo;
use crate::mechanisms::Validation;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// Steepness of the cubic function, packets/s³ (RFC 9438 §5).
const C: f64 = 0.4;
/// Window after a congestion event, as a share of that before (RFC 9438 §4.6).
const BETA: f64 = 0.7;
/// The factor at a mark with ABE (RFC 8511 §3.1, β_ecn of CUBIC).
const ABE_BETA: f64 = 0.85;
/// Growth of the Reno estimate in packets a round before it reaches the last window:
/// 3·(1 − β)/(1 + β), which shares fairly with Reno (RFC 9438 §4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The window grows by at most half in a round (RFC 9438 §4.2: target ≤ 1.5 cwnd).
const MAX_ROUND_GROWTH: f64 = 1.5;
/// A window is below the last one if it is less than this share of it. Where losses come after the same
/// number of acknowledgments each time, windows converge, and their last digits must not decide.
const BELOW: f64 = 0.999_999;
/// The smallest window after a congestion event (RFC 9438 §4.6). Also after marks, where that section goes down to
/// one packet: so have it RFC 9002 §7.2 and Linux (`bictcp_recalc_ssthresh`).
const MIN_WINDOW_PACKETS: u64 = 2;
/// The largest burst of an unpaced sender (RFC 9002 §7.7).
const BURST_PACKETS: u64 = 10;

/// CUBIC's states, for plots.
const AVOIDANCE: State = State::new("CongestionAvoidance", StateKind::Steady);
const RECOVERY: State = State::new("Recovery", StateKind::Recovery);
const STATES: &[State] = &[hystart::FAST, hystart::CAREFUL, AVOIDANCE, RECOVERY];

/// One congestion avoidance, from a congestion event to the next. Windows in packets.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began; moved on by the time in which the flow did not use its window.
    began_at: Time,
    /// Seconds until the function reaches `w_max`.
    k: f64,
    /// The window that Reno would have.
    w_est: f64,
    /// Linux's.
    credit: linux::Credit,
}

/// Windows in packets, and what a timeout that proves spurious gives back: what RFC 9438 §4.9.2 lists for a
/// spurious fast retransmit. For timeouts §4.9.1 refers to RFC 4015, which knows window and threshold only.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// Fractions add up to packets.
    cwnd: f64,
    ssthresh: f64,
    /// The window before the last congestion event.
    w_max: f64,
    /// The window at the last congestion event (`cwnd_prior`).
    cwnd_prior: f64,
    /// K, the epoch's beginning, and `W_est`. The time of a timeout does not count in `t`:
    /// like any in which no acknowledgment used the window, it moves the beginning.
    epoch: Option<Epoch>,
    /// A congestion event has come since the start or the last timeout.
    limit_is_known: bool,
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    curve: Curve,
    /// When the flow last used its whole window.
    last_limited_at: Option<Time>,
    srtt: Duration,
    max_datagram: Bytes,
    recovery: RecoveryEpoch,
    prr: ProportionalReduction,
    validation: Validation,
    slow_start: SlowStart,
    /// What a mark leaves of the window in congestion avoidance.
    mark_reduction: f64,
    undo: Undo<Curve>,
}

impl Cubic {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config, hystart: HyStart) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        let initial = config.initial_window.as_f64() / max_datagram.as_f64();
        Self {
            curve: Curve {
                cwnd: initial.max(MIN_WINDOW_PACKETS as f64),
                ssthresh: f64::INFINITY,
                w_max: 0.0,
                cwnd_prior: 0.0,
                epoch: None,
                limit_is_known: false,
            },
            last_limited_at: None,
            srtt: Duration::ZERO,
            max_datagram,
            recovery: RecoveryEpoch::new(config.transport),
            prr: ProportionalReduction::new(config.transport),
            validation: Validation::new(config),
            slow_start: SlowStart::new(hystart),
            mark_reduction: BETA,
            undo: Undo::new(),
        }
    }

    /// Turns on ABE: a mark in congestion avoidance leaves 0.85 of the window (RFC 8511).
    #[must_use]
    pub fn with_abe(mut self) -> Self {
        self.mark_reduction = ABE_BETA;
        self
    }

    /// CUBIC that reduces at each loss event instead of once a round trip (ns-3's QUIC module).
    #[must_use]
    pub fn with_each_loss(mut self) -> Self {
        self.recovery = self.recovery.with_each_loss();
        self
    }

    /// The window in bytes, in a recovery the one that it comes down to.
    fn window(&self) -> Bytes {
        self.max_datagram
            .mul_f64(self.curve.cwnd)
            .max(self.max_datagram)
    }

    fn in_slow_start(&self) -> bool {
        self.curve.cwnd < self.curve.ssthresh
    }

    fn flow(&self) -> Flow {
        Flow {
            cwnd: self.curve.cwnd,
            bytes: self.curve.cwnd * self.max_datagram.as_f64(),
            srtt: self.srtt,
        }
    }

    /// A share of the window. Linux counts whole packets, and shares in 1024ths or their halves.
    fn share(&self, share: f64) -> f64 {
        match self.slow_start {
            SlowStart::Linux(_) => {
                libm::floor(self.curve.cwnd * libm::round(share * 2048.0) / 2048.0)
            }
            _ => self.curve.cwnd * share,
        }
    }

    /// RFC 9438 §4.6, of the window instead of the flight: it allows that where, as by [`Validation`], the window
    /// does not grow without being used.
    fn reduce(&mut self, now: Time, to: f64) {
        self.undo.before_reduction(now, self.curve);
        self.curve.epoch = None;
        // Fast convergence: a flow that lost before its old limit gives room (RFC 9438 §4.7).
        self.curve.w_max = if self.curve.cwnd < self.curve.w_max * BELOW {
            self.share((1.0 + BETA) / 2.0)
        } else {
            self.curve.cwnd
        };
        self.curve.cwnd_prior = self.curve.cwnd;
        let left = self.share(to);
        self.curve.ssthresh = left.max(MIN_WINDOW_PACKETS as f64);
        self.curve.cwnd = self.curve.ssthresh;
        self.curve.limit_is_known = true;
        self.slow_start.on_reduction();
    }

    fn congestion_avoidance(&mut self, ack: &AckEvent<'_>, acked: f64) {
        let cwnd = self.curve.cwnd;
        let epoch = self.curve.epoch.get_or_insert_with(|| {
            // From slow start without a loss (RFC 9438 §4.10), or after a timeout (§4.8; it forgets `w_max`), the
            // plateau is here and K is 0.
            if self.curve.w_max < cwnd {
                self.curve.w_max = cwnd;
            }
            Epoch {
                began_at: ack.now,
                k: libm::cbrt((self.curve.w_max - cwnd) / C), // RFC 9438 §4.2, Figure 2
                w_est: cwnd,
                credit: linux::Credit::default(),
            }
        });
        // Time in which the application did not fill the window is not growth (RFC 9438 §4.2, §5.8).
        if let Some(last) = self.last_limited_at
            && last >= epoch.began_at
        {
            let gap = ack.now.since(last);
            if gap > self.srtt {
                epoch.began_at += gap - self.srtt;
            }
        }
        self.last_limited_at = Some(ack.now);
        let t = ack.now.since(epoch.began_at).as_secs_f64();
        let k = epoch.k;
        let above = |t: f64| C * (t - k) * (t - k) * (t - k);
        if let SlowStart::Linux(hystart) = &self.slow_start {
            let min_rtt = hystart.min_rtt.unwrap_or(self.srtt);
            epoch.w_est += epoch.credit.grow_reno(cwnd, acked);
            let windows = linux::Windows {
                cwnd,
                origin: self.curve.w_max,
                above: above(t + min_rtt.as_secs_f64()),
                reno: epoch.w_est,
                limit_is_known: self.curve.limit_is_known,
            };
            self.curve.cwnd += epoch.credit.grow(ack.now, windows, acked);
            return;
        }
        let cubic = |t: f64| above(t) + self.curve.w_max; // RFC 9438 §4.2, Figure 1
        // RFC 9438 §4.3, Figure 4: as fast as Reno once Reno would have caught up.
        let alpha = if epoch.w_est < self.curve.cwnd_prior * BELOW {
            ALPHA
        } else {
            1.0
        };
        epoch.w_est += alpha * acked / cwnd;
        let w_est = epoch.w_est;
        if cubic(t) < w_est {
            self.curve.cwnd = self.curve.cwnd.max(w_est);
            return;
        }
        // RFC 9438 §4.2 (the target), §4.4 and §4.5 (the growth, the same on both sides of W_max).
        let target = cubic(t + self.srtt.as_secs_f64()).clamp(cwnd, cwnd * MAX_ROUND_GROWTH);
        self.curve.cwnd += (target - cwnd) / cwnd * acked;
    }
}

impl Controller for Cubic {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
        self.prr.on_packet_sent(sent);
        self.slow_start.on_packet_sent(sent);
        let restarted = self
            .validation
            .on_packet_sent(sent, self.window(), self.max_datagram);
        if let Some(window) = restarted {
            // Most of the window is known to be safe (RFC 2861; Linux `tcp_current_ssthresh`).
            self.curve.ssthresh = self.curve.ssthresh.max(self.curve.cwnd * 0.75);
            self.curve.cwnd = window.as_f64() / self.max_datagram.as_f64();
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        if self.recovery.on_ack(ack) {
            self.prr.end();
        }
        self.prr
            .on_ack(ack, self.window(), self.max_datagram, &self.recovery);
        self.undo.on_ack();
        self.validation.on_ack(ack, self.max_datagram);
        if let Some(rtt) = ack.rtt {
            self.slow_start.on_rtt(rtt);
            self.srtt = if self.srtt.is_zero() {
                rtt
            } else {
                (self.srtt * 7 + rtt).div(8)
            };
        }
        if self.in_slow_start() && self.slow_start.ends(ack, self.flow()) {
            self.curve.ssthresh = self.curve.cwnd;
        }
        let slow_start = self.in_slow_start();
        if self.recovery.is_active()
            || !self
                .validation
                .allows_growth(ack, self.window(), self.max_datagram, slow_start)
        {
            return;
        }
        let acked = ack.bytes_acked.as_f64() / self.max_datagram.as_f64();
        if !slow_start {
            self.congestion_avoidance(ack, acked);
            return;
        }
        let (growth, is_over) = self.slow_start.growth(ack, acked);
        self.curve.cwnd += growth;
        if is_over {
            self.curve.ssthresh = self.curve.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if self.recovery.on_loss(loss) && !self.undo.is_pending() {
            self.prr
                .begin_at_loss(loss, self.window(), self.max_datagram);
            self.reduce(loss.now, BETA);
        }
    }

    /// RFC 9438 §4.8. The threshold was set when the losses that the timeout declares were reported, or by the
    /// recovery that was under way. Persistent congestion leaves the smallest window (RFC 9002 §7.6.2).
    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.undo.before_timeout(timeout.now, self.curve);
        self.curve.epoch = None;
        self.curve.w_max = 0.0;
        self.curve.cwnd = match timeout.kind {
            TimeoutKind::Rto => 1.0,
            TimeoutKind::PersistentCongestion => MIN_WINDOW_PACKETS as f64,
        };
        self.prr.end();
        self.curve.limit_is_known = false;
        self.slow_start.on_timeout();
        self.recovery.end_by_timeout(timeout.now);
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.recovery.on_spurious_timeout();
        if let Some(before) = self.undo.take() {
            self.curve = before;
        }
    }

    fn on_ecn_ce(&mut self, now: Time, _sent_at: Time, _marked_packets: u64) {
        if !self.recovery.is_active() {
            // ABE is for congestion avoidance alone (RFC 8511).
            let to = if self.in_slow_start() {
                BETA
            } else {
                self.mark_reduction
            };
            self.recovery.restart();
            self.prr.begin_at_mark(now, self.window());
            self.reduce(now, to);
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        let new = max_datagram.max(Bytes::new(1));
        // The same bytes in other packets.
        let scale = self.max_datagram.as_f64() / new.as_f64();
        self.curve.cwnd = (self.curve.cwnd * scale).max(1.0);
        self.curve.ssthresh = (self.curve.ssthresh * scale).max(MIN_WINDOW_PACKETS as f64);
        self.curve.w_max *= scale;
        self.curve.cwnd_prior *= scale;
        self.curve.epoch = None;
        self.max_datagram = new;
    }

    fn cwnd(&self) -> Bytes {
        self.prr.window().unwrap_or_else(|| self.window())
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
                (false, true) => self.slow_start.phase(),
                (false, false) => AVOIDANCE.name,
            },
            ssthresh: (self.curve.ssthresh.is_finite())
                .then(|| self.max_datagram.mul_f64(self.curve.ssthresh)),
            in_recovery: self.recovery.is_active(),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}

#[cfg(test)]
mod tests;
