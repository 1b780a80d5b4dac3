//! Copa (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
//! Internet", NSDI 2018).
//!
//! The flow steers towards the rate `1 / (δ · d_q)` packets a second, where `d_q` is the queueing
//! delay: up while its rate, `cwnd / RTT_standing`, is below, down while it is above. In balance
//! it oscillates around 1.25 / δ queued packets and empties the queue every five round trips.
//! Where the queue never empties, another flow fills it, and δ follows losses as Reno's
//! window does (`competition.rs`). In default mode losses mean nothing.

pub(crate) mod entry;

mod competition;
mod rtt;
mod velocity;

use self::competition::Competition;
use self::rtt::Rtts;
use self::velocity::{Direction, Velocity};
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent, TimeoutKind,
};
use crate::mechanisms::RecoveryEpoch;
use crate::mechanisms::RoundsByNumber;
use crate::mechanisms::Undo;
use crate::mechanisms::is_cwnd_limited;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// Packets leave at twice the rate that the window allows, so that pacing evens out bursts and
/// does not limit the flow (NSDI 2018 §2.1).
const PACING_GAIN: f64 = 2.0;
/// The smallest window, packets (the authors' implementation).
const MIN_WINDOW_PACKETS: f64 = 2.0;
/// RTT assumed before the first sample, as BBR does (Linux `bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Packets that may leave back to back. More would look like a queue.
const BURST_PACKETS: u64 = 1;

/// Copa's states, for plots.
const SLOW_START: State = State::new("SlowStart", StateKind::Start);
const DEFAULT: State = State::new("Default", StateKind::Steady);
const COMPETITIVE: State = State::new("Competitive", StateKind::Recovery);
const STATES: &[State] = &[SLOW_START, DEFAULT, COMPETITIVE];

/// Parameters of Copa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// δ of the default mode, 1/packets: the price of delay. 1.25 / δ packets are queued on
    /// average. From 0.004, 250 packets, to 10; what lies outside is taken as the nearer end.
    pub delta: f64,
    /// Competes with flows that fill the buffer where it finds some.
    pub mode_switching: bool,
}

impl Options {
    /// δ = 0.5 with mode switching: the paper's Copa.
    pub const DEFAULT: Self = Self {
        delta: 0.5,
        mode_switching: true,
    };
}

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    /// Window in packets; fractions add up to packets.
    cwnd: f64,
    /// δ of the default mode.
    delta: f64,
    slow_start: bool,
    velocity: Velocity,
    competition: Option<Competition>,
    rtts: Rtts,
    round: RoundsByNumber,
    max_datagram: Bytes,
    recovery: RecoveryEpoch,
    /// Window, and whether it is in slow start.
    undo: Undo<(f64, bool)>,
}

impl Copa {
    /// A flow in slow start.
    #[must_use]
    pub fn new(config: &Config, options: Options) -> Self {
        let max_datagram = config.max_datagram.max(Bytes::new(1));
        let initial = config.initial_window.as_f64() / max_datagram.as_f64();
        let cwnd = initial.max(MIN_WINDOW_PACKETS);
        let delta = if options.delta.is_nan() {
            Options::DEFAULT.delta
        } else {
            options.delta.clamp(0.004, 10.0)
        };
        Self {
            cwnd,
            delta,
            slow_start: true,
            velocity: Velocity::new(cwnd),
            competition: options.mode_switching.then(|| Competition::new(delta)),
            rtts: Rtts::new(),
            round: RoundsByNumber::default(),
            max_datagram,
            recovery: RecoveryEpoch::new(config.transport),
            undo: Undo::new(),
        }
    }

    /// δ now.
    fn delta(&self) -> f64 {
        match &self.competition {
            Some(competition) => competition.delta(),
            None => self.delta,
        }
    }

    /// Whether the rate is at most the target rate: cwnd / RTT_standing ≤ 1 / (δ · d_q), without
    /// the divisions, so that an empty queue gives an infinite target.
    fn is_below_target(&self) -> bool {
        let standing = self.rtts.standing().as_secs_f64();
        self.cwnd * self.delta() * self.rtts.queueing().as_secs_f64() <= standing
    }

    fn restart_velocity(&mut self) {
        self.velocity = Velocity::new(self.cwnd);
        self.round.restart();
    }

    fn steer(&mut self, ack: &AckEvent<'_>, limited: bool) {
        let acked = ack.bytes_acked.as_f64() / self.max_datagram.as_f64();
        let below = self.is_below_target();
        if self.slow_start {
            if below {
                if limited {
                    self.cwnd += acked;
                }
                return;
            }
            self.slow_start = false;
            self.restart_velocity();
        }
        if below && !limited {
            return;
        }
        let direction = if below {
            Direction::Up
        } else {
            Direction::Down
        };
        if self.velocity.turn(direction, self.cwnd) {
            self.round.restart();
        }
        // v / (δ · cwnd) for each packet (§2.1 step 3), but at most the window in a round trip.
        let step = (self.velocity.v / (self.delta() * self.cwnd)).min(1.0) * acked;
        self.cwnd = match direction {
            Direction::Up => self.cwnd + step,
            Direction::Down => (self.cwnd - step).max(MIN_WINDOW_PACKETS.min(self.cwnd)),
        };
    }

    fn on_congestion(&mut self) {
        if let Some(competition) = &mut self.competition {
            competition.on_congestion();
        }
    }
}

impl Controller for Copa {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.recovery.on_packet_sent(sent);
        self.round.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.recovery.on_ack(ack);
        self.undo.on_ack();
        let new_round = self.round.on_ack(ack);
        if let Some(rtt) = ack.rtt {
            self.rtts.take_sample(ack.now, rtt, self.round.count());
        }
        if new_round && !self.slow_start {
            self.velocity.on_round(self.cwnd);
        }
        if let Some(competition) = &mut self.competition {
            competition.on_ack(&self.rtts, self.round.count(), new_round);
        }
        let limited = is_cwnd_limited(ack, self.cwnd(), self.max_datagram, self.slow_start);
        self.steer(ack, limited);
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        if self.recovery.on_loss(loss) {
            self.on_congestion();
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        let before = (self.cwnd, self.slow_start);
        self.undo.before_timeout(timeout.now, before);
        self.cwnd = match timeout.kind {
            TimeoutKind::Rto => 1.0,
            TimeoutKind::PersistentCongestion => MIN_WINDOW_PACKETS,
        };
        self.slow_start = true;
        self.recovery.end_by_timeout(timeout.now);
        self.restart_velocity();
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        self.recovery.on_spurious_timeout();
        if let Some((cwnd, slow_start)) = self.undo.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.slow_start = slow_start;
            self.restart_velocity();
        }
    }

    fn on_ecn_ce(&mut self, _now: Time, _sent_at: Time, _marked_packets: u64) {
        if !self.recovery.is_active() {
            self.recovery.restart();
            self.on_congestion();
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        let new = max_datagram.max(Bytes::new(1));
        // The same bytes in other packets.
        let scale = self.max_datagram.as_f64() / new.as_f64();
        self.cwnd = (self.cwnd * scale).max(1.0);
        self.max_datagram = new;
        self.restart_velocity();
    }

    fn cwnd(&self) -> Bytes {
        self.max_datagram.mul_f64(self.cwnd).max(self.max_datagram)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rtt = if self.rtts.has_sample() {
            self.rtts.standing()
        } else {
            NOMINAL_RTT
        };
        let rate = Rate::from_volume(self.cwnd(), rtt).mul_f64(PACING_GAIN);
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        self.max_datagram * BURST_PACKETS
    }

    fn snapshot(&self) -> Snapshot {
        let competes = self.competition.as_ref().is_some_and(|c| c.is_on);
        Snapshot {
            phase: match (self.slow_start, competes) {
                (true, _) => SLOW_START.name,
                (false, false) => DEFAULT.name,
                (false, true) => COMPETITIVE.name,
            },
            min_rtt: self.rtts.has_sample().then(|| self.rtts.min()),
            pacing_gain: Some(PACING_GAIN),
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
