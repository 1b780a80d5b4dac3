//! Retransmission timer (RFC 6298).

use lowtide_cc::units::{Duration, Time};

use crate::transport::rtt::{RttEstimator, backed_off};

#[derive(Clone, Copy, Debug)]
pub(super) struct RetransmissionTimer {
    min_rto: Duration,
    /// Expiries since data was last acknowledged.
    expiries: u32,
}

impl RetransmissionTimer {
    /// `min_rto`: lower bound (§2.4: 1 s; Linux: 200 ms).
    pub(super) fn new(min_rto: Duration) -> Self {
        Self {
            min_rto,
            expiries: 0,
        }
    }

    /// When it expires, if it was armed at `armed_at`: §2.3 with the lower bound of §2.4, doubled by
    /// each expiry (§5.5).
    #[inline]
    pub(super) fn expires_at(&self, rtt: &RttEstimator, armed_at: Time) -> Time {
        armed_at + backed_off(rtt.timeout().max(self.min_rto), self.expiries)
    }

    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.expiries = 0;
    }

    pub(super) fn on_expiry(&mut self) {
        self.expiries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expires_at_ms(timer: &RetransmissionTimer, samples: &[u64]) -> u64 {
        let rtt = RttEstimator::of_ms(samples);
        timer.expires_at(&rtt, Time::ZERO).as_nanos() / 1_000_000
    }

    #[test]
    fn the_timeout_is_srtt_and_four_rttvar_but_not_below_its_bound() {
        let timer = RetransmissionTimer::new(Duration::from_millis(200));
        // 100 + 4·50; then SRTT (7·100 + 140)/8 = 105, RTTVAR (3·50 + 40)/4 = 47.5: 105 + 190.
        assert_eq!(expires_at_ms(&timer, &[100]), 300);
        assert_eq!(expires_at_ms(&timer, &[100, 140]), 295);
        // 20 + 4·10 is too short.
        assert_eq!(expires_at_ms(&timer, &[20]), 200);
    }

    #[test]
    fn the_timeout_doubles_with_each_expiry_until_data_is_acknowledged() {
        let mut timer = RetransmissionTimer::new(Duration::from_millis(200));
        let expiries = (0..4).map(|_| {
            let at = expires_at_ms(&timer, &[100]);
            timer.on_expiry();
            at
        });
        assert_eq!(expiries.collect::<Vec<_>>(), [300, 600, 1_200, 2_400]);
        timer.on_progress();
        assert_eq!(expires_at_ms(&timer, &[20]), 200);
        // The bound is doubled, too, and the doubling ends at 2^16.
        timer.on_expiry();
        assert_eq!(expires_at_ms(&timer, &[20]), 400);
        (0..100).for_each(|_| timer.on_expiry());
        assert_eq!(expires_at_ms(&timer, &[20]), 200 << 16);
    }
}
