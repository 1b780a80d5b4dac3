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
