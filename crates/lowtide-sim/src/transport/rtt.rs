//! Round-trip time of a connection (RFC 9002 §5, RFC 6298).

use lowtide_cc::units::Duration;

/// Smoothed RTT, its variation and its minimum over the connection's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    latest: Duration,
    smoothed: Duration,
    variation: Duration,
    min: Duration,
    has_sample: bool,
}

/// Granularity of timers (RFC 9002 §6.1.2; the clock granularity G of RFC 6298).
pub(super) const GRANULARITY: Duration = Duration::from_millis(1);

/// Timers double up to this many times.
const MAX_BACKOFF: u32 = 16;

/// RTT assumed before the first sample (RFC 9002 §6.2.2).
const INITIAL_RTT: Duration = Duration::from_millis(333);

impl RttEstimator {
    pub(super) fn new() -> Self {
        Self {
            latest: INITIAL_RTT,
            smoothed: INITIAL_RTT,
            variation: INITIAL_RTT.div(2),
            min: Duration::MAX,
            has_sample: false,
        }
    }

    /// Takes a sample. `ack_delay` is what the receiver says it waited, already limited to its
    /// `max_ack_delay`; zero in TCP, where it cannot be known. RFC 9002 §5.2 for the minimum, which here is never set
    /// anew, not after persistent congestion either; §5.3 for the rest.
    #[inline]
    pub(super) fn update(&mut self, latest: Duration, ack_delay: Duration) {
        self.latest = latest;
        self.min = self.min.min(latest);
        if !self.has_sample {
            self.has_sample = true;
            self.smoothed = latest;
            self.variation = latest.div(2);
            return;
        }
        let adjusted = if latest >= self.min + ack_delay {
            latest - ack_delay
        } else {
            latest
        };
        let deviation = if adjusted > self.smoothed {
            adjusted - self.smoothed
        } else {
            self.smoothed - adjusted
        };
        // RFC 9002 A.7, RFC 6298 §2.3: rttvar = 3/4 rttvar + 1/4 deviation, srtt = 7/8 srtt + 1/8 adjusted. The
        // deviation is from the smoothed RTT of before; RFC 9002 §5.3 has the two lines the other way round.
        self.variation = (self.variation * 3 + deviation).div(4);
        self.smoothed = (self.smoothed * 7 + adjusted).div(8);
    }

    #[inline]
    pub(super) fn has_sample(&self) -> bool {
        self.has_sample
    }

    #[inline]
    pub(super) fn latest(&self) -> Duration {
        self.latest
    }

    #[inline]
    pub(super) fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// The smallest sample; [`Duration::MAX`] before the first.
    #[inline]
    pub(super) fn min(&self) -> Duration {
        self.min
    }

    /// `srtt + max(4·rttvar, granularity)`: the base of PTO and RTO.
    #[inline]
    pub(super) fn timeout(&self) -> Duration {
        self.smoothed + (self.variation * 4).max(GRANULARITY)
    }
}

/// `timeout` after this many consecutive expiries: doubled by each (RFC 6298 §5.5, RFC 9002
/// §6.2.1).
#[inline]
pub(super) fn backed_off(timeout: Duration, expiries: u32) -> Duration {
    timeout * (1_u64 << expiries.min(MAX_BACKOFF))
}

#[cfg(test)]
impl RttEstimator {
    /// One that has taken these samples, in milliseconds.
    pub(super) fn of_ms(samples: &[u64]) -> Self {
        let mut rtt = Self::new();
        for &ms in samples {
            rtt.update(Duration::from_millis(ms), Duration::ZERO);
        }
        rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_9002_section_5() {
        let ms = Duration::from_millis;
        let mut rtt = RttEstimator::new();
        // Before a sample: PTO base 333 + 4 · 166.5 = 999 ms.
        assert_eq!(rtt.timeout(), ms(999));
        rtt.update(ms(40), Duration::ZERO);
        assert_eq!((rtt.smoothed(), rtt.timeout()), (ms(40), ms(120)));
        // 100 ms of which the receiver waited 20: deviation 40, srtt 45, rttvar (3·20+40)/4 = 25.
        rtt.update(ms(100), ms(20));
        assert_eq!((rtt.smoothed(), rtt.timeout()), (ms(45), ms(145)));
        // A delay that would bring the sample below the minimum is not subtracted.
        rtt.update(ms(45), ms(20));
        assert_eq!(rtt.smoothed(), ms(45));
        assert_eq!(rtt.min(), ms(40));
    }
}
