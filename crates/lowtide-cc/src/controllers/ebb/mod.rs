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
mod drain;
mod forecast;
mod margin;
mod path;
mod service;
mod startup;
mod tuning;

use self::batches::Batches;
use self::drain::Drain;
use self::forecast::Forecast;
use self::margin::Margin;
use self::path::Path;
use self::service::Service;
use self::startup::Startup;
pub use self::tuning::Tuning;
use crate::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use crate::estimators::{Maximum, Windowed};
use crate::mechanisms::RoundsByNumber;
use crate::state::{State, StateKind};
use crate::units::{Bytes, Duration, Rate, Time};

/// The smallest window, packets: enough that acknowledgments of every second packet keep coming, and
/// that the loss of one is noticed by those behind it.
const MIN_WINDOW_PACKETS: f64 = 4.0;
/// Rounds over which the best delivery rate counts.
const RATE_ROUNDS: u64 = 15;
/// RTT assumed before the first sample, as BBR does (Linux `bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Packets that may leave back to back: more would look like a queue.
const BURST_PACKETS: u64 = 2;

/// Queueing delay above which a loss may be the queue's doing, as a share of the min RTT.
const QUEUED: f64 = 0.125;

/// Its phases, for plots.
const STARTUP: State = State::new("Startup", StateKind::Start);
const DRAIN: State = State::new("Drain", StateKind::ProbeRtt);
const STEADY: State = State::new("Steady", StateKind::Steady);
const PHASES: &[State] = &[STARTUP, DRAIN, STEADY];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain,
    Steady,
}

/// ebb.
#[derive(Clone, Debug)]
pub struct Ebb {
    tuning: Tuning,
    /// Bytes of a full packet.
    packet: f64,
    phase: Phase,
    /// Bytes.
    cwnd: f64,
    /// Before the last timeout, until an acknowledgment has come.
    cwnd_before_timeout: Option<f64>,
    path: Path,
    service: Service,
    forecast: Forecast,
    margin: Margin,
    batches: Batches,
    startup: Startup,
    drain: Drain,
    round: RoundsByNumber,
    best_rate: Windowed<Rate, Maximum>,
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
            cwnd_before_timeout: None,
            path: Path::default(),
            service: Service::default(),
            forecast: Forecast::default(),
            margin: Margin::default(),
            batches: Batches::default(),
            startup: Startup::default(),
            drain: Drain::default(),
            round: RoundsByNumber::default(),
            best_rate: Windowed::new(RATE_ROUNDS),
        }
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.path.min_rtt(self.margin.share(), self.tuning.jitter)
    }

    fn floor(&self) -> f64 {
        MIN_WINDOW_PACKETS * self.packet
    }

    /// W: forecast, margin, and what keeps the link busy between two acknowledgments.
    fn target(&self) -> f64 {
        let between = (self.tuning.packets * self.packet).max(self.batches.mean());
        let target = self.forecast.bytes() * (1.0 + self.margin.share()) + between;
        target.max(self.floor())
    }

    /// What the best delivery rate of late serves in a min RTT.
    fn best_volume(&self, min_rtt: Duration) -> f64 {
        self.best_rate
            .get()
            .map_or(f64::INFINITY, |rate| rate.as_f64() * min_rtt.as_secs_f64())
    }

    fn take_arrivals(&mut self, ack: &AckEvent<'_>, min_rtt: Duration) {
        let tuning = self.tuning;
        let app_limited = ack.rate_sample.is_none_or(|sample| sample.app_limited);
        // Behind an outage all that waited arrives late; nothing is to be learnt from its gaps.
        let outage = self.path.latest() > min_rtt * 2;
        let limit = tuning.growth * self.best_volume(min_rtt);
        for packet in ack.packets {
            let bytes = packet.bytes.as_f64();
            let arrival = self.service.on_arrival(
                packet.sent_at,
                ack.now,
                packet.bytes,
                min_rtt,
                tuning.kernel,
                tuning.alone,
            );
            let idle = !arrival.idle.is_zero();
            let short = self.batches.on_arrival(
                bytes,
                arrival.begins_batch,
                idle,
                tuning.batch_memory * self.cwnd,
            );
            self.forecast
                .update(&tuning, bytes, arrival.served, limit, self.cwnd);
            self.drain.on_arrival(arrival.queueing);
            match self.phase {
                Phase::Startup => {
                    self.startup
                        .on_arrival(bytes, arrival.queueing, min_rtt, idle);
                }
                Phase::Drain => {}
                Phase::Steady if app_limited => {}
                Phase::Steady => {
                    let passed = if outage {
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

    fn begin_drain(&mut self, min_rtt: Duration) {
        self.phase = Phase::Drain;
        self.round.restart();
        self.drain.begin(self.round.count());
        let emptied = self.cwnd * min_rtt.ratio(min_rtt + self.drain.standing());
        let bdp = emptied.min(self.forecast.bytes());
        self.cwnd = self.cwnd.min(bdp * self.tuning.drain).max(self.floor());
    }

    fn steer(&mut self, ack: &AckEvent<'_>, min_rtt: Duration) {
        let acked = ack.bytes_acked.as_f64();
        match self.phase {
            Phase::Startup => {
                let limit = startup::GAIN * self.best_volume(min_rtt) + self.floor();
                self.cwnd = (self.cwnd + acked).min(limit.max(self.cwnd));
                if self.startup.has_filled(self.cwnd) {
                    self.begin_drain(min_rtt);
                }
            }
            Phase::Drain => {
                let confirmed = self.path.unconfirmed(ack.now).is_zero();
                if confirmed || self.drain.is_over(self.round.count()) {
                    self.path.wait_anew(ack.now);
                    self.phase = Phase::Steady;
                }
            }
            Phase::Steady => {
                self.cwnd = self.target().min(self.cwnd + acked);
                let margin = self.margin.share();
                let own = min_rtt.mul_f64(self.cwnd / self.forecast.bytes().max(1.0) - 1.0);
                let round = self.round.count();
                if self
                    .drain
                    .is_due(ack.now, &self.path, min_rtt, margin, own, round)
                {
                    self.begin_drain(min_rtt);
                }
            }
        }
    }
}

impl Controller for Ebb {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.round.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        let Some(newest) = ack.packets.iter().map(|packet| packet.sent_at).max() else {
            return;
        };
        self.cwnd_before_timeout = None;
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
        self.margin
            .on_delivered(ack.bytes_acked.as_f64(), self.cwnd);
        self.take_arrivals(ack, min_rtt);
        self.steer(ack, min_rtt);
        if ends_round {
            self.drain.on_round();
        }
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        let Some(min_rtt) = self.min_rtt() else {
            return;
        };
        let queued = self.path.latest() > min_rtt.mul_f64(1.0 + QUEUED);
        if queued && self.phase == Phase::Startup {
            self.begin_drain(min_rtt);
        }
        self.margin
            .on_loss(&self.tuning, loss.bytes_lost.as_f64(), queued, self.cwnd);
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.cwnd_before_timeout.get_or_insert(self.cwnd);
        self.cwnd = self.floor();
    }

    fn on_spurious_timeout(&mut self, _now: Time) {
        if let Some(before) = self.cwnd_before_timeout.take() {
            self.cwnd = self.cwnd.max(before);
        }
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram.max(Bytes::new(1)).as_f64();
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd as u64)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let gain = match self.phase {
            Phase::Startup => startup::GAIN,
            Phase::Drain | Phase::Steady => self.tuning.pacing_gain,
        };
        let min_rtt = self.min_rtt().unwrap_or(NOMINAL_RTT);
        let rate = Rate::from_volume(self.cwnd(), min_rtt).mul_f64(gain);
        Some(rate.max(Rate::from_bytes_per_sec(1)))
    }

    fn send_quantum(&self) -> Bytes {
        Bytes::new(self.packet as u64) * BURST_PACKETS
    }

    fn snapshot(&self) -> Snapshot {
        let min_rtt = self.min_rtt();
        Snapshot {
            phase: match self.phase {
                Phase::Startup => STARTUP.name,
                Phase::Drain => DRAIN.name,
                Phase::Steady => STEADY.name,
            },
            bandwidth: min_rtt
                .map(|rtt| Rate::from_volume(Bytes::new(self.forecast.bytes() as u64), rtt)),
            min_rtt,
            cwnd_gain: Some(1.0 + self.margin.share()),
            pacing_gain: Some(self.tuning.pacing_gain),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        PHASES
    }
}
