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
