//! ebb 2, a prototype: ebb where the link is its own, and a share of it elsewhere.
//!
//! The window is a forecast of what the link serves in the next T (`forecast.rs`, from `service.rs`), a margin
//! against its errors (`margin.rs`), and what keeps the link busy between acknowledgments (`batches.rs`):
//!
//! > W = M (1 + δ) + e
//!
//! The margin is regulated: a share of the link's capacity that the user chooses may stay unused. A queue so short
//! starves beside flows that keep a longer one. So drains test whether the link is the flow's own (`drain.rs`,
//! `sharing.rs`), and while it is not known to be, the window is at least
//!
//! > 1.6 · best rate · T + 5 √(best rate · T · packet)
//!
//! where T includes the queue that others leave while they do not overflow it. A wrong belief so costs a queue, and
//! not a share. Where the queue overflows, the window is CUBIC's (`overflow.rs`).
//!
//! ```text
//!  ┌─────────┐ a queue, a loss  ┌───────┐  2 rounds, or empty   ┌─────┐
//!  │ Startup │─────────────────►│ Drain │──────────────────────►│ Own │
//!  └─────────┘  with one, a mark└───────┘◄──────────────────────└─────┘
//!                                   │       least RTT 2 s old,     │▲
//!                 2 left a queue    │       evidence, or 10 s      ││
//!                                   ▼                              ││
//!                               ┌────────┐◄────────────────────────┘│
//!                               │ Shared │  starves for 8 rounds    │
//!                               └────────┘                          │
//!        least RTT 2 s old, 10 s,  │  ▲  one left a queue           │
//!        1 s after an empty one    ▼  │                             │
//!                               ┌────────┐   2 found it empty       │
//!                               │ Probe  │──────────────────────────┘
//!                               └────────┘
//! ```
//!
//! T itself is `path.rs`, and `step.rs` where the path becomes longer; constants stand in `tuning.rs`.

pub(crate) mod entry;

mod batches;
mod drain;
mod forecast;
mod margin;
mod overflow;
mod path;
mod round;
mod service;
mod sharing;
mod step;
mod tuning;

use self::batches::Batches;
use self::drain::Drain;
use self::forecast::Forecast;
use self::margin::Margin;
use self::overflow::Overflow;
use self::path::Path;
use self::round::Round;
use self::service::Service;
use self::sharing::{Drained, Evidence};
use self::step::Step;
pub use self::tuning::Tuning;
use self::tuning::{BURST, BURST_PACKETS, LARGEST_BURST, NOMINAL_RTT, USUAL_ACK_PACKETS};
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::estimators::{Maximum, Windowed};
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

const PHASES: &[State] = &[
    State::new("Startup", StateKind::Start),
    State::new("Drain", StateKind::ProbeRtt),
    State::new("Own", StateKind::Steady),
    State::new("Probe", StateKind::ProbeRtt),
    State::new("Shared", StateKind::Recovery),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    /// A drain on a link of one's own.
    Drain,
    Own,
    /// A drain beside others.
    Probe,
    Shared,
}

impl Phase {
    const fn may_lead_to(self, next: Self) -> bool {
        match next {
            Self::Startup => false,
            Self::Drain => matches!(self, Self::Startup | Self::Own),
            Self::Own => matches!(self, Self::Drain | Self::Probe),
            Self::Probe => matches!(self, Self::Shared),
            Self::Shared => matches!(self, Self::Own | Self::Drain | Self::Probe),
        }
    }

    const fn drains(self) -> bool {
        matches!(self, Self::Drain | Self::Probe)
    }

    const fn shared(self) -> bool {
        matches!(self, Self::Shared | Self::Probe)
    }
}

/// ebb 2.
#[derive(Clone, Debug)]
pub struct Ebb2 {
    tuning: Tuning,
    /// Bytes of a full packet.
    packet: f64,
    phase: Phase,
    /// Bytes.
    cwnd: f64,
    path: Path,
    last_ack: Time,
    service: Service,
    forecast: Forecast,
    margin: Margin,
    batches: Batches,
    /// Startup: bytes in a row that met a queue.
    queued: f64,
    drain: Drain,
    evidence: Evidence,
    step: Step,
    round: Round,
    best_rate: Windowed<Rate, Maximum>,
    /// The T that the forecast is for.
    forecast_rtt: Option<Duration>,
    largest: Windowed<Rate, Maximum>,
    starved: u32,
    /// Of late: bytes in flight that an application offered and that met no queue.
    offered: Windowed<Bytes, Maximum>,
    overflow: Overflow,
    queues: u32,
}

impl Ebb2 {
    /// A flow in Startup.
    #[must_use]
    pub fn new(config: &Config, tuning: Tuning) -> Self {
        let packet = config.max_datagram.max(Bytes::new(1)).as_f64();
        Self {
            tuning,
            packet,
            phase: Phase::Startup,
            cwnd: config.initial_window.as_f64().max(tuning.floor * packet),
            path: Path::default(),
            last_ack: Time::ZERO,
            service: Service::default(),
            forecast: Forecast::new(),
            margin: Margin::default(),
            batches: Batches::default(),
            queued: 0.0,
            drain: Drain::new(&tuning),
            evidence: Evidence::default(),
            step: Step::default(),
            round: Round::default(),
            best_rate: Windowed::new(tuning.rate_rounds),
            forecast_rtt: None,
            largest: Windowed::new(SECOND.mul_f64(tuning.span).as_nanos()),
            starved: 0,
            offered: Windowed::new(SECOND.mul_f64(tuning.span).as_nanos()),
            overflow: Overflow::new(config),
            queues: 0,
        }
    }

    /// Goes over to another phase, which must be one that may follow.
    fn enter(&mut self, phase: Phase) {
        debug_assert!(
            self.phase.may_lead_to(phase),
            "{:?} to {phase:?}",
            self.phase
        );
        self.phase = phase;
    }

    fn calm(&self) -> f64 {
        self.margin.calm(&self.tuning)
    }

    /// T.
    fn min_rtt(&self) -> Option<Duration> {
        // In Startup, and beside others, every round has a queue.
        let calm = if self.phase == Phase::Startup || self.phase.shared() || self.evidence.any() {
            0.0
        } else {
            self.calm()
        };
        // A packet waits for the end of its batch, half of one on average.
        let own = (USUAL_ACK_PACKETS * self.packet).max(self.batches.mean() / 2.0);
        let own = own / self.forecast.bytes().max(1.0);
        let min_rtt = self.path.min_rtt(&self.tuning, calm, own)?;
        if !self.phase.shared() {
            return Some(min_rtt);
        }
        // What others leave counts as far as it does not overflow: flows of this kind would raise each other's.
        let least = self.evidence.least().min(min_rtt);
        Some(least + (min_rtt - least).mul_f64(self.margin.unpoliced(&self.tuning)))
    }

    /// A queueing delay that timers, schedulers and the flow's own packets do not make.
    fn is_queue(&self, queueing: Duration, min_rtt: Duration) -> bool {
        queueing > min_rtt.mul_f64(self.tuning.queue) + MS.mul_f64(self.tuning.noise)
    }

    fn floor(&self) -> f64 {
        self.tuning.floor * self.packet
    }

    /// W: forecast, margin, and what keeps the link busy between two acknowledgments.
    fn target(&self, min_rtt: Duration) -> f64 {
        let tuning = &self.tuning;
        let forecast = self.forecast.bytes();
        let rate = forecast / self.packet / min_rtt.as_secs_f64();
        let packets = USUAL_ACK_PACKETS.max(libm::sqrt(rate * tuning.root));
        let between = (packets * self.packet).max(self.batches.mean());
        self.forecast.when(self.calm()) + forecast * self.margin.share() + between
    }

    /// The window that the flow keeps while the link is not known to be its own.
    fn envelope(&self, min_rtt: Duration) -> f64 {
        let best = self.best_volume(min_rtt);
        if !self.phase.shared() || !best.is_finite() {
            return 0.0;
        }
        self.tuning.hold_gain * best + self.tuning.hold_root * libm::sqrt(best * self.packet)
    }

    /// The window that an application may use at once, for it has used half of it without a queue (RFC 7661
    /// has the idea): it sends the less at other times, and after an outage its data wait.
    fn allowance(&self) -> f64 {
        let a = self.offered.get().map_or(0.0, Bytes::as_f64);
        let a = if self.tuning.x_al > 0.0 {
            a.min(self.tuning.x_al * self.forecast.bytes())
        } else {
            a
        };
        let a = if self.tuning.x_ag > 0.0 {
            self.tuning.x_ag
        } else {
            self.tuning.allowance
        } * a;
        match self.min_rtt() {
            Some(min_rtt) if self.tuning.x_av > 0.0 => {
                a.min(self.tuning.x_av * self.best_volume(min_rtt))
            }
            _ => a,
        }
    }

    /// Mean bytes that an acknowledgment brings beyond those of two packets, the usual ones.
    fn bunch(&self) -> f64 {
        (self.batches.mean() - USUAL_ACK_PACKETS * self.packet).max(0.0)
    }

    fn pacing_gain(&self) -> f64 {
        if self.phase == Phase::Startup {
            return self.tuning.start_pacing;
        }
        let gain =
            self.tuning.pacing + self.calm() * (self.tuning.calm_pacing - self.tuning.pacing);
        // A bunch of acknowledgments must not make one of packets: its part of the window leaves in the
        // time in which the link serves it.
        let bunch = self.bunch().min(self.cwnd) / self.forecast.bytes().max(1.0);
        gain / (1.0 + self.tuning.calm_pacing * bunch)
    }

    /// What the best delivery rate of late serves in T.
    fn best_volume(&self, min_rtt: Duration) -> f64 {
        self.best_rate
            .get()
            .map_or(f64::INFINITY, |rate| rate.as_f64() * min_rtt.as_secs_f64())
    }

    fn take_arrivals(&mut self, ack: &AckEvent<'_>, newest: Time, min_rtt: Duration) {
        let tuning = self.tuning;
        let app_limited = ack.rate_sample.is_none_or(|sample| sample.app_limited);
        // Behind an outage all that waited arrives late; nothing is to be learnt from its gaps.
        let outage = self.path.latest() > min_rtt * 2;
        let mut limit = tuning.hold_gain * self.margin.arriving() * self.best_volume(min_rtt);
        if app_limited {
            // The best rate is the application's.
            limit = limit.max(self.forecast.bytes());
        }
        self.round.on_limit(app_limited);
        let mut begins_batch = ack.now > self.last_ack;
        for packet in ack.packets {
            let bytes = packet.bytes.as_f64();
            // The newest packet has brought the acknowledgment; those before it came as they were sent, or
            // waited longer.
            let at = ack.now - newest.since(packet.sent_at);
            let at = at.max(self.last_ack);
            let arrival = self.service.on_arrival(
                packet.sent_at,
                at,
                packet.bytes,
                min_rtt,
                tuning.kernel,
                tuning.alone,
            );
            let idle = !arrival.idle.is_zero();
            let short = self.batches.on_arrival(
                bytes,
                core::mem::replace(&mut begins_batch, false),
                idle,
                tuning.memory * self.cwnd,
            );
            self.round.on_arrival(arrival.queueing);
            if !self.phase.drains() && !self.drain.covers(packet.sent_at) {
                self.forecast
                    .on_arrival(&tuning, bytes, arrival.served, limit, self.cwnd);
            }
            if self.phase == Phase::Startup {
                let queued = !idle && self.is_queue(arrival.queueing, min_rtt);
                self.queued = if queued { self.queued + bytes } else { 0.0 };
            } else if !self.phase.drains()
                && !app_limited
                && !self.drain.precedes_end(packet.sent_at)
            {
                let stood = self.is_queue(self.round.stood(), min_rtt);
                let passed = if outage || stood {
                    0.0
                } else {
                    (arrival.idle.ratio(min_rtt) * self.forecast.bytes()).min(self.cwnd)
                };
                self.margin
                    .on_arrival(&tuning, bytes, passed + short, self.cwnd);
            }
        }
    }

    fn begin_drain(&mut self, now: Time, min_rtt: Duration) {
        let shared = self.phase.shared();
        self.enter(if shared { Phase::Probe } else { Phase::Drain });
        self.round.restart();
        self.drain.begin(now, self.cwnd);
        let cut = if shared {
            // What others leave is T from now on.
            self.path.turn(&self.tuning, now);
            self.cwnd * self.tuning.probe
        } else {
            let unqueued = self.cwnd * min_rtt.ratio(min_rtt + self.round.standing());
            unqueued.min(self.forecast.bytes()) * self.tuning.drain
        };
        self.cwnd = self.cwnd.min(cut).max(self.floor());
    }

    fn end_drain(&mut self, now: Time, min_rtt: Duration) {
        let queueing = self.round.met();
        let drained = Drained {
            queueing,
            // Larger batches than the usual wait for their end.
            explained: (min_rtt + queueing).mul_f64(self.bunch() / self.cwnd)
                + if self.tuning.x_pk > 0.0 {
                    let rate = self.largest.get().map_or(0.0, Rate::as_f64);
                    let packets = if rate > 0.0 {
                        SECOND.mul_f64((self.tuning.x_pk * self.packet / rate).min(10.0))
                    } else {
                        Duration::ZERO
                    };
                    packets.min(min_rtt.mul_f64(0.5)) + self.path.jitter()
                } else {
                    Duration::ZERO
                },
            busy: self.drain.is_whole() && self.margin.share() <= self.tuning.drain_margin,
        };
        self.drain.end(now);
        self.starved = 0;
        let shared = self.phase.shared();
        if shared {
            // A share is won back from others slowly; the probe has not changed it.
            self.cwnd = self.cwnd.max(self.drain.cwnd_before());
        }
        let turns = if shared {
            self.evidence
                .against_shared(&self.tuning, &drained, min_rtt)
        } else {
            self.evidence.against_own(&self.tuning, &drained, min_rtt)
        };
        let next = if shared == turns {
            Phase::Own
        } else {
            Phase::Shared
        };
        if turns {
            self.believe(next, now, min_rtt);
        } else {
            self.enter(next);
        }
    }

    fn end_round(&mut self, now: Time, min_rtt: Duration) {
        let round = self.round.end(now, self.cwnd);
        self.drain.on_round();
        let Some(queueing) = round.queueing else {
            return;
        };
        let offered = round.offered.filter(|_| !self.is_queue(queueing, min_rtt));
        let offered = Bytes::new(offered.unwrap_or(0.0) as u64);
        self.queues = if self.is_queue(queueing, min_rtt) {
            self.queues + 1
        } else {
            0
        };
        if self.tuning.x_clr && self.queues >= self.tuning.path_rounds {
            self.offered = Windowed::new(SECOND.mul_f64(self.tuning.span).as_nanos());
        }
        self.offered.update(now.as_nanos(), offered);
        if !matches!(self.phase, Phase::Own | Phase::Shared)
            || self.drain.precedes_end(round.began_at)
        {
            return;
        }
        if let Some(used) = round.used {
            self.forecast.on_round(used, min_rtt, queueing);
        }
        if self
            .step
            .on_round(&self.tuning, self.cwnd, self.floor(), queueing, min_rtt)
        {
            self.path.replace(&self.tuning, now, min_rtt + queueing);
        }
        if self.phase == Phase::Own && self.starves(now, queueing, min_rtt) {
            self.believe(Phase::Shared, now, min_rtt);
        }
    }

    /// Whether the flow has had much less than of late for some rounds, behind a queue that is long or
    /// overflows.
    fn starves(&mut self, now: Time, queueing: Duration, min_rtt: Duration) -> bool {
        let t = self.tuning;
        let rate = Rate::from_volume(self.cwnd(), min_rtt + queueing);
        let largest = self.largest.update(now.as_nanos(), rate);
        let long = queueing > min_rtt.mul_f64(t.starved) + MS.mul_f64(t.others_noise);
        let overflows = self.margin.lost() > t.loss_queued && self.is_queue(queueing, min_rtt);
        let little = (long || overflows) && rate.as_f64() < t.starved * largest.as_f64();
        self.starved = if little { self.starved + 1 } else { 0 };
        self.starved >= t.starved_rounds
    }

    /// Goes over to the other belief: what was found under the old one is forgotten.
    fn believe(&mut self, phase: Phase, now: Time, min_rtt: Duration) {
        self.enter(phase);
        self.starved = 0;
        self.margin.restart();
        self.evidence.restart(min_rtt);
        if phase == Phase::Own {
            self.overflow.forget();
        } else {
            // What it has yielded was its own.
            self.cwnd = self.cwnd.max(self.envelope(min_rtt));
            let left = self.round.stood();
            self.path.replace(&self.tuning, now, min_rtt + left);
        }
    }

    /// Whether it is time to drain.
    fn is_due(&mut self, now: Time, min_rtt: Duration) -> bool {
        let t = self.tuning;
        let pause = self.drain.pause(now);
        let aged = self.drain.has_aged(now, self.path.latest());
        let looks = pause > SECOND.mul_f64(t.look).max(min_rtt.mul_f64(t.pause));
        let late = pause > SECOND.mul_f64(t.span);
        if self.phase.shared() && pause <= self.path.latest().mul_f64(t.pause) {
            return false;
        }
        aged && self.margin.share() < t.drain_margin
            || looks && self.evidence.any()
            || late && (self.phase.shared() || self.is_queue(self.round.stood(), min_rtt))
    }

    fn steer(&mut self, ack: &AckEvent<'_>, min_rtt: Duration) {
        let acked = ack.bytes_acked.as_f64();
        let due = self.is_due(ack.now, min_rtt);
        match self.phase {
            Phase::Startup => {
                // Twice the best doubles it in a round trip.
                let limit = 2.0 * self.best_volume(min_rtt) + self.floor();
                self.cwnd = (self.cwnd + acked).min(limit.max(self.cwnd));
                if self.queued
                    > (self.tuning.queue * self.cwnd).max(self.tuning.stretch_packets * self.packet)
                {
                    self.begin_drain(ack.now, min_rtt);
                }
            }
            Phase::Drain | Phase::Probe => {
                let is_empty = self.path.latest() <= min_rtt.mul_f64(self.tuning.empty);
                if self.drain.is_over(is_empty) {
                    self.end_drain(ack.now, min_rtt);
                }
            }
            Phase::Own | Phase::Shared => {
                let window = self
                    .target(min_rtt)
                    .max(self.envelope(min_rtt))
                    .max(self.allowance());
                let least = if self.tuning.x_floor > 0.0 {
                    let v = self.best_volume(min_rtt);
                    if v.is_finite() {
                        v * self.tuning.x_floor
                    } else {
                        0.0
                    }
                } else {
                    0.0
                };
                let most = self
                    .overflow
                    .cwnd()
                    .map(|c| c.max(least))
                    .filter(|_| !self.tuning.x_now || self.margin.lost() > self.tuning.over);
                if self.tuning.x_drop && most.is_some_and(|c| c > window) {
                    self.overflow.forget();
                }
                let window = match most {
                    Some(cubic) if self.phase == Phase::Shared && !self.tuning.x_cap => cubic,
                    Some(cubic) => window.min(cubic),
                    None => window,
                };
                self.cwnd = window.max(self.floor()).min(self.cwnd + acked);
                if due {
                    self.begin_drain(ack.now, min_rtt);
                }
            }
        }
    }
}

impl Controller for Ebb2 {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.round.on_packet_sent(sent);
        self.overflow.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let Some(newest) = ack.packets.iter().map(|packet| packet.sent_at).max() else {
            return;
        };
        let timed = !self.phase.shared();
        self.path
            .on_rtt(&self.tuning, ack.now, ack.now.since(newest), timed);
        let ends_round = self.round.on_ack(ack);
        if ends_round {
            self.path.on_round(&self.tuning);
        }
        let Some(min_rtt) = self.min_rtt() else {
            return;
        };
        if let Some(sample) = &ack.rate_sample
            && (!sample.app_limited
                || self
                    .best_rate
                    .get()
                    .is_none_or(|best| sample.delivery_rate >= best))
        {
            self.best_rate
                .update(self.round.count(), sample.delivery_rate);
        }
        if let Some(before) = self.forecast_rtt.replace(min_rtt)
            && before != min_rtt
        {
            self.forecast.rescale(min_rtt.ratio(before));
        }
        self.margin
            .on_delivered(&self.tuning, ack.bytes_acked.as_f64(), self.cwnd);
        self.take_arrivals(ack, newest, min_rtt);
        self.last_ack = ack.now;
        self.overflow.on_ack(ack);
        self.steer(ack, min_rtt);
        if ends_round {
            self.end_round(ack.now, min_rtt);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let Some(min_rtt) = self.min_rtt() else {
            return;
        };
        let queued = self.is_queue(self.path.latest() - min_rtt, min_rtt);
        // Under jitter a packet that met no queue looks late; where a queue stands, all of a round do.
        self.margin
            .on_loss(&self.tuning, loss.bytes_lost.as_f64(), queued, self.cwnd);
        if !self.tuning.x_off
            && self.margin.lost() > self.tuning.over
            && self.phase != Phase::Startup
            && self.is_queue(self.round.stood(), min_rtt)
        {
            let before = if self.phase.drains() {
                self.drain.cwnd_before()
            } else {
                0.0
            };
            self.overflow.on_loss(loss, self.cwnd.max(before));
        }
        if self.phase == Phase::Startup && (queued || self.margin.is_policed(&self.tuning)) {
            self.begin_drain(loss.now, min_rtt);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.overflow.on_timeout(timeout);
        self.cwnd = self.floor();
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        if marked_packets == 0 {
            return;
        }
        self.overflow.on_ecn_ce(now, sent_at, marked_packets);
        // Who marks has a queue.
        let bytes = marked_packets as f64 * self.packet;
        self.margin.on_loss(&self.tuning, bytes, true, self.cwnd);
        if self.phase == Phase::Startup
            && let Some(min_rtt) = self.min_rtt()
        {
            self.begin_drain(now, min_rtt);
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1)).as_f64();
        self.cwnd = self.cwnd.max(self.floor());
        self.overflow.on_mtu_change(max_datagram);
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd as u64)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rtt = self.min_rtt().unwrap_or(NOMINAL_RTT);
        let mut rate = Rate::from_volume(self.cwnd(), rtt).mul_f64(self.pacing_gain());
        if self.phase == Phase::Shared
            && let Some(best) = self.best_rate.get()
        {
            rate = best.mul_f64(self.tuning.hold_gain);
        }
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        let burst = self
            .pacing_rate()
            .map_or(Bytes::ZERO, |rate| rate.volume_in(BURST));
        (Bytes::new(self.packet as u64) * BURST_PACKETS).max(burst.min(LARGEST_BURST))
    }

    fn variables(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("forecast", self.forecast.bytes());
        visit("margin", self.margin.share());
        visit("lost", self.margin.lost());
        visit("calm", self.calm());
        visit("batch", self.batches.mean());
        visit("standing_queue", self.round.standing().as_secs_f64());
        visit("evidence", self.evidence.drains().into());
        if let Some(min_rtt) = self.min_rtt() {
            visit("min_rtt", min_rtt.as_secs_f64());
            visit("best_volume", self.best_volume(min_rtt));
            visit("target", self.target(min_rtt));
            visit("envelope", self.envelope(min_rtt));
        }
    }

    fn snapshot(&self) -> Snapshot {
        let min_rtt = self.min_rtt();
        Snapshot {
            phase: PHASES[self.phase as usize].name,
            bandwidth: min_rtt
                .map(|rtt| Rate::from_volume(Bytes::new(self.forecast.bytes() as u64), rtt)),
            min_rtt,
            // At the smallest δ nothing of the forecast is left.
            cwnd_gain: Some(1.0 + self.margin.share()).filter(|gain| *gain > 0.0),
            pacing_gain: Some(self.pacing_gain()),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        PHASES
    }
}

#[cfg(test)]
mod tests;
