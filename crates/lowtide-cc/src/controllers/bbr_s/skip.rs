//! SKIP (BBR-S §III-C, Alg. 1): an adaptive Tobit Kalman filter for slow changes of the capacity,
//! and resets for sudden ones.

use super::capacity::CapacitySample;
use crate::controller::FilterSnapshot;
use crate::estimators::{Adaptation, Noise, NoiseBounds, TobitKalman};
use crate::state::{State, StateKind};
use crate::units::Rate;

/// Steps in a row after which a sudden change is believed (t_thr).
const THRESHOLD: u32 = 3;
/// Standard deviations that make a change sudden.
const SUDDEN: f64 = 3.0;
/// The estimate after an outage, and before the first sample (C_min): 50 kB/s.
pub const MIN_CAPACITY: Rate = Rate::from_bytes_per_sec(50_000);

/// What a step was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Filtered.
    Normal,
    /// The sender was the limit: filtered as a lower bound.
    Censored,
    /// Nothing arrived.
    Outage,
    /// Much less than expected: not filtered.
    Drop,
    /// Much more than expected: filtered, and maybe the start of something new.
    Step,
}

impl Mode {
    /// All of them, for plots.
    pub const STATES: &[State] = &[
        State::new(Self::Normal.name(), StateKind::Steady),
        State::new(Self::Censored.name(), StateKind::Down),
        State::new(Self::Outage.name(), StateKind::Outage),
        State::new(Self::Drop.name(), StateKind::Recovery),
        State::new(Self::Step.name(), StateKind::Up),
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Censored => "censored",
            Self::Outage => "outage",
            Self::Drop => "drop",
            Self::Step => "step",
        }
    }
}

/// Steps of one kind in a row, and their mean.
#[derive(Clone, Copy, Debug, Default)]
struct Streak {
    steps: u32,
    sum: f64,
}

impl Streak {
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a step; the mean, once there are enough.
    fn add(&mut self, capacity: f64) -> Option<f64> {
        self.steps += 1;
        self.sum += capacity;
        if self.steps < THRESHOLD {
            return None;
        }
        let mean = self.sum / f64::from(self.steps);
        self.clear();
        Some(mean)
    }
}

/// The filter with its modes.
#[derive(Clone, Debug)]
pub struct Skip {
    filter: TobitKalman,
    outage: Streak,
    drop: Streak,
    step: Streak,
    mode: Mode,
}

impl Skip {
    /// A filter that believes in [`MIN_CAPACITY`], and hardly in that.
    #[must_use]
    pub fn new(adaptation: Adaptation, bounds: NoiseBounds) -> Self {
        let start = MIN_CAPACITY.as_f64();
        // As uncertain as it is large: the paper prints no initial values, and the first three
        // samples replace them (step mode).
        let noise = Noise {
            state_variance: start * start,
            process: start * start,
            measurement: start * start,
        };
        Self {
            filter: TobitKalman::with_bounds(start, noise, adaptation, bounds),
            outage: Streak::default(),
            drop: Streak::default(),
            step: Streak::default(),
            mode: Mode::Normal,
        }
    }

    /// A step's sample (Alg. 1 but for C = 0, which is [`on_silence`](Self::on_silence)).
    pub fn on_sample(&mut self, sample: &CapacitySample) {
        let ceiling = sample.ceiling().map_or(f64::INFINITY, Rate::as_f64);
        let capacity = sample.capacity.as_f64();
        self.outage.clear();
        if capacity >= ceiling {
            self.drop.clear();
            self.step.clear();
            self.filter.update(ceiling, ceiling);
            self.mode = Mode::Censored;
            return;
        }
        let sudden = SUDDEN * self.filter.spread();
        let expected = self.filter.state();
        if capacity < expected - sudden {
            self.mode = Mode::Drop;
            self.step.clear();
            self.filter.predict();
            if let Some(mean) = self.drop.add(capacity) {
                self.filter.reset(mean);
            }
        } else if capacity > expected + sudden {
            self.mode = Mode::Step;
            self.drop.clear();
            self.filter.update(capacity, ceiling);
            if let Some(mean) = self.step.add(capacity) {
                self.filter.reset(mean);
            }
        } else {
            self.mode = Mode::Normal;
            self.drop.clear();
            self.step.clear();
            self.filter.update(capacity, ceiling);
        }
    }

    /// A step in which nothing arrived although something should have (C = 0); true when that was
    /// one too many, and the estimate is back at [`MIN_CAPACITY`].
    pub fn on_silence(&mut self) -> bool {
        self.mode = Mode::Outage;
        self.step.clear();
        self.filter.predict();
        let is_outage = self.outage.add(0.0).is_some();
        if is_outage {
            self.filter.reset(MIN_CAPACITY.as_f64());
        }
        is_outage
    }

    /// The estimate, at least 1 byte/s.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        Rate::from_bytes_per_sec((self.filter.state() as u64).max(1))
    }

    /// What the newest step was taken for.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Internals, for logs.
    #[must_use]
    pub fn snapshot(&self) -> FilterSnapshot {
        FilterSnapshot::of(self.filter.belief(), self.mode.name())
    }
}
