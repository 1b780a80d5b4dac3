//! Links of piecewise constant rate: constant, stepped, sampled.
//!
//! The link is a fluid: a packet of `b` bytes leaves when the integral of the rate since the start
//! of its service reaches `b`. All arithmetic is in whole byte-nanoseconds; what rounding to whole
//! nanoseconds gives too much is credited to the next packet, so that a busy link carries exactly
//! its rate over any length of time.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::error::LinkError;
use super::slot::Slot;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// What happens after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLast {
    /// The last rate holds forever.
    Hold,
    /// All repeats after the given length of the last step.
    RepeatAfter(Duration),
}

impl AfterLast {
    /// The length of one repetition of steps from these starts; [`Time::MAX`] without repetition.
    ///
    /// # Errors
    /// When there is no step, the first does not start at zero, starts do not increase, or the
    /// repetition has no length.
    pub(in crate::network) fn period<T>(self, steps: &[(Time, T)]) -> Result<Time, LinkError> {
        let (Some((first, _)), Some((last, _))) = (steps.first(), steps.last()) else {
            return Err(LinkError::NoSteps);
        };
        if *first != Time::ZERO {
            return Err(LinkError::FirstStepNotAtZero(*first));
        }
        if let Some(at) = steps.windows(2).position(|w| w[1].0 <= w[0].0) {
            return Err(LinkError::StepsNotIncreasing(at + 1));
        }
        match self {
            Self::Hold => Ok(Time::MAX),
            Self::RepeatAfter(length) if length.is_zero() => Err(LinkError::EmptyRepetition),
            Self::RepeatAfter(length) => Ok(*last + length),
        }
    }
}

/// A schedule of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RateSchedule {
    /// Start of each step, from zero on, strictly increasing, and its rate.
    steps: Vec<(Time, Rate)>,
    #[cfg_attr(feature = "serde", serde(skip))]
    /// Byte-nanoseconds carried before each step.
    carried_before: Vec<u128>,
    #[cfg_attr(feature = "serde", serde(skip))]
    /// Per step, the last step up to it whose rate is not zero (cyclically); `None` where there is
    /// none.
    last_active: Vec<Option<usize>>,
    /// Length of one repetition; `Time::MAX` without repetition.
    period: Time,
    #[cfg_attr(feature = "serde", serde(skip))]
    carried_per_period: u128,
}

impl RateSchedule {
    /// A schedule from the start of each step and its rate.
    ///
    /// # Errors
    /// When there is no step, the first does not start at zero, starts do not increase, the
    /// repetition has no length, or no rate is above zero.
    pub fn new(steps: Vec<(Time, Rate)>, after: AfterLast) -> Result<Self, LinkError> {
        let period = after.period(&steps)?;
        let (last, last_rate) = steps[steps.len() - 1];
        if steps.iter().all(|(_, rate)| rate.is_zero()) {
            return Err(LinkError::NothingEverLeaves);
        }
        let mut carried_before = Vec::with_capacity(steps.len());
        let mut carried = 0_u128;
        for (i, (start, rate)) in steps.iter().enumerate() {
            carried_before.push(carried);
            if let Some((next, _)) = steps.get(i + 1) {
                carried += work(*rate, next.since(*start));
            }
        }
        let carried_per_period = if period == Time::MAX {
            0
        } else {
            carried + work(last_rate, period.since(last))
        };
        // Before the first active step the last one of the previous repetition counts.
        let wrapped = (period != Time::MAX)
            .then(|| steps.iter().rposition(|(_, rate)| !rate.is_zero()))
            .flatten();
        let mut latest = wrapped;
        let last_active = steps
            .iter()
            .enumerate()
            .map(|(i, (_, rate))| {
                if !rate.is_zero() {
                    latest = Some(i);
                }
                latest
            })
            .collect();
        Ok(Self {
            steps,
            carried_before,
            last_active,
            period,
            carried_per_period,
        })
    }

    /// One rate forever.
    ///
    /// # Errors
    /// When it is zero.
    pub fn constant(rate: Rate) -> Result<Self, LinkError> {
        Self::new(vec![(Time::ZERO, rate)], AfterLast::Hold)
    }

    /// Scales all rates of the schedule in proportion, so that the mean is `mean`.
    ///
    /// # Errors
    /// When every rate would round to zero.
    pub fn scaled_to(&self, mean: Rate) -> Result<Self, LinkError> {
        let now = self.mean_rate().as_f64();
        let factor = if now > 0.0 { mean.as_f64() / now } else { 1.0 };
        let steps = self
            .steps
            .iter()
            .map(|(at, rate)| (*at, rate.mul_f64(factor)));
        let last = self.steps.last().map_or(Time::ZERO, |(at, _)| *at);
        let after = match self.period {
            Time::MAX => AfterLast::Hold,
            period => AfterLast::RepeatAfter(period.since(last)),
        };
        Self::new(steps.collect(), after)
    }

    /// This schedule until `at`, and from then on `later`, whose times count from that moment.
    ///
    /// # Errors
    /// When this one repeats, or no rate is left above zero.
    pub fn followed_by(&self, at: Time, later: &Self) -> Result<Self, LinkError> {
        if self.period != Time::MAX || later.period != Time::MAX {
            return Err(LinkError::RepetitionContinued);
        }
        let before = self.steps.iter().copied().filter(|(start, _)| *start < at);
        let shift = at.since(Time::ZERO);
        let after = later
            .steps
            .iter()
            .map(|(start, rate)| (*start + shift, *rate));
        Self::new(before.chain(after).collect(), AfterLast::Hold)
    }

    /// The start of each step, from zero on, and its rate.
    #[must_use]
    pub fn steps(&self) -> &[(Time, Rate)] {
        &self.steps
    }

    /// Length of one repetition, where it repeats.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        (self.period != Time::MAX).then(|| self.period.since(Time::ZERO))
    }

    /// The repetition that contains `t`: where it starts, and `t` within it.
    fn locate(&self, t: Time) -> (Time, Time) {
        if t < self.period {
            return (Time::ZERO, t);
        }
        let within = t.as_nanos() % self.period.as_nanos();
        (
            Time::from_nanos(t.as_nanos() - within),
            Time::from_nanos(within),
        )
    }

    fn step_at(&self, within: Time) -> usize {
        self.steps
            .partition_point(|(start, _)| *start <= within)
            .saturating_sub(1)
    }

    /// Byte-nanoseconds carried from zero to `t`.
    fn carried_until(&self, t: Time) -> u128 {
        let (origin, within) = self.locate(t);
        let step = self.step_at(within);
        let repetitions = u128::from(origin.as_nanos() / self.period.as_nanos());
        let (start, rate) = self.steps[step];
        repetitions * self.carried_per_period
            + self.carried_before[step]
            + work(rate, within.since(start))
    }

    pub(super) fn rate_at(&self, t: Time) -> Rate {
        let (_, within) = self.locate(t);
        self.steps[self.step_at(within)].1
    }

    pub(super) fn volume_between(&self, from: Time, to: Time) -> Bytes {
        let carried = self
            .carried_until(to)
            .saturating_sub(self.carried_until(from));
        Bytes::new(u64::try_from(carried / NANOS_PER_SEC).unwrap_or(u64::MAX))
    }

    /// Mean over one repetition, or over the steps before the last where nothing repeats (the last
    /// rate where there is but one).
    pub(super) fn mean_rate(&self) -> Rate {
        let (last, last_rate) = self.steps[self.steps.len() - 1];
        let (carried, length) = if self.period != Time::MAX {
            (self.carried_per_period, self.period)
        } else if last != Time::ZERO {
            (self.carried_before[self.steps.len() - 1], last)
        } else {
            return last_rate;
        };
        let mean = carried / u128::from(length.as_nanos().max(1));
        Rate::from_bytes_per_sec(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    pub(super) fn freshest_arrival(&self, now: Time, bytes: Bytes) -> Time {
        let (origin, within) = self.locate(now);
        let step = self.step_at(within);
        let Some(active) = self.last_active[step] else {
            return Time::ZERO;
        };
        let rate = self.steps[active].1;
        let last_exit = if active == step {
            now
        } else {
            let end = self
                .steps
                .get(active + 1)
                .map_or(self.period, |(start, _)| *start);
            let origin = if active > step {
                origin - Duration::from_nanos(self.period.as_nanos())
            } else {
                origin
            };
            origin + end.since(Time::ZERO)
        };
        last_exit - rate.time_for(bytes)
    }
}

#[inline]
fn work(rate: Rate, length: Duration) -> u128 {
    u128::from(rate.as_bytes_per_sec()) * u128::from(length.as_nanos())
}

/// Where the service of a rate schedule stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateCursor {
    /// When the last packet left.
    free_at: Time,
    /// Byte-nanoseconds that its rounded departure left over.
    credit: u64,
    /// Start of the repetition and the step in which the cursor stands.
    origin: Time,
    step: usize,
}

impl RateCursor {
    pub(super) fn new() -> Self {
        Self {
            free_at: Time::ZERO,
            credit: 0,
            origin: Time::ZERO,
            step: 0,
        }
    }

    /// The end of the step in which the cursor stands.
    #[inline]
    fn step_end(&self, schedule: &RateSchedule) -> Time {
        match schedule.steps.get(self.step + 1) {
            Some((next, _)) => self.origin + next.since(Time::ZERO),
            None if schedule.period == Time::MAX => Time::MAX,
            None => self.origin + schedule.period.since(Time::ZERO),
        }
    }

    fn advance(&mut self, schedule: &RateSchedule) {
        if self.step + 1 < schedule.steps.len() {
            self.step += 1;
        } else {
            self.step = 0;
            self.origin += schedule.period.since(Time::ZERO);
        }
    }

    /// Moves to the step that contains `now`.
    #[inline]
    fn seek(&mut self, schedule: &RateSchedule, now: Time) {
        if now < self.step_end(schedule) {
            return;
        }
        self.advance(schedule);
        if now >= self.step_end(schedule) {
            // A long idle time is skipped, not walked.
            let (origin, within) = schedule.locate(now);
            self.origin = origin;
            self.step = schedule.step_at(within);
        }
    }

    pub(super) fn serve(&mut self, schedule: &RateSchedule, now: Time, bytes: Bytes) -> Time {
        if now != self.free_at {
            self.credit = 0;
        }
        let mut need = (u128::from(bytes.get()) * NANOS_PER_SEC)
            .saturating_sub(u128::from(std::mem::take(&mut self.credit)));
        let mut at = now;
        self.seek(schedule, now);
        loop {
            let rate = schedule.steps[self.step].1;
            let end = self.step_end(schedule);
            let offered = work(rate, end.since(at));
            if !rate.is_zero() && need <= offered {
                let r = rate.as_bytes_per_sec();
                let took = match u64::try_from(need) {
                    Ok(need) => need.div_ceil(r),
                    Err(_) => u64::try_from(need.div_ceil(u128::from(r))).unwrap_or(u64::MAX),
                };
                self.credit = (u128::from(r) * u128::from(took) - need) as u64;
                self.free_at = at + Duration::from_nanos(took);
                return self.free_at;
            }
            if end == Time::MAX {
                self.free_at = Time::MAX;
                return Time::MAX;
            }
            need -= offered.min(need);
            at = end;
            self.advance(schedule);
        }
    }

    pub(super) fn next_slot(
        &mut self,
        schedule: &RateSchedule,
        not_before: Time,
        bytes: Bytes,
    ) -> Slot {
        let mut start = self.free_at.max(not_before);
        self.seek(schedule, start);
        // A packet that arrives in an outage only waits for its end.
        while schedule.steps[self.step].1.is_zero() {
            start = self.step_end(schedule);
            if start == Time::MAX {
                return Slot {
                    arrive_by: Time::MAX,
                    departure: Time::MAX,
                };
            }
            self.advance(schedule);
        }
        Slot {
            arrive_by: start,
            departure: self.serve(schedule, start, bytes),
        }
    }
}
