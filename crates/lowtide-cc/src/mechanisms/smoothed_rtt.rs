//! The smoothed round-trip time and its mean deviation (RFC 6298 §2).

use crate::units::Duration;

/// SRTT and RTTVAR; zero before the first sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SmoothedRtt {
    mean: Duration,
    deviation: Duration,
}

impl SmoothedRtt {
    /// Takes a sample: an eighth of it goes into the mean, a quarter of its distance into the deviation.
    #[inline]
    pub(crate) fn update(&mut self, rtt: Duration) {
        // Never zero, which means that there is none.
        let rtt = rtt.max(Duration::from_nanos(1));
        if self.mean.is_zero() {
            self.mean = rtt;
            self.deviation = rtt.div(2);
            return;
        }
        let distance = self.mean.max(rtt) - self.mean.min(rtt);
        self.deviation = self.deviation - self.deviation.div(4) + distance.div(4);
        self.mean = (self.mean - self.mean.div(8) + rtt.div(8)).max(Duration::from_nanos(1));
    }

    #[inline]
    pub(crate) fn mean(&self) -> Duration {
        self.mean
    }

    #[inline]
    pub(crate) fn deviation(&self) -> Duration {
        self.deviation
    }
}
