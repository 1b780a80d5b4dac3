//! BBR′, BBR v1 for ns-3.27 (Claypool, Chung, Li 2018; mark-claypool/bbr v1.7), where it is not Linux's.
//!
//! - Where the gain is 1, it paces at 0.95 of the estimate; elsewhere there is no margin.
//! - A timer of one min_rtt drives it, whatever is in flight: each phase of the gain cycle takes one,
//!   Startup ends after three without growth, Drain after five at the latest.
//! - The minimum RTT is that of all samples of the last 10 s. ProbeRTT comes 10 s after it last fell,
//!   or after the last ProbeRTT began. Before either the time counts from zero: that of the
//!   simulation, not of the flow. So flows that start at different times probe together.

use alloc::collections::VecDeque;

use crate::units::{Duration, Time};

/// Share of the estimate where the gain is 1 (`PACING_FACTOR`).
const STEADY: f64 = 0.95;

/// Drain's longest, in ticks of its timer.
const DRAIN_TICKS: u64 = 5;

/// When a Drain that begins now ends at the latest.
pub(super) fn drain_until(now: Time, min_rtt: Duration) -> Time {
    now + min_rtt * DRAIN_TICKS
}

/// The timer that counts rounds in BBR′.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer(Time);

impl Timer {
    pub(super) fn new(now: Time) -> Self {
        Self(now)
    }

    /// Whether it has fired; it then runs for another `min_rtt`.
    pub(super) fn fires(&mut self, now: Time, min_rtt: Duration) -> bool {
        let fires = now >= self.0 && min_rtt != Duration::MAX;
        if fires {
            self.0 = now + min_rtt;
        }
        fires
    }
}

/// The pacing gain of BBR′ for a phase's gain.
pub(super) fn pacing_gain(gain: f64) -> f64 {
    if gain == 1.0 { STEADY } else { gain }
}

/// The samples of the last seconds that may become their minimum, rising.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent(VecDeque<(Time, Duration)>);

impl Recent {
    /// Takes a sample, forgets those older than `window`, and gives the least that is left.
    pub(super) fn on_sample(&mut self, rtt: Duration, now: Time, window: Duration) -> Duration {
        let rtt = rtt.max(Duration::from_nanos(1));
        while self.0.back().is_some_and(|(_, last)| *last >= rtt) {
            self.0.pop_back();
        }
        self.0.push_back((now, rtt));
        while self.0.front().is_some_and(|(at, _)| *at + window < now) {
            self.0.pop_front();
        }
        self.0.front().map_or(rtt, |(_, least)| *least)
    }
}
