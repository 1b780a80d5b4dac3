//! The longest RTT that the path has without a queue of the flow's own making: delay and jitter
//! (§3.2).

use crate::units::Duration;

/// No more than so much above the minimum is taken for jitter.
const MAX_JITTER: Duration = Duration::from_millis(250);
/// Jitter below is no reason to begin anew.
const MIN_RESTART: Duration = Duration::from_millis(50);

/// Minimum and maximum of the path and of the era under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtts {
    /// The nominal maximum; `None` before the first sample.
    pub(super) max: Option<Duration>,
    /// The running minimum; [`Duration::MAX`] before the first sample.
    pub(super) min: Duration,
    era_max: Duration,
    era_min: Duration,
}

/// (7·old + new)/8.
fn mix(old: Duration, new: Duration) -> Duration {
    (old * 7 + new).div(8)
}

impl Rtts {
    pub(super) fn new() -> Self {
        Self {
            max: None,
            min: Duration::MAX,
            era_max: Duration::ZERO,
            era_min: Duration::MAX,
        }
    }

    pub(super) fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.max(Duration::from_nanos(1));
        self.era_max = self.era_max.max(rtt);
        self.era_min = self.era_min.min(rtt);
        self.min = self.min.min(rtt);
        self.max.get_or_insert(rtt);
    }

    /// An era is over; `alpha`: what it was sent at. Rates above the nominal one queue packets, and
    /// show nothing of the path; below it both values fade.
    pub(super) fn on_era_end(&mut self, alpha: f64) {
        let fades = alpha < 1.0;
        let (Some(max), false) = (self.max, self.era_max.is_zero()) else {
            return;
        };
        if self.era_min > self.min && fades {
            self.min = mix(self.min, self.era_min);
        }
        if alpha <= 1.0 {
            let seen = self.era_max.min(self.min + MAX_JITTER);
            if seen > max {
                self.max = Some(seen);
            } else if fades {
                self.max = Some(mix(max, seen));
            }
        }
    }

    /// Another era begins.
    pub(super) fn begin_era(&mut self) {
        self.era_max = Duration::ZERO;
        self.era_min = Duration::MAX;
    }

    /// Losses show that part of the maximum was a queue.
    pub(super) fn lower_max(&mut self, factor: f64) {
        self.max = self.max.map(|max| max.mul_f64(factor));
    }

    /// Whether jitter is large beside the path's delay (§4.3.1; the lower bound is the code's).
    pub(super) fn vary_much(&self) -> bool {
        self.max
            .is_some_and(|max| max > MIN_RESTART && self.min * 5 < max * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn era(rtts: &mut Rtts, samples: &[u64], alpha: f64) -> (Option<Duration>, Duration) {
        rtts.begin_era();
        for ms in samples {
            rtts.on_sample(MS * *ms);
        }
        rtts.on_era_end(alpha);
        (rtts.max, rtts.min)
    }

    #[test]
    fn the_maximum_grows_at_once_and_both_fade_in_eras_below_the_nominal_rate_only() {
        let mut rtts = Rtts::new();
        assert_eq!(era(&mut rtts, &[40, 60], 2.0), (Some(MS * 40), MS * 40));
        assert_eq!(era(&mut rtts, &[48, 60], 1.0), (Some(MS * 60), MS * 40));
        // Minimum (7·40 + 48)/8, maximum (7·60 + 52)/8.
        let faded = (Some(MS * 59), MS * 41);
        assert_eq!(era(&mut rtts, &[48, 52], 15.0 / 16.0), faded);
        assert_eq!(era(&mut rtts, &[50, 90], 1.25), faded, "a push");
        assert!(!rtts.vary_much());
        // At most 250 ms above the minimum.
        let (max, _) = era(&mut rtts, &[41, 900], 1.0);
        assert_eq!(max, Some(MS * 291));
        assert!(rtts.vary_much());
        rtts.lower_max(0.75);
        assert_eq!(rtts.max, Some(MS * 291 * 3).map(|max| max.div(4)));
    }
}
