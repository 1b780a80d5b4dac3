//! ebb: BBR's throughput at a fraction of its queueing delay, on links whose rate moves.
//!
//! The window is a forecast of what the link serves in the next min RTT (`forecast.rs`, from
//! `service.rs`), and a margin against its errors (`margin.rs`). The margin is regulated: a share of
//! the link's capacity that the user chooses may stay unused, and no queue is kept that saves less.
//! Whether capacity stays unused is not estimated but seen, packet by packet, from the times of
//! sending and acknowledgment. `docs/ebb.md` derives the law and shows what each term is worth;
//! `docs/ebb-spec.md` specifies it.

pub(crate) mod entry;

mod batches;
mod bound;
mod competition;
mod concession;
mod drain;
mod forecast;
mod least;
mod margin;
mod path;
mod peer_clock;
mod round;
mod service;
mod shadow;
mod startup;
mod tuning;

use self::batches::Batches;
use self::bound::Bound;
use self::competition::{Competition, Drained, Outcome};
use self::concession::Concession;
use self::drain::Drain;
use self::forecast::Forecast;
use self::margin::Margin;
use self::path::Path;
use self::peer_clock::PeerClock;
use self::round::Round;
use self::service::Service;
use self::startup::Startup;
pub use self::tuning::Tuning;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::estimators::{Maximum, Windowed};
use crate::mechanisms::Undo;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// The smallest window, packets: enough that acknowledgments of every second packet keep coming, and
/// that the loss of one is noticed by those behind it.
const MIN_WINDOW_PACKETS: f64 = 4.0;
/// Packets that an acknowledgment usually brings (RFC 9000 §13.2.2, RFC 5681 §4.2).
const USUAL_ACK_PACKETS: f64 = 2.0;
/// Rounds over which the best delivery rate counts.
const RATE_ROUNDS: u64 = 15;
/// RTT assumed before the first sample, as BBR does (Linux `bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// With this margin a link is not steady: what RTTs are above the least is the queue's, and its rate
/// may double at any time.
const UNSTEADY: f64 = 0.05;
/// Packets that may leave back to back: more would look like a queue.
const BURST_PACKETS: u64 = 2;
/// Time's worth of packets that may leave back to back on a fast path: a host that wakes for each
/// pair cannot fill it.
const BURST: Duration = Duration::from_micros(250);
/// The largest burst: what one GSO send carries (Linux `GSO_LEGACY_MAX_SIZE`).
const LARGEST_BURST: Bytes = Bytes::new(65_535);

/// Queueing delay above which a loss may be the queue's doing, as a share of the min RTT.
const QUEUED: f64 = 0.125;

/// ebb's phases, for plots.
const STARTUP: State = State::new("Startup", StateKind::Start);
const DRAIN: State = State::new("Drain", StateKind::ProbeRtt);
const STEADY: State = State::new("Steady", StateKind::Steady);
const COMPETE: State = State::new("Compete", StateKind::Recovery);
const PHASES: &[State] = &[STARTUP, DRAIN, STEADY, COMPETE];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Steady,
}

impl Phase {
    /// Whether `next` may follow.
    const fn may_lead_to(self, next: Self) -> bool {
        match next {
            Self::Startup => false,
            Self::Drain => matches!(self, Self::Startup | Self::Steady),
            Self::Steady => matches!(self, Self::Drain),
        }
    }
}

/// Lowtide's own controller: a forecast of the link and a regulated margin.
#[derive(Clone, Debug)]
pub struct Ebb {
    tuning: Tuning,
    /// Bytes of a full packet.
    packet: f64,
    phase: Phase,
    /// Bytes.
    cwnd: f64,
    undo: Undo<f64>,
    path: Path,
    peer_clock: PeerClock,
    last_ack: Time,
    service: Service,
    forecast: Forecast,
    margin: Margin,
    batches: Batches,
    startup: Startup,
    drain: Drain,
    concession: Concession,
    competition: Competition,
    bound: Bound,
    round: Round,
    best_rate: Windowed<Rate, Maximum>,
    /// The min RTT that the forecast is for.
    forecast_rtt: Option<Duration>,
    /// Since the last acknowledgment: when packets were last declared lost, and how much at that time.
    lost_since_ack: Option<(Time, Bytes)>,
}

impl Ebb {
    /// A flow in Startup.
    #[must_use]
    pub fn new(config: &Config, tuning: Tuning) -> Self {
        let packet = config.max_datagram.max(Bytes::new(1)).as_f64();
        Self {
            tuning,
            packet,
            phase: Phase::Startup,
            cwnd: config
                .initial_window
                .as_f64()
                .max(MIN_WINDOW_PACKETS * packet),
            undo: Undo::new(),
            path: Path::default(),
            peer_clock: PeerClock::default(),
            last_ack: Time::ZERO,
            service: Service::default(),
            forecast: Forecast::new(),
            margin: Margin::default(),
            batches: Batches::default(),
            startup: Startup::default(),
            drain: Drain::new(),
            concession: Concession::default(),
            competition: Competition::new(config),
            bound: Bound::new(config),
            round: Round::default(),
            best_rate: Windowed::new(RATE_ROUNDS),
            forecast_rtt: None,
            lost_since_ack: None,
        }
    }

    /// Goes over to another phase, which must be one that may follow.
    fn enter(&mut self, phase: Phase) {
        debug_assert!(self.phase.may_lead_to(phase));
        self.phase = phase;
    }

    /// T.
    fn min_rtt(&self) -> Option<Duration> {
        // In Startup, and beside others, every round has a queue.
        let calm = if self.phase == Phase::Startup || self.competition.is_suspected() {
            0.0
        } else {
            self.margin.calm(UNSTEADY)
        };
        // A packet waits for the end of its batch, half of one on average.
        let own = (self.tuning.packets * self.packet).max(self.batches.mean() / 2.0);
        let own = own / self.forecast.bytes().max(1.0);
        self.path.min_rtt(calm, self.tuning.jitter, own)
    }

    fn floor(&self) -> f64 {
        MIN_WINDOW_PACKETS * self.packet
    }

    /// W: forecast, margin, and what keeps the link busy between two acknowledgments.
    fn target(&self) -> f64 {
        let tuning = &self.tuning;
        let forecast = self.forecast.bytes();
        let rate = self
            .forecast_rtt
            .map_or(0.0, |rtt| forecast / self.packet / rtt.as_secs_f64());
        let packets = tuning.packets.max(libm::sqrt(rate * tuning.root));
        let between = (packets * self.packet).max(self.batches.mean());
        let calm = self.margin.calm(tuning.lively);
        let target = self.forecast.when(calm) + forecast * self.margin.share() + between;
        target.max(self.floor())
    }

    /// Mean bytes that an acknowledgment brings beyond those of two packets, the usual ones.
    fn bunch(&self) -> f64 {
        (self.batches.mean() - USUAL_ACK_PACKETS * self.packet).max(0.0)
    }

    fn pacing_gain(&self) -> f64 {
        match self.phase {
            Phase::Startup => startup::PACING,
            Phase::Drain | Phase::Steady => {
                let calm = self.margin.calm(self.tuning.lively);
                let gain = self.tuning.pacing_gain
                    + calm * (self.tuning.calm_pacing_gain - self.tuning.pacing_gain);
                // A bunch of acknowledgments must not make one of packets: its part of the window
                // leaves in the time in which the link serves it.
                let bunch = self.bunch().min(self.cwnd) / self.forecast.bytes().max(1.0);
                gain / (1.0 + self.tuning.calm_pacing_gain * bunch)
            }
        }
    }

    /// Bytes that the best recent delivery rate serves in a min RTT.
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
        let growth = if self.margin.share() < UNSTEADY {
            tuning.calm_growth
        } else {
            tuning.growth
        };
        let mut limit = growth * self.margin.arriving(&tuning) * self.best_volume(min_rtt);
        if app_limited {
            // The best rate is the application's.
            limit = limit.max(self.forecast.bytes());
        }
        let mut begins_batch = ack.now > self.last_ack;
        for packet in ack.packets {
            let bytes = packet.bytes.as_f64();
            let at = match packet.received_at {
                // None of those before it met less than the least queue that acknowledgments have shown.
                Some(received_at) if packet.sent_at < newest => {
                    let claimed =
                        self.peer_clock
                            .arrival(ack.now, packet.sent_at, received_at, min_rtt);
                    claimed.max(packet.sent_at + self.path.lately())
                }
                // The newest packet has brought the acknowledgment; those before it came as they were
                // sent, or waited longer.
                _ => ack.now - newest.since(packet.sent_at),
            };
            let at = at.max(self.last_ack).min(ack.now);
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
                tuning.batch_memory * self.cwnd,
            );
            self.round.on_arrival(arrival.queueing);
            if self.phase != Phase::Drain && !self.drain.covers(packet.sent_at) {
                self.forecast
                    .on_arrival(&tuning, bytes, arrival.served, limit, self.cwnd);
            }
            match self.phase {
                Phase::Startup => {
                    self.startup
                        .on_arrival(bytes, arrival.queueing, min_rtt, idle);
                }
                Phase::Drain => {}
                Phase::Steady if app_limited || self.drain.precedes_end(packet.sent_at) => {}
                // The link idles for the bound's sake.
                Phase::Steady if self.bound.binds(self.cwnd) => {}
                Phase::Steady => {
                    let stood = self.round.stood() > min_rtt.mul_f64(tuning.standing);
                    let passed = if outage || stood {
                        0.0
                    } else {
                        (arrival.idle.ratio(min_rtt) * self.forecast.bytes()).min(self.cwnd)
                    };
                    let short = if tuning.batch_memory > 0.0 {
                        short
                    } else {
                        0.0
                    };
                    self.margin
                        .on_arrival(&tuning, bytes, passed + short, self.cwnd);
                }
            }
        }
    }

    fn begin_drain(&mut self, now: Time, min_rtt: Duration) {
        self.enter(Phase::Drain);
        self.round.restart();
        self.drain.begin(now, min_rtt);
        let bdp = if self.competition.is_on() {
            self.cwnd * min_rtt.ratio(self.path.latest().max(min_rtt))
        } else {
            let unqueued = self.cwnd * min_rtt.ratio(min_rtt + self.round.standing());
            unqueued.min(self.forecast.bytes())
        };
        self.cwnd = self.cwnd.min(bdp * self.tuning.drain).max(self.floor());
    }

    fn end_drain(&mut self, now: Time, min_rtt: Duration) {
        let queueing = self.round.met();
        let drained = Drained {
            queueing,
            // Larger batches than the usual wait for their end.
            explained: (min_rtt + queueing).mul_f64(self.bunch() / self.cwnd),
            busy: self.drain.is_whole() && self.margin.share() <= 0.0,
            shortened: self.drain.has_shortened(min_rtt),
        };
        let outcome = self
            .competition
            .on_drained(now, &drained, min_rtt, self.target());
        if outcome != Outcome::Same {
            self.path.hold(self.competition.is_on());
            self.margin = Margin::default();
        }
        if outcome == Outcome::Longer {
            self.path.replace(now, min_rtt + queueing);
        }
        self.drain.end(now);
    }

    fn end_round(&mut self, now: Time, min_rtt: Duration) {
        let round = self.round.end(now, self.cwnd);
        self.drain.on_round(round.queueing);
        let Some(queueing) = round.queueing else {
            return;
        };
        if self.phase != Phase::Steady || self.drain.precedes_end(round.began_at) {
            return;
        }
        if let Some(used) = round.used {
            self.forecast.on_round(used, min_rtt, queueing);
        }
        if self.margin.share() >= drain::CALM || self.competition.is_on() {
            self.concession.forget();
        } else if let Some(longer) =
            self.concession
                .on_round(now, round.began_at, self.cwnd, queueing, min_rtt)
        {
            self.path.replace(now, min_rtt + longer);
        }
    }

    fn steer(&mut self, ack: &AckEvent<'_>, min_rtt: Duration) {
        let acked = ack.bytes_acked.as_f64();
        let due = self.drain.is_due(
            ack.now,
            self.path.latest(),
            min_rtt,
            self.margin.share(),
            self.path.unconfirmed(ack.now),
            self.competition.is_on(),
        ) || self
            .competition
            .looks(ack.now.since(self.drain.ended_at()), min_rtt);
        match self.phase {
            Phase::Startup => {
                let limit = startup::GAIN * self.best_volume(min_rtt) + self.floor();
                self.cwnd = (self.cwnd + acked).min(limit.max(self.cwnd));
                if self.startup.has_filled(self.cwnd, self.packet) {
                    self.begin_drain(ack.now, min_rtt);
                }
            }
            Phase::Drain => {
                if self.drain.is_over(self.path.latest(), min_rtt) {
                    self.path.wait_anew(ack.now);
                    self.end_drain(ack.now, min_rtt);
                    self.enter(Phase::Steady);
                }
            }
            Phase::Steady => {
                let window = self.target().max(self.competition.window());
                let window = self.bound.apply(window).max(self.floor());
                self.cwnd = window.min(self.cwnd + acked);
                if due {
                    self.begin_drain(ack.now, min_rtt);
                }
            }
        }
    }
}

impl Controller for Ebb {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.competition.rival.on_packet_sent(sent);
        self.bound.prague.on_packet_sent(sent);
        self.round.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let Some(newest) = ack.packets.iter().map(|packet| packet.sent_at).max() else {
            return;
        };
        self.undo.on_ack();
        self.path.on_rtt(ack.now, ack.now.since(newest));
        let ends_round = self.round.on_ack(ack);
        if ends_round {
            self.path.on_round();
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
            .on_delivered(ack.bytes_acked.as_f64(), self.cwnd);
        // What arrives without having been in flight had been given up for lost.
        let lost = match self.lost_since_ack.take() {
            Some((at, bytes)) if at == ack.now => bytes,
            _ => Bytes::ZERO,
        };
        // An undone timeout puts all of it back into flight, which may then have more than before.
        let spurious = (ack.bytes_acked + lost + ack.inflight) - ack.prior_inflight;
        if !spurious.is_zero() {
            self.margin
                .on_spurious_loss(&self.tuning, spurious.as_f64(), self.cwnd);
        }
        self.competition.rival.on_ack(ack);
        self.bound.prague.on_ack(ack);
        self.take_arrivals(ack, newest, min_rtt);
        self.last_ack = ack.now;
        self.steer(ack, min_rtt);
        if ends_round {
            self.end_round(ack.now, min_rtt);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let earlier = match self.lost_since_ack {
            Some((at, bytes)) if at == loss.now => bytes,
            _ => Bytes::ZERO,
        };
        self.lost_since_ack = Some((loss.now, earlier + loss.bytes_lost));
        let Some(min_rtt) = self.min_rtt() else {
            return;
        };
        let queued = self.path.latest() > min_rtt.mul_f64(1.0 + QUEUED);
        self.competition.on_loss(loss, queued);
        self.bound.prague.on_loss(loss);
        self.margin
            .on_loss(&self.tuning, loss.bytes_lost.as_f64(), queued, self.cwnd);
        if self.phase == Phase::Startup && (queued || self.margin.is_policed()) {
            self.begin_drain(loss.now, min_rtt);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.competition.rival.on_timeout(timeout);
        self.bound.prague.on_timeout(timeout);
        self.undo.before_timeout(timeout.now, self.cwnd);
        self.cwnd = self.floor();
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        self.competition.rival.on_spurious_timeout(now);
        self.bound.prague.on_spurious_timeout(now);
        if let Some(before) = self.undo.take() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        if marked_packets == 0 {
            return;
        }
        if self.tuning.l4s {
            self.bound.on_marks(now, sent_at, marked_packets, self.cwnd);
        } else {
            // Who marks has a queue.
            let bytes = marked_packets as f64 * self.packet;
            self.margin.on_loss(&self.tuning, bytes, true, self.cwnd);
            self.competition.on_marks(now, sent_at, marked_packets);
        }
        if self.phase == Phase::Startup
            && let Some(min_rtt) = self.min_rtt()
        {
            self.begin_drain(now, min_rtt);
        }
    }

    fn ecn(&self) -> Ecn {
        if self.tuning.l4s {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.competition.rival.on_mtu_change(max_datagram);
        self.bound.prague.on_mtu_change(max_datagram);
        self.packet = max_datagram.max(Bytes::new(1)).as_f64();
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd as u64)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rtt = if self.competition.is_on() {
            self.path.latest()
        } else {
            self.min_rtt().unwrap_or(NOMINAL_RTT)
        };
        let rate = Rate::from_volume(self.cwnd(), rtt).mul_f64(self.pacing_gain());
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        let burst = self
            .pacing_rate()
            .map_or(Bytes::ZERO, |rate| rate.volume_in(BURST));
        (Bytes::new(self.packet as u64) * BURST_PACKETS).max(burst.min(LARGEST_BURST))
    }

    fn snapshot(&self) -> Snapshot {
        let min_rtt = self.min_rtt();
        Snapshot {
            phase: match self.phase {
                Phase::Startup => STARTUP.name,
                Phase::Drain => DRAIN.name,
                Phase::Steady if self.competition.is_on() => COMPETE.name,
                Phase::Steady => STEADY.name,
            },
            bandwidth: min_rtt
                .map(|rtt| Rate::from_volume(Bytes::new(self.forecast.bytes() as u64), rtt)),
            min_rtt,
            cwnd_gain: Some(1.0 + self.margin.share()),
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
