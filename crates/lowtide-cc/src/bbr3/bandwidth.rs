//! `max_bw`: the highest delivery rate of this and the previous ProbeBW cycle (§5.5.2–5.5.6).

use crate::delivery_rate::RateSample;
use crate::filter::{Maximum, Windowed};
use crate::units::Rate;

/// A sample counts in its cycle and in the next one (`MaxBwFilterLen` = 2 cycles): each of the two
/// then holds one probe for more bandwidth.
const LATER_CYCLES: u64 = 1;

#[derive(Clone, Copy, Debug)]
pub(super) struct MaxBandwidth {
    filter: Windowed<Rate, Maximum>,
    cycle: u64,
}

impl MaxBandwidth {
    pub(super) fn new() -> Self {
        Self {
            filter: Windowed::new(LATER_CYCLES),
            cycle: 0,
        }
    }

    /// `UpdateMaxBw`. Application-limited samples show less than the path can do, and count only
    /// where they raise the estimate.
    #[inline]
    pub(super) fn on_sample(&mut self, sample: &RateSample) -> Rate {
        if !sample.delivery_rate.is_zero()
            && (!sample.app_limited || sample.delivery_rate >= self.get())
        {
            self.filter.update(self.cycle, sample.delivery_rate);
        }
        self.get()
    }

    fn get(&self) -> Rate {
        self.filter.get().unwrap_or(Rate::ZERO)
    }

    /// `AdvanceMaxBwFilter`: a cycle is over.
    pub(super) fn advance(&mut self) {
        self.cycle += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Duration, Time};

    fn sample(rate: u64, app_limited: bool) -> RateSample {
        RateSample {
            delivery_rate: Rate::from_bytes_per_sec(rate),
            delivered: Bytes::ZERO,
            interval: Duration::ZERO,
            prior_delivered: Bytes::ZERO,
            total_delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            total_lost: Bytes::ZERO,
            sent_inflight: Bytes::ZERO,
            sent_at: Time::ZERO,
            app_limited,
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
}
