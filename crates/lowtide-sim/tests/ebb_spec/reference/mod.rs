//! ebb as `docs/ebb-spec.md` has it. Written from that text alone; names and order are the text's.

mod arrivals;
mod batches;
mod competition;
mod extrema;
mod margin;
mod path;
mod round;

use lowtide_cc::controller::{
    AckEvent, AckedPacket, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Controller};

use self::arrivals::PeerClock;
use self::batches::Batches;
use self::competition::{Competition, Drained};
use self::extrema::Extrema;
use self::margin::Margin;
use self::path::PathRtt;
use self::round::Round;

const KERNEL: f64 = 0.35;
const SECOND: Duration = Duration::from_secs(1);

/// The smaller of both, as far as they are known.
fn least(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

fn floored(x: f64) -> Bytes {
    Bytes::new(x as u64)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Steady,
}

#[derive(Debug, Default)]
struct Drain {
    rounds: u64,
    min_rtt: Duration,
    began_at: Option<Time>,
    ended_at: Time,
}

/// A standing queue that may be the path's: what was in flight, what it was, and since when little
/// enough is in flight that it should have gone.
#[derive(Clone, Copy, Debug)]
struct Concession {
    cwnd: f64,
    q: Duration,
    limit_at: Option<Time>,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Reference {
    phase: Phase,
    /// P.
    packet: Bytes,
    /// W.
    cwnd: f64,
    /// M.
    forecast: f64,
    /// U.
    used: f64,
    forecast_rtt: Option<Duration>,
    path: PathRtt,
    round: Round,
    margin: Margin,
    batches: Batches,
    clock: PeerClock,
    competition: Competition,
    drain: Drain,
    plateau: Option<Duration>,
    concession: Option<Concession>,
    /// How often the path was taken for longer.
    conceded: u64,
    rates: Extrema<u64>,
    best_rate: Option<u64>,
    ages: Extrema<Duration>,
    youngest: Option<Duration>,
    last_arrival: Option<Time>,
    last_ack: Time,
    recent: f64,
    stretch: u64,
    /// Since the last acknowledgment.
    losses: Vec<(Time, Bytes)>,
    cwnd_before_timeout: Option<f64>,
}

impl Reference {
    pub(crate) fn new(config: &Config) -> Self {
        let packet = config.max_datagram.max(Bytes::new(1));
        Self {
            phase: Phase::Startup,
            packet,
            cwnd: config.initial_window.max(packet * 4).as_f64(),
            forecast: 0.0,
            used: f64::INFINITY,
            forecast_rtt: None,
            path: PathRtt::default(),
            round: Round::default(),
            margin: Margin {
                idle: 0.05,
                delta: 0.0,
                loss: 0.0,
            },
            batches: Batches::default(),
            clock: PeerClock::default(),
            competition: Competition::default(),
            drain: Drain::default(),
            plateau: None,
            concession: None,
            conceded: 0,
            rates: Extrema::maximum(),
            best_rate: None,
            ages: Extrema::minimum(),
            youngest: None,
            last_arrival: None,
            last_ack: Time::ZERO,
            recent: 0.0,
            stretch: 0,
            losses: Vec::new(),
            cwnd_before_timeout: None,
        }
    }

    /// Whether the competitive mode is on.
    pub(crate) fn competes(&self) -> bool {
        self.competition.is_on()
    }

    /// How often a standing queue was taken for the path's.
    pub(crate) fn concessions(&self) -> u64 {
        self.conceded
    }

    fn floor(&self) -> f64 {
        (self.packet * 4).as_f64()
    }

    /// T, of the present.
    fn min_rtt(&self) -> Option<Duration> {
        let own =
            (2.0 * self.packet.as_f64()).max(self.batches.size / 2.0) / self.forecast.max(1.0);
        let suspects = self.competition.is_on() || self.competition.evidence > 0;
        let calm = if suspects || self.phase == Phase::Startup {
            0.0
        } else {
            self.margin.calm(0.05)
        };
        self.path.min_rtt(own, calm)
    }

    /// best_rate · T.
    fn best_volume(&self, min_rtt: Duration) -> f64 {
        self.best_rate
            .map_or(f64::INFINITY, |rate| rate as f64 * min_rtt.as_secs_f64())
    }

    /// §4.
    fn acked(&mut self, ack: &AckEvent<'_>) -> Option<()> {
        let now = ack.now;
        self.cwnd_before_timeout = None;
        let rtt = now.since(ack.packets.iter().map(|p| p.sent_at).max()?);
        self.path.sample(now, rtt);
        let last = ack.packets.last()?.number;
        let ends = self.round.acked(last, ack.prior_inflight.get());
        if ends {
            self.path.end_round();
        }
        let min_rtt = self.min_rtt()?;
        if let Some(sample) = ack.rate_sample {
            let rate = sample.delivery_rate.as_bytes_per_sec();
            if !sample.app_limited || self.best_rate.is_none_or(|best| rate >= best) {
                self.best_rate = Some(self.rates.update(15, self.round.count, rate));
            }
        }
        if let Some(before) = self.forecast_rtt
            && before != min_rtt
        {
            let ratio = min_rtt.ratio(before);
            self.forecast *= ratio;
            self.used *= ratio;
        }
        self.forecast_rtt = Some(min_rtt);
        self.margin.delivered(ack.bytes_acked.as_f64(), self.cwnd);
        let lost_now = self.losses.drain(..).filter(|(at, _)| *at == now);
        let lost_now: Bytes = lost_now.fold(Bytes::ZERO, |sum, (_, bytes)| sum + bytes);
        let spurious = (ack.bytes_acked + lost_now + ack.inflight) - ack.prior_inflight;
        if !spurious.is_zero() {
            self.margin.spurious(spurious.as_f64(), self.cwnd);
        }
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_ack(ack);
        }
        self.arrivals(ack, min_rtt, rtt);
        self.last_ack = now;
        self.steer(ack, min_rtt, rtt);
        if ends {
            self.end_round(now, min_rtt);
        }
        Some(())
    }

    /// §6.
    fn end_round(&mut self, now: Time, min_rtt: Duration) {
        let used = self.round.cwnd.min(self.round.used_max as f64);
        let limited = used > 0.900_001 * self.round.cwnd;
        let q = self.round.least_q.take();
        let began = self.round.began;
        if let Some(q) = q {
            self.round.standing = q;
        }
        self.round.began = now;
        self.round.cwnd = self.cwnd;
        self.round.used_max = 0;
        self.drain.rounds += 1;
        if q.is_some() && self.drain.rounds > 6 {
            self.plateau = least(self.plateau, q);
        }
        let Some(q) = q else { return };
        if self.phase != Phase::Steady || began < self.drain.ended_at {
            return;
        }
        if limited {
            self.used = used * min_rtt.ratio(min_rtt + q);
        }
        if self.margin.delta >= 0.02 || self.competition.is_on() {
            self.concession = None;
        } else {
            self.concede(now, began, q, min_rtt);
        }
    }

    /// §7.
    fn arrivals(&mut self, ack: &AckEvent<'_>, min_rtt: Duration, latest: Duration) {
        let app_limited = ack.rate_sample.is_none_or(|sample| sample.app_limited);
        let outage = latest > min_rtt * 2;
        let growth = if self.margin.delta < 0.05 { 1.25 } else { 2.5 };
        let mut limit =
            growth * (1.0 - 2.0 * self.margin.loss).max(0.3) * self.best_volume(min_rtt);
        if app_limited {
            limit = limit.max(self.forecast);
        }
        let newest = ack.packets.iter().map(|packet| packet.sent_at).max();
        let mut begins = ack.now > self.last_ack;
        for packet in ack.packets {
            let before = newest.unwrap_or_default().since(packet.sent_at);
            let at = match packet.received_at {
                Some(received) if newest != Some(packet.sent_at) => {
                    let (sent_at, lately) = (packet.sent_at, self.path.lately());
                    let last_ack = self.last_ack;
                    let clock = &mut self.clock;
                    clock.arrival(ack.now, sent_at, received, min_rtt, lately, last_ack)
                }
                _ => (ack.now - before).max(self.last_ack),
            };
            self.arrival((at, begins), packet, min_rtt, app_limited, outage, limit);
            begins = false;
        }
    }

    fn arrival(
        &mut self,
        (at, begins): (Time, bool),
        packet: &AckedPacket,
        min_rtt: Duration,
        app_limited: bool,
        outage: bool,
        limit: f64,
    ) {
        let bytes = packet.bytes.as_f64();
        let sent_at = packet.sent_at;
        let s = sent_at + min_rtt;
        let last = self.last_arrival.unwrap_or(s);
        let span = at.since(last);
        let q = at.since(s);
        let idle = if q > min_rtt.mul_f64(0.2) {
            Duration::ZERO
        } else {
            s.since(last).min(span)
        };
        let busy = span - idle;
        if !busy.is_zero() {
            self.recent *= libm::exp(-busy.ratio(min_rtt) / KERNEL);
        }
        let served = (self.recent + bytes / 2.0) / KERNEL;
        self.recent = (self.recent + bytes).min(17_179_869_184.0);
        self.last_arrival = Some(at.max(last));
        let short = self
            .batches
            .arrival(bytes, begins, !idle.is_zero(), self.cwnd);
        self.round.arrival(q);
        let in_drain =
            self.drain.began_at.is_some_and(|b| b <= sent_at) && sent_at < self.drain.ended_at;
        if self.phase != Phase::Drain && !in_drain {
            let x = served.min(limit);
            if self.forecast == 0.0 {
                self.forecast = x;
            }
            let w = if x > self.forecast { 0.5 } else { 1.0 };
            self.forecast += bytes / (bytes + w * self.cwnd) * (x - self.forecast);
        }
        if self.phase == Phase::Startup {
            if idle.is_zero() && q > min_rtt.div(8).max(Duration::from_millis(1)) {
                self.stretch += packet.bytes.get();
            } else {
                self.stretch = 0;
            }
        }
        if self.phase == Phase::Steady && !app_limited && sent_at >= self.drain.ended_at {
            let passed = if outage || self.round.stood() > min_rtt.mul_f64(0.1) {
                0.0
            } else {
                (idle.ratio(min_rtt) * self.forecast).min(self.cwnd)
            };
            self.margin.arrival(bytes, passed + short, self.cwnd);
        }
    }

    /// b.
    fn bunch(&self) -> f64 {
        (self.batches.size - 2.0 * self.packet.as_f64()).max(0.0)
    }

    /// §10.
    fn target(&self) -> f64 {
        let m = self.forecast;
        let packet = self.packet.as_f64();
        let c = self.margin.calm(0.1);
        let r = self
            .forecast_rtt
            .map_or(0.0, |t| m / packet / t.as_secs_f64());
        let e = ((0.03 * r).sqrt().max(2.0) * packet).max(self.batches.size);
        (m - c * (m - self.used).max(0.0) + m * self.margin.delta + e).max(self.floor())
    }

    fn steer(&mut self, ack: &AckEvent<'_>, min_rtt: Duration, latest: Duration) {
        let now = ack.now;
        let due = self.is_due(now, min_rtt, latest);
        let due = due || self.competition.looks(now, self.drain.ended_at, min_rtt);
        let grown = self.cwnd + ack.bytes_acked.as_f64();
        match self.phase {
            Phase::Startup => {
                let bound = 2.0 * self.best_volume(min_rtt) + self.floor();
                self.cwnd = grown.min(bound.max(self.cwnd));
                if self.stretch as f64 > (self.cwnd / 8.0).max(10.0 * self.packet.as_f64()) {
                    self.begin_drain(now, min_rtt, latest);
                }
            }
            Phase::Drain => {
                let rounds = self.drain.rounds;
                if rounds >= 2 || rounds >= 1 && latest <= min_rtt.mul_f64(1.01) {
                    self.path.confirmed_at = now;
                    self.end_drain(now, min_rtt);
                    self.phase = Phase::Steady;
                }
            }
            Phase::Steady => {
                let cubic = self.competition.cubic.as_ref();
                let cubic = cubic.map_or(0.0, |cubic| cubic.cwnd().as_f64());
                self.cwnd = self.target().max(cubic).min(grown);
                if due {
                    self.begin_drain(now, min_rtt, latest);
                }
            }
        }
    }

    fn begin_drain(&mut self, now: Time, min_rtt: Duration, latest: Duration) {
        self.phase = Phase::Drain;
        self.round.restart();
        self.drain.rounds = 0;
        self.drain.min_rtt = min_rtt;
        self.drain.began_at = Some(now);
        self.plateau = None;
        let bdp = if self.competition.is_on() {
            self.cwnd * min_rtt.ratio(latest.max(min_rtt))
        } else {
            let share = min_rtt.ratio(min_rtt + self.round.standing);
            (self.cwnd * share).min(self.forecast)
        };
        self.cwnd = self.cwnd.min(0.9 * bdp).max(self.floor());
    }

    fn end_drain(&mut self, now: Time, min_rtt: Duration) {
        let q = self.round.met();
        let drained = Drained {
            q,
            explained: (min_rtt + q).mul_f64(self.bunch() / self.cwnd),
            busy: self.drain.rounds >= 2 && self.margin.delta <= 0.0,
            shortened: min_rtt < self.drain.min_rtt.mul_f64(0.98),
            min_rtt,
            target: floored(self.target()),
            packet: self.packet,
        };
        if let Some(longer) = self.competition.drained(now, &drained) {
            self.path.held = self.competition.is_on();
            self.margin.delta = 0.0;
            self.margin.loss = 0.0;
            if longer {
                self.path.replace(now, min_rtt + q);
            }
        }
        self.drain.rounds = 0;
        self.drain.ended_at = now;
    }

    fn is_due(&mut self, now: Time, min_rtt: Duration, latest: Duration) -> bool {
        let patience = (min_rtt * 75)
            .max(Duration::from_millis(500))
            .min(SECOND * 10);
        let least = self
            .ages
            .update(patience.as_nanos(), now.as_nanos(), latest);
        let aged = self.youngest.replace(least).is_some_and(|y| least > y);
        let joins = self.drain.rounds > 20
            && self.plateau.is_some_and(|plateau| {
                let fall = plateau.mul_f64(0.3).max(Duration::from_micros(500));
                (latest - min_rtt) + fall < plateau
            });
        let off = !self.competition.is_on();
        let unconfirmed = now.since(self.path.confirmed_at);
        self.margin.delta < 0.02 && (aged && off || joins) || unconfirmed > SECOND * 10 && off
    }

    fn concede(&mut self, now: Time, began: Time, q: Duration, min_rtt: Duration) {
        if q <= min_rtt.mul_f64(0.25) {
            self.concession = None;
            return;
        }
        match &mut self.concession {
            Some(c) if (q.ratio(c.q) - 1.0).abs() <= 0.05 => {
                if self.cwnd > 0.4 * c.cwnd {
                    c.limit_at = None;
                } else if began > *c.limit_at.get_or_insert(now) {
                    self.concession = None;
                    self.conceded += 1;
                    self.path.replace(now, min_rtt + q);
                }
            }
            concession => {
                *concession = Some(Concession {
                    cwnd: self.cwnd,
                    q,
                    limit_at: None,
                });
            }
        }
    }
}

impl Controller for Reference {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.round.sent(sent.number);
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_packet_sent(sent);
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.acked(ack).expect("an acknowledgment covers packets");
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let now = loss.now;
        self.losses.push((now, loss.bytes_lost));
        let (Some(latest), Some(min_rtt)) = (self.path.latest, self.min_rtt()) else {
            return;
        };
        let queued = latest > min_rtt.mul_f64(1.125);
        self.competition.lost(now, queued);
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_loss(loss);
        }
        self.margin
            .lost(loss.bytes_lost.as_f64(), queued, self.cwnd);
        if self.phase == Phase::Startup && (queued || self.margin.loss > 0.07) {
            self.begin_drain(now, min_rtt, latest);
        }
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        if marked_packets == 0 {
            return;
        }
        let marked = marked_packets as f64 * self.packet.as_f64();
        self.margin.lost(marked, true, self.cwnd);
        self.competition.lost(now, true);
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_ecn_ce(now, sent_at, marked_packets);
        }
        if self.phase == Phase::Startup
            && let (Some(latest), Some(min_rtt)) = (self.path.latest, self.min_rtt())
        {
            self.begin_drain(now, min_rtt, latest);
        }
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_timeout(timeout);
        }
        self.cwnd_before_timeout.get_or_insert(self.cwnd);
        self.cwnd = self.floor();
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_spurious_timeout(now);
        }
        if let Some(before) = self.cwnd_before_timeout.take() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1));
        if let Some(cubic) = &mut self.competition.cubic {
            cubic.on_mtu_change(max_datagram);
        }
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn cwnd(&self) -> Bytes {
        floored(self.cwnd)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rtt = if self.competition.is_on() {
            self.path.latest
        } else {
            self.min_rtt()
        };
        let rtt = rtt.unwrap_or(Duration::from_millis(1));
        let gain = match self.phase {
            Phase::Startup => 3.0,
            Phase::Drain | Phase::Steady => {
                let gain = 2.0 - 0.75 * self.margin.calm(0.1);
                gain / (1.0 + 1.25 * (self.bunch().min(self.cwnd) / self.forecast.max(1.0)))
            }
        };
        let rate = Rate::from_volume(self.cwnd(), rtt).mul_f64(gain);
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        let rate = self.pacing_rate().map_or(0, Rate::as_bytes_per_sec);
        let burst = u128::from(rate) * 250 / 1_000_000;
        (self.packet * 2).max(Bytes::new(burst.min(65_535) as u64))
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: match self.phase {
                Phase::Startup => "Startup",
                Phase::Drain => "Drain",
                Phase::Steady => "Steady",
            },
            ..Snapshot::default()
        }
    }
}
