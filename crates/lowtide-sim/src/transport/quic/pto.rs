//! Probe timeout (RFC 9002 §6.2).

use lowtide_cc::units::{Duration, Time};

use crate::transport::rtt::{RttEstimator, backed_off};

/// Packets sent when the timeout expires (§6.2.4 allows one or two).
const PROBES: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeTimeout {
    max_ack_delay: Duration,
    /// Expiries since an acknowledgment last brought something new (`pto_count`).
    pto_count: u32,
}

impl ProbeTimeout {
    pub(super) fn new(max_ack_delay: Duration) -> Self {
        Self {
            max_ack_delay,
            pto_count: 0,
        }
    }

    #[inline]
    pub(super) fn max_ack_delay(&self) -> Duration {
        self.max_ack_delay
    }

    /// `smoothed_rtt + max(4·rttvar, kGranularity) + max_ack_delay` (§6.2.1).
    #[inline]
    pub(super) fn duration(&self, rtt: &RttEstimator) -> Duration {
        rtt.timeout() + self.max_ack_delay
    }

    /// When it expires, if the last packet left at `last_sent_at`: from there on, as in RFC 9002 A.8. An
    /// acknowledgment, at which §6.2.1 restarts the timer, too, changes the RTT and the backoff alone.
    #[inline]
    pub(super) fn expires_at(&self, rtt: &RttEstimator, last_sent_at: Time) -> Time {
        last_sent_at + backed_off(self.duration(rtt), self.pto_count)
    }

    /// An acknowledgment resets the backoff (§6.2.1).
    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.pto_count = 0;
    }

    /// The timer expired: how many packets to send, whatever the window (§7.5). Nothing is lost by
    /// that (§6.2).
    pub(super) fn on_expiry(&mut self) -> usize {
        self.pto_count += 1;
        PROBES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn the_timeout_doubles_with_each_expiry_until_an_acknowledgment() {
        let mut pto = ProbeTimeout::new(Duration::from_millis(25));
        // Before a sample 333 + 4·166.5 + 25 ms.
        let expires_at = |pto: &ProbeTimeout, rtt| pto.expires_at(&rtt, at(1_000));
        assert_eq!(expires_at(&pto, RttEstimator::new()), at(2_024));
        // 40 + 4·20 + 25 ms.
        let rtt = RttEstimator::of_ms(&[40]);
        assert_eq!(expires_at(&pto, rtt), at(1_145));
        assert_eq!(pto.on_expiry(), 2, "two probes");
        assert_eq!(expires_at(&pto, rtt), at(1_290));
        pto.on_expiry();
        assert_eq!(expires_at(&pto, rtt), at(1_580));
        pto.on_progress();
        assert_eq!(expires_at(&pto, rtt), at(1_145));
    }

    #[test]
    fn the_variation_counts_as_at_least_the_granularity() {
        let pto = ProbeTimeout::new(Duration::ZERO);
        // Samples that do not vary: rttvar 20 → 20·(3/4)^n ms, below 1/4 ms after 16 of them.
        let rtt = RttEstimator::of_ms(&[40; 17]);
        assert_eq!(pto.duration(&rtt), Duration::from_millis(41));
    }
}
