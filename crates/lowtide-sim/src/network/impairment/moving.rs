//! Propagation delay that moves: a path that changes, a satellite that hands over.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Time};

use crate::network::link::{AfterLast, LinkError};

/// A propagation delay over all time, constant between steps.
///
/// What leaves the link behind a step to a shorter delay would overtake what left before it. Unless
/// that is asked for it waits, as on a path on which only the last part of the way has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MovingDelay {
    /// Start of each step, from zero on, strictly increasing, and its delay.
    steps: Vec<(Time, Duration)>,
    #[cfg_attr(feature = "serde", serde(skip))]
    /// Per step, when all that left the link in it and before has arrived.
    arrived: Vec<Time>,
    /// Length of one repetition; `Time::MAX` without repetition.
    period: Time,
    reorders: bool,
}

impl MovingDelay {
    /// A delay from the start of each step and its length.
    ///
    /// # Errors
    /// When there is no step, the first does not start at zero, starts do not increase, or the
    /// repetition has no length.
    pub fn new(steps: Vec<(Time, Duration)>, after: AfterLast) -> Result<Self, LinkError> {
        let period = after.period(&steps)?;
        let ends = steps.iter().skip(1).map(|(start, _)| *start);
        let mut latest = Time::ZERO;
        let arrived = ends
            .chain([period])
            .zip(&steps)
            .map(|(end, (_, delay))| {
                latest = latest.max(end + *delay);
                latest
            })
            .collect();
        Ok(Self {
            steps,
            arrived,
            period,
            reorders: false,
        })
    }

    /// A delay that becomes another one from each of `then` on, whose times rise; the last one holds.
    ///
    /// # Errors
    /// When times do not rise, or do not begin after zero.
    pub fn stepped(first: Duration, then: &[(Time, Duration)]) -> Result<Self, LinkError> {
        let first = [(Time::ZERO, first)];
        let steps = first.iter().chain(then).copied();
        Self::new(steps.collect(), AfterLast::Hold)
    }

    /// Lets what leaves the link later arrive earlier.
    #[must_use]
    pub fn reordering(mut self) -> Self {
        self.reorders = true;
        self
    }

    /// The start of each step of a repetition, and its delay.
    pub fn steps(&self) -> impl Iterator<Item = (Time, Duration)> + '_ {
        self.steps.iter().copied()
    }

    /// The shortest that it ever is.
    #[must_use]
    pub fn least(&self) -> Duration {
        let delays = self.steps.iter().map(|(_, delay)| *delay);
        delays.min().unwrap_or_default()
    }

    /// Mean delay over one repetition; the first where nothing repeats.
    #[must_use]
    pub fn mean(&self) -> Duration {
        if self.period == Time::MAX {
            return self.steps[0].1;
        }
        let ends = self.steps.iter().skip(1).map(|(start, _)| *start);
        let sum: u128 = ends
            .chain([self.period])
            .zip(&self.steps)
            .map(|(end, (start, delay))| {
                u128::from(end.since(*start).as_nanos()) * u128::from(delay.as_nanos())
            })
            .sum();
        Duration::from_nanos((sum / u128::from(self.period.as_nanos())) as u64)
    }

    /// The latest moment such that all that left the link until then has arrived by `t`, the order
    /// kept; zero where nothing can have.
    #[must_use]
    #[inline(never)]
    pub fn departed_by(&self, t: Time) -> Time {
        // Of all that leaves in a round the last has arrived by then.
        let round_arrived = self.arrived[self.arrived.len() - 1];
        let origin = if self.period == Time::MAX || t < round_arrived {
            Duration::ZERO
        } else {
            let period = self.period.since(Time::ZERO);
            period * (t.since(round_arrived).as_nanos() / period.as_nanos() + 1)
        };
        let within = t - origin;
        let step = self.arrived.partition_point(|arrived| *arrived <= within);
        match self.steps.get(step) {
            Some((start, delay)) => (*start).max(within - *delay) + origin,
            // A delay that holds has not arrived before the end of time.
            None => within + origin,
        }
    }
}

/// Where a packet stands on a way whose delay moves.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    schedule: Arc<MovingDelay>,
    least: Duration,
    delay: Duration,
    /// The step that comes next, when it comes, and the start of its round.
    next: usize,
    changes_at: Time,
    origin: Time,
    /// When the last packet arrives, jitter not counted.
    last: Time,
    /// Propagation of the packet's way beyond the least.
    detour: Duration,
}

impl Moving {
    pub(super) fn new(schedule: Arc<MovingDelay>) -> Self {
        Self {
            least: schedule.least(),
            delay: schedule.steps[0].1,
            next: 0,
            changes_at: Time::ZERO,
            origin: Time::ZERO,
            last: Time::ZERO,
            detour: Duration::ZERO,
            schedule,
        }
    }

    pub(super) fn least(&self) -> Duration {
        self.least
    }

    pub(super) fn detour(&self) -> Duration {
        self.detour
    }

    /// When what leaves the link at `departure` arrives; `departure` never decreases.
    pub(super) fn arrival(&mut self, departure: Time) -> Time {
        while self.changes_at <= departure {
            self.change(departure);
        }
        let mut arrival = departure + self.delay;
        if !self.schedule.reorders {
            arrival = arrival.max(self.last);
            self.last = arrival;
        }
        self.detour = arrival.since(departure) - self.least;
        arrival
    }

    /// Takes the next step; rounds in which nothing left the link are skipped, not walked.
    fn change(&mut self, departure: Time) {
        let MovingDelay { steps, period, .. } = &*self.schedule;
        if self.next == 0 && *period != Time::MAX {
            let past = departure.since(Time::ZERO).as_nanos() / period.as_nanos();
            self.origin = Time::from_nanos(past * period.as_nanos());
        }
        self.delay = steps[self.next].1;
        self.next += 1;
        self.changes_at = match steps.get(self.next) {
            Some((start, _)) => self.origin + start.since(Time::ZERO),
            None => {
                self.next = 0;
                match *period {
                    Time::MAX => Time::MAX,
                    period => self.origin + period.since(Time::ZERO),
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn steps(after: AfterLast) -> MovingDelay {
        let steps = vec![(at(0), ms(20)), (at(10), ms(30)), (at(20), ms(5))];
        MovingDelay::new(steps, after).unwrap()
    }

    fn arrivals<const N: usize>(delay: MovingDelay, departures: [u64; N]) -> [Time; N] {
        let mut moving = Moving::new(Arc::new(delay));
        departures.map(|ms| moving.arrival(at(ms)))
    }

    #[test]
    fn what_leaves_behind_a_step_down_waits_for_what_left_before_unless_told_otherwise() {
        let departures = [9, 10, 19, 20, 43, 45];
        let holding = steps(AfterLast::Hold);
        let kept = arrivals(holding.clone(), departures);
        assert_eq!(kept, [29, 40, 49, 49, 49, 50].map(at));
        let free = arrivals(holding.reordering(), departures);
        assert_eq!(free, [29, 40, 49, 25, 48, 50].map(at));
    }

    #[test]
    fn a_delay_repeats_however_long_nothing_comes() {
        let repeating = steps(AfterLast::RepeatAfter(ms(10)));
        assert_eq!(
            (repeating.least(), repeating.mean()),
            (ms(5), Duration::from_nanos(55_000_000 / 3))
        );
        let departures = [9, 25, 59, 60, 6_000, 6_015, 6_029];
        let expected = [29, 30, 64, 80, 6_020, 6_045, 6_045];
        assert_eq!(arrivals(repeating, departures), expected.map(at));
    }

    #[test]
    fn the_latest_departure_that_has_arrived_is_that_of_a_walk_through_all_of_them() {
        for after in [AfterLast::Hold, AfterLast::RepeatAfter(ms(7))] {
            let delay = steps(after);
            let mut moving = Moving::new(Arc::new(delay.clone()));
            let tenths = |n: u64| Time::from_nanos(n * 100_000);
            let arrivals: Vec<Time> = (0..4_000).map(|n| moving.arrival(tenths(n))).collect();
            for half in 0..350 {
                let t = at(half) + Duration::from_micros(550);
                let next = arrivals.partition_point(|arrival| *arrival <= t);
                let departed = delay.departed_by(t);
                let between = tenths(next.saturating_sub(1) as u64)..=tenths(next as u64);
                assert!(between.contains(&departed), "{after:?} at {t}: {departed}");
            }
        }
    }
}
