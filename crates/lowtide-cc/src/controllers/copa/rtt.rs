//! Copa's RTTs: over ten seconds, over half a round trip and over four.

use crate::estimators::{Maximum, Minimum, Windowed};
use crate::mechanisms::SmoothedRtt;
use crate::units::{Duration, Time};

/// RTT_min is the smallest of this span (NSDI 2018 §2.2).
const MIN_WINDOW: Duration = Duration::from_secs(10);
/// Round trips over which RTT_max is the largest RTT (§2.2).
const MAX_WINDOW_ROUNDS: u64 = 4;

/// Smallest, standing and largest RTT.
#[derive(Clone, Debug)]
pub(super) struct Rtts {
    smoothed: SmoothedRtt,
    min: Windowed<Duration, Minimum>,
    standing: Windowed<Duration, Minimum>,
    max: Windowed<Duration, Maximum>,
}

impl Rtts {
    pub(super) fn new() -> Self {
        Self {
            smoothed: SmoothedRtt::default(),
            min: Windowed::new(MIN_WINDOW.as_nanos()),
            standing: Windowed::new(0),
            max: Windowed::new(MAX_WINDOW_ROUNDS),
        }
    }

    pub(super) fn take_sample(&mut self, now: Time, rtt: Duration, round: u64) {
        // Never zero: rates are windows by RTTs.
        let rtt = rtt.max(Duration::from_nanos(1));
        self.smoothed.update(rtt);
        self.min.update(now.as_nanos(), rtt);
        // Half a smoothed RTT is long enough to see past ACK compression, and short enough to see
        // the queue of now (§2.1).
        let half = self.smoothed.mean().div(2);
        self.standing.set_window(half.as_nanos());
        self.standing.update(now.as_nanos(), rtt);
        self.max.update(round, rtt);
    }

    pub(super) fn has_sample(&self) -> bool {
        !self.smoothed.mean().is_zero()
    }

    /// The smallest of ten seconds; zero before the first sample.
    pub(super) fn min(&self) -> Duration {
        self.min.get().unwrap_or_default()
    }

    /// The smallest of half a smoothed RTT; zero before the first sample.
    pub(super) fn standing(&self) -> Duration {
        self.standing.get().unwrap_or_default()
    }

    /// Queueing delay: standing − min (Eq. 2).
    pub(super) fn queueing(&self) -> Duration {
        self.standing() - self.min()
    }

    /// How much the RTT varies: largest of four round trips − min.
    pub(super) fn variation(&self) -> Duration {
        self.max.get().unwrap_or_default() - self.min()
    }
}
