//! Flights that the controller itself kept small.
//!
//! What ProbeRTT's window delivers says nothing of the path. Its samples count as
//! application-limited (Linux `bbr_update_min_rtt` sets `app_limited`; draft-ietf-ccwg-bbr
//! `MarkConnectionAppLimited` in `HandleProbeRTT`). The host does not know of it, so the controller
//! remembers which packets were sent in that time.

use crate::delivery_rate::RateSample;
use crate::units::Bytes;

/// The packets that one small window limited, told by what had been delivered when they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SelfLimited {
    from_until: Option<(Bytes, Bytes)>,
}

impl SelfLimited {
    /// The window is small now: from the first call on, all packets count until what is in flight
    /// has been delivered.
    pub(crate) fn extend(&mut self, delivered: Bytes, inflight: Bytes) {
        let (from, _) = self.from_until.unwrap_or((delivered, delivered));
        self.from_until = Some((from, delivered + inflight));
    }

    /// Whether the sampled packet met the small window.
    #[inline]
    pub(crate) fn contains(&self, sample: &RateSample) -> bool {
        self.from_until
            .is_some_and(|(from, until)| (from..=until).contains(&sample.prior_delivered))
    }
}
