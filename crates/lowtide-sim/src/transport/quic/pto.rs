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

    /// When it expires, if the last packet left at `last_sent_at`.
    #[inline]
    pub(super) fn expires_at(&self, rtt: &RttEstimator, last_sent_at: Time) -> Time {
        last_sent_at + backed_off(self.duration(rtt), self.pto_count)
    }

    #[inline]
    pub(super) fn on_progress(&mut self) {
        self.pto_count = 0;
    }

    /// It expired: how many packets to send.
    pub(super) fn on_expiry(&mut self) -> usize {
        self.pto_count += 1;
        PROBES
    }
}
