//! ProbeRTT's small flight, the same in BBR v1 and BBRv3.
//!
//! What its window delivers says nothing of the path. Its samples count as
//! application-limited (Linux `bbr_update_min_rtt` sets `app_limited`; draft-ietf-ccwg-bbr
//! `MarkConnectionAppLimited` in `HandleProbeRTT`). The host does not know of it, so the controller
//! remembers which packets were sent in that time.

use super::rounds::Rounds;
use crate::controller::AckEvent;
use crate::delivery_rate::RateSample;
use crate::units::{Bytes, Duration, Time};

/// How long the flight stays small: long enough for flows of different RTT to meet there, short enough to
/// cost 2 % of throughput (Linux `bbr_probe_rtt_mode_ms`, draft-ietf-ccwg-bbr `ProbeRTTDuration`).
const STAY: Duration = Duration::from_millis(200);

/// A ProbeRTT under way. To be kept after its end, until the samples of its packets have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SmallFlight {
    /// Set once the flight is small enough.
    until: Option<Time>,
    round_over: bool,
    /// What had been delivered when the first of its packets was sent, and when the last was.
    from_until: Option<(Bytes, Bytes)>,
}

impl SmallFlight {
    /// Follows the acknowledgments; true when a flight of at most `window` has stayed for its time and a
    /// round.
    pub(crate) fn on_ack(
        &mut self,
        ack: &AckEvent<'_>,
        rounds: &mut Rounds,
        window: Bytes,
    ) -> bool {
        let delivered = rounds.delivered();
        let (from, _) = self.from_until.unwrap_or((delivered, delivered));
        self.from_until = Some((from, delivered + ack.inflight));
        if self.until.is_some() {
            self.round_over |= rounds.starts_now();
        } else if ack.inflight <= window {
            self.until = Some(ack.now + STAY);
            rounds.restart();
        }
        self.round_over && self.has_stayed(ack.now)
    }

    /// Whether the time has passed. After idleness that is enough: the pipe was empty for longer
    /// than a round.
    pub(crate) fn has_stayed(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }

    /// Whether the sampled packet met the small window.
    #[inline]
    pub(crate) fn contains(&self, sample: &RateSample) -> bool {
        self.from_until
            .is_some_and(|(from, until)| (from..=until).contains(&sample.prior_delivered))
    }
}
