//! TCP Vegas (Brakmo and Peterson, IEEE JSAC 13(8), 1995; Linux `tcp_vegas`).
//!
//! Once a round the flow compares what it would deliver without a queue, `cwnd / base_rtt`, with
//! what it delivers, `cwnd / rtt`. Times `base_rtt`, the difference is the number of packets that
//! it keeps queued; Vegas holds that between `alpha` and `beta`. Losses are NewReno's.

pub(crate) mod entry;

use crate::controller::{AckEvent, Config, Controller, PacketSent, Snapshot, TimeoutEvent};
use crate::mechanisms::RenoWindow;
use crate::mechanisms::RoundsByNumber;
use crate::units::{Bytes, Duration};

/// A round with fewer RTT samples may have seen delayed acknowledgments only, and is Reno's (Linux
/// `tcp_vegas_cong_avoid`).
const MIN_SAMPLES: u32 = 3;

/// How many packets Vegas wants to have queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// With fewer the window grows, packets.
    pub alpha: u64,
    /// With more the window shrinks, packets. Below `alpha` it is taken as `alpha`.
    pub beta: u64,
    /// With more slow start ends, packets.
    pub gamma: u64,
}

impl Thresholds {
    /// 2, 4 and 1 packets (Linux `tcp_vegas`).
    pub const DEFAULT: Self = Self {
        alpha: 2,
        beta: 4,
        gamma: 1,
    };
}

/// What a round has shown so far.
#[derive(Clone, Copy, Debug)]
struct RoundStats {
    /// The round's smallest RTT: the least spoilt by delayed acknowledgments (Linux
    /// `tcp_vegas_pkts_acked`).
    rtt: Duration,
    /// The newest: at the round's end, of the first packet sent in the round.
    newest_rtt: Duration,
    samples: u32,
    /// Acknowledged while the window limited the flow.
    acked: Bytes,
}

impl RoundStats {
    const NOTHING: Self = Self {
        rtt: Duration::MAX,
        newest_rtt: Duration::MAX,
        samples: 0,
        acked: Bytes::ZERO,
    };
}

/// TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    reno: RenoWindow,
    thresholds: Thresholds,
    /// The smallest RTT ever.
    base_rtt: Duration,
    round: RoundsByNumber,
    stats: RoundStats,
    /// In slow start: whether the window doubles in this round or is held, so that the next can be
    /// compared.
    doubling: bool,
}

impl Vegas {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config, thresholds: Thresholds) -> Self {
        Self {
            reno: RenoWindow::new(config),
            thresholds,
            base_rtt: Duration::MAX,
            round: RoundsByNumber::default(),
            stats: RoundStats::NOTHING,
            doubling: true,
        }
    }

    fn take_sample(&mut self, rtt: Duration) {
        // Never zero, which would never again allow a queue.
        let rtt = rtt.max(Duration::from_micros(1));
        self.base_rtt = self.base_rtt.min(rtt);
        self.stats.rtt = self.stats.rtt.min(rtt);
        self.stats.newest_rtt = rtt;
        self.stats.samples = self.stats.samples.saturating_add(1);
    }

    /// Forgets what this round has shown: another begins with what is sent from now on.
    fn restart_round(&mut self) {
        self.round.restart();
        self.stats = RoundStats::NOTHING;
    }

    fn end_round(&mut self) {
        let stats = core::mem::replace(&mut self.stats, RoundStats::NOTHING);
        let was_doubling = self.doubling;
        if stats.samples < MIN_SAMPLES {
            // What slow start has not counted yet.
            if !(self.reno.in_slow_start() && was_doubling) {
                self.reno.grow(stats.acked);
            }
            self.doubling = true;
            return;
        }
        self.doubling = !was_doubling;
        // (Expected − Actual) × base_rtt (JSAC 1995).
        let window = self.reno.packets();
        let queued = |rtt| window * (1.0 - self.base_rtt.ratio(rtt));
        let packet = self.reno.max_datagram();
        if self.reno.in_slow_start() {
            // Most acknowledgments of this round are of packets sent while the window was still
            // doubling; the first packet of the held window is the paper's distinguished segment.
            let queued = queued(stats.newest_rtt);
            if !was_doubling && queued > self.thresholds.gamma as f64 {
                // To what the path holds without a queue, and a packet for what rounding takes
                // (Linux `tcp_vegas_cong_avoid`).
                self.reno.lower(packet.mul_f64(queued) - packet);
            }
            return;
        }
        let queued = queued(stats.rtt);
        if queued > self.thresholds.beta.max(self.thresholds.alpha) as f64 {
            self.reno.lower(packet);
        } else if queued < self.thresholds.alpha as f64 && !stats.acked.is_zero() {
            self.reno.raise(packet);
        }
    }
}

impl crate::Wrap for Vegas {
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
        // After idleness what is known of the round is stale (Linux `tcp_vegas_cwnd_event`).
        if sent.inflight <= sent.bytes {
            self.restart_round();
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let was_recovering = self.reno.in_recovery();
        let may_grow = self.reno.take_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.take_sample(rtt);
        }
        if self.reno.in_recovery() {
            return;
        }
        if was_recovering {
            self.restart_round();
            return;
        }
        if may_grow {
            self.stats.acked += ack.bytes_acked;
            if self.doubling && self.reno.in_slow_start() {
                self.reno.grow(ack.bytes_acked);
            }
        }
        if self.round.on_ack(ack) {
            self.end_round();
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
        self.restart_round();
        self.doubling = true;
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            min_rtt: Some(self.base_rtt).filter(|rtt| *rtt != Duration::MAX),
            ..self.reno.snapshot()
        }
    }
}
