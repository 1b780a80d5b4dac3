//! Sprout's receiver: counts what arrives tick by tick, and forecasts what will.

use alloc::boxed::Box;

use super::{HEARTBEAT, TICK};
use crate::estimators::{ArrivalForecast, Ewma, RANGE, TICK as TICK_SECONDS, TICKS};
use crate::units::Time;

/// Silent ticks after which more of them teach nothing, and no more are reckoned with.
const MAX_SILENT_TICKS: u32 = 64;
/// Ticks after which a flow that paused in them is judged.
const JUDGED_TICKS: u32 = 100;
/// Packets, a tick or in flight, of a flow that has only learnt how slowly it sends.
const HARDLY_ANY: f64 = 2.0;
/// The moving average's weight for the newest tick.
const EWMA_WEIGHT: f64 = 0.125;

/// A mean above this share of the range lets the range double.
const NEARLY_ALL: f64 = 0.75;
/// A mean below this share of the range halves it.
const NEARLY_NONE: f64 = 0.2;

/// How a receiver forecasts.
#[derive(Clone, Debug)]
pub enum Forecaster {
    /// By Bayes' rule: what will have arrived but for a probability of `quantile`.
    Bayes {
        /// The probability that less arrives, 0 to 1.
        quantile: f64,
        /// What is believed, counted in units of `unit` packets.
        forecast: Box<ArrivalForecast>,
        /// Packets.
        unit: f64,
        /// The unit follows what arrives.
        follows: bool,
    },
    /// A moving average goes on as it is (Sprout-EWMA).
    Average(Ewma),
}

impl Forecaster {
    /// The paper's.
    pub const DEFAULT_QUANTILE: f64 = 0.05;

    /// Bayes' rule over rates up to `max` packets a second. In units of a thousandth of `max` this is the
    /// paper's model, whose `max` is 1000; so the rate wanders in proportion. `None`: begins with 1000, and
    /// doubles and halves as the belief comes to the ends of the range.
    #[must_use]
    pub fn bayes(quantile: f64, max: Option<u64>) -> Self {
        Self::Bayes {
            quantile,
            forecast: Box::new(ArrivalForecast::new()),
            unit: max.map_or(1.0, |max| max.max(1) as f64 / RANGE),
            follows: max.is_none(),
        }
    }

    /// Sprout-EWMA.
    #[must_use]
    pub fn average() -> Self {
        Self::Average(Ewma::new(EWMA_WEIGHT))
    }

    /// Nothing is believed any more. A moving average stays: it grows by itself.
    fn begin_anew(&mut self) {
        if let Self::Bayes {
            forecast,
            unit,
            follows,
            ..
        } = self
        {
            **forecast = ArrivalForecast::new();
            if *follows {
                *unit = 1.0;
            }
        }
    }

    /// A tick is over in which so many packets arrived; `None`: it says nothing.
    fn step(&mut self, packets: Option<f64>) {
        match self {
            Self::Bayes {
                forecast,
                unit,
                follows,
                ..
            } => {
                forecast.step(packets.map(|packets| {
                    let units = packets / *unit;
                    // A part of a packet shows that the link is there.
                    let whole = libm::round(units).max(if units > 0.0 { 1.0 } else { 0.0 });
                    whole as u32
                }));
                if *follows && forecast.mean() > NEARLY_ALL * RANGE {
                    forecast.count_in_twos();
                    *unit = (*unit * 2.0).min(1e12);
                } else if *follows && *unit > 1.0 && forecast.mean() < NEARLY_NONE * RANGE {
                    forecast.count_in_halves();
                    *unit /= 2.0;
                }
            }
            Self::Average(average) => {
                if let Some(packets) = packets {
                    average.update(packets);
                }
            }
        }
    }

    /// Packets by the end of each of the next ticks.
    fn forecast(&self) -> [f64; TICKS] {
        match self {
            Self::Bayes {
                quantile,
                forecast,
                unit,
                ..
            } => forecast.arrivals(*quantile).map(|n| f64::from(n) * unit),
            Self::Average(average) => {
                let rate = average.get().unwrap_or(0.0);
                core::array::from_fn(|tick| rate * (tick + 1) as f64)
            }
        }
    }
}

/// The newest ticks, which tell the sender's silence from the link's.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    ticks: u32,
    packets: f64,
    /// Silent ticks, by whether the sender meant to pause.
    pauses: u32,
    silences: u32,
    /// The most that was in flight, packets.
    inflight: f64,
}

impl Recent {
    fn add(&mut self, packets: f64, counts: bool) {
        self.ticks += 1;
        self.packets += packets;
        self.pauses += u32::from(!counts);
        self.silences += u32::from(counts && packets == 0.0);
    }

    /// Little arrived, and rather for the sender's pauses than for the link.
    fn shows_only_the_sender(&self) -> bool {
        // A flow in step with the ticks never pauses.
        let never_queues = self.silences == 0 && self.inflight <= HARDLY_ANY;
        let waits = self.pauses > self.silences || never_queues;
        waits && self.packets < HARDLY_ANY * f64::from(self.ticks)
    }
}

/// Counts, and a forecast from them.
#[derive(Clone, Debug)]
pub struct Receiver {
    forecaster: Forecaster,
    /// When the tick under way began; `None` before the first arrival.
    tick: Option<Time>,
    /// Packets that arrived in it.
    packets: f64,
    /// Until then the sender meant to pause, and silence says nothing.
    excused_until: Time,
    recent: Recent,
}

impl Receiver {
    pub(super) fn new(forecaster: Forecaster) -> Self {
        Self {
            forecaster,
            tick: None,
            packets: 0.0,
            excused_until: Time::ZERO,
            recent: Recent::default(),
        }
    }

    /// What arrives at `now`, in packets; `ends_flight`: the sender had no more to send then. True when a
    /// tick was over by then, so that there is another forecast.
    pub(super) fn on_arrival(&mut self, now: Time, packets: f64, ends_flight: bool) -> bool {
        self.tick.get_or_insert(now);
        let ticked = self.advance(now);
        self.packets += packets;
        if ends_flight {
            let pause_ends = self.tick.unwrap_or(now) + HEARTBEAT;
            self.excused_until = self.excused_until.max(pause_ends);
        }
        ticked
    }

    /// Nothing else arrives before `now`; true when that ends a tick.
    pub(super) fn advance(&mut self, now: Time) -> bool {
        let Some(began) = self.tick else {
            return false;
        };
        if now + TICK * u64::from(MAX_SILENT_TICKS) < began {
            // The peer's clock was ahead and no longer is: without this no tick ends before it is there again.
            self.tick = Some(now);
            self.excused_until = self.excused_until.min(now + HEARTBEAT);
            return false;
        }
        let mut tick = began;
        let mut left = MAX_SILENT_TICKS;
        while tick + TICK < now {
            if left == 0 {
                tick = now;
                break;
            }
            left -= 1;
            let arrived = core::mem::take(&mut self.packets);
            let counts = tick >= self.excused_until || arrived > 0.0;
            self.forecaster.step(counts.then_some(arrived));
            self.recent.add(arrived, counts);
            tick += TICK;
        }
        self.tick = Some(tick);
        tick != began
    }

    /// Begins anew if for two seconds the belief was fed by nothing but its own caution: few packets
    /// arrive as few are sent, and few are sent as few arrived. True when it does.
    pub(super) fn escapes(&mut self) -> bool {
        if self.recent.ticks < JUDGED_TICKS || matches!(self.forecaster, Forecaster::Average(_)) {
            return false;
        }
        let escapes = core::mem::take(&mut self.recent).shows_only_the_sender();
        if escapes {
            self.forecaster.begin_anew();
            // As long as no tick ends, the initial window has time to leave.
            self.tick = None;
        }
        escapes
    }

    /// A packet leaves, with so many in flight. What the
    /// application does not send tells nothing of the forecast.
    pub(super) fn on_packet_sent(&mut self, inflight: f64, app_limited: bool) {
        if app_limited {
            self.recent = Recent::default();
        }
        self.recent.inflight = self.recent.inflight.max(inflight);
    }

    pub(super) fn forecast(&self) -> [f64; TICKS] {
        self.forecaster.forecast()
    }

    /// The rate that is believed in; `None` before anything is.
    pub(super) fn packets_per_second(&self) -> Option<f64> {
        self.tick?;
        match &self.forecaster {
            Forecaster::Bayes { forecast, unit, .. } => Some(forecast.mean() * unit),
            Forecaster::Average(average) => average.get().map(|packets| packets / TICK_SECONDS),
        }
    }
}
