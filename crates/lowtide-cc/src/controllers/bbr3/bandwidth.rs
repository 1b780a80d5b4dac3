//! `max_bw`: the highest delivery rate of this and the previous ProbeBW cycle (§5.5.2–5.5.6).

use crate::delivery_rate::RateSample;
use crate::units::Rate;

/// A sample counts in its cycle and in the next one (`MaxBwFilterLen` = 2 cycles): each of the two
/// then holds one probe for more bandwidth. Two maxima are exact; the three-sample filter of other
/// windows thins its samples out by quarters, which a window of two ticks has not.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxBandwidth {
    cycle: u64,
    /// The newest cycle that has a sample, and its maximum.
    newest: (u64, Rate),
    /// The maximum of the cycle before that one.
    previous: Rate,
}

impl MaxBandwidth {
    pub(super) fn new() -> Self {
        Self {
            cycle: 0,
            newest: (0, Rate::ZERO),
            previous: Rate::ZERO,
        }
    }

    /// `UpdateMaxBw` (§5.5.5). Application-limited samples show less than the path can do, and count only
    /// where they raise the estimate (§5.5.4).
    #[inline]
    pub(super) fn on_sample(&mut self, sample: &RateSample) -> Rate {
        if !sample.delivery_rate.is_zero()
            && (!sample.app_limited || sample.delivery_rate >= self.get())
        {
            self.update(sample.delivery_rate);
        }
        self.get()
    }

    /// What is too old goes when a sample of a later cycle counts, not before.
    fn update(&mut self, rate: Rate) {
        let (cycle, max) = self.newest;
        if cycle == self.cycle {
            self.newest.1 = max.max(rate);
            return;
        }
        let follows = cycle + 1 == self.cycle;
        self.previous = if follows { max } else { Rate::ZERO };
        self.newest = (self.cycle, rate);
    }

    fn get(&self) -> Rate {
        self.previous.max(self.newest.1)
    }

    /// `AdvanceMaxBwFilter` (§5.5.6): a cycle is over.
    pub(super) fn advance(&mut self) {
        self.cycle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::rate_sample;

    fn sample(rate: u64, app_limited: bool) -> RateSample {
        RateSample {
            app_limited,
            ..rate_sample(Rate::from_bytes_per_sec(rate))
        }
    }

    #[test]
    fn a_sample_counts_in_its_cycle_and_the_next_and_if_app_limited_only_when_it_is_higher() {
        let mut filter = MaxBandwidth::new();
        let mut take = |rate, app_limited, advance: bool| {
            if advance {
                filter.advance();
            }
            let max = filter.on_sample(&sample(rate, app_limited));
            max.as_bytes_per_sec()
        };
        assert_eq!(take(100, false, false), 100);
        assert_eq!(take(60, false, true), 100, "the next cycle");
        assert_eq!(
            take(10, true, true),
            100,
            "nothing has shown that it is less"
        );
        assert_eq!(take(50, false, false), 60, "of the previous cycle");
        assert_eq!(take(70, true, false), 70);
    }

    #[test]
    fn the_first_sample_of_a_cycle_counts_like_any_other() {
        let mut filter = MaxBandwidth::new();
        let mut cycle = |rates: [u64; 3]| {
            let maxima =
                rates.map(|rate| filter.on_sample(&sample(rate, false)).as_bytes_per_sec());
            filter.advance();
            maxima
        };
        assert_eq!(cycle([100, 90, 80]), [100, 100, 100]);
        assert_eq!(cycle([70, 60, 50]), [100, 100, 100]);
        // 100 is two cycles old.
        assert_eq!(cycle([65, 40, 30]), [70, 70, 70]);
        assert_eq!(cycle([20, 15, 10]), [65, 65, 65]);
        assert_eq!(cycle([5, 5, 5]), [20, 20, 20]);
    }
}
