//! The minimum RTT, and ProbeRTT, which empties the pipe when none has been seen for long.

use super::model::Model;
use super::phase::Phase;
use crate::controller::AckEvent;
use crate::units::{Bytes, Duration, Time};

/// How long a minimum counts (Linux `bbr_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// How long the pipe stays nearly empty: long enough for flows to meet there, short enough to cost
/// 2 % of throughput (Linux `bbr_probe_rtt_mode_ms`).
const STAY: Duration = Duration::from_millis(200);

/// The windowed minimum RTT.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    value: Duration,
    seen_at: Time,
}

impl MinRtt {
    pub(super) fn new(now: Time) -> Self {
        Self {
            value: Duration::MAX,
            seen_at: now,
        }
    }

    pub(super) fn get(&self) -> Duration {
        self.value
    }

    /// Takes the acknowledgment's sample; true when the minimum had expired.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        let expired = ack.now > self.seen_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt <= self.value || expired) {
            // A zero would make the BDP zero for good.
            self.value = rtt.max(Duration::from_nanos(1));
            self.seen_at = ack.now;
        }
        expired
    }

    /// A ProbeRTT has shown that the minimum still holds.
    pub(super) fn confirm(&mut self, now: Time) {
        self.seen_at = now;
    }
}

/// A ProbeRTT under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// Set once the flight is small enough.
    stay_until: Option<Time>,
    round_over: bool,
}

impl ProbeRtt {
    /// Follows the acknowledgments; true when the probe is done. `floor`: the probe's window.
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, model: &mut Model, floor: Bytes) -> bool {
        debug_assert_eq!(model.phase, Phase::ProbeRtt);
        match self.stay_until {
            None if ack.inflight <= floor => {
                self.stay_until = Some(ack.now + STAY);
                self.round_over = false;
                if let Some(sample) = ack.rate_sample {
                    model.rounds.restart(sample.total_delivered);
                }
                false
            }
            None => false,
            Some(_) => {
                self.round_over |= model.rounds.starts_now();
                self.is_done(ack.now)
            }
        }
    }

    /// Whether both the time and a round have passed.
    pub(super) fn is_done(&self, now: Time) -> bool {
        self.round_over && self.stay_until.is_some_and(|until| now > until)
    }
}
