//! Self-inflicted delay, after Sprout (Winstein et al., NSDI 2013, §5.1).
//!
//! At each moment, the age of the freshest packet that has arrived is the delay that the receiver
//! suffers. An omniscient sender, whose packets all reach the link just when it can send, cannot
//! avoid a part of it: propagation, and the link's own silence. What is more than that the sender
//! has inflicted on itself. Sprout subtracts the 95th percentiles of the two ages; here they are
//! subtracted at each moment, and the percentile over time is taken of the difference, so that an
//! outage of the link is charged to nobody.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::impairment::MovingDelay;
use lowtide_sim::link::Link;

use super::histogram::Histogram;

/// Between two deliveries the difference is taken this often.
const STEP: Duration = Duration::from_millis(1);
/// The most steps for a packet, which bounds its work.
const MAX_STEPS: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct SelfInflicted {
    link: Arc<Link>,
    moving: Option<Arc<MovingDelay>>,
    to_link: Duration,
    /// At least.
    from_link: Duration,
    /// When the freshest packet that has arrived was sent.
    freshest: Time,
    last_delivery: Option<Time>,
    /// Difference in microseconds, weighted by microseconds of time.
    histogram: Histogram<u64>,
}

impl SelfInflicted {
    /// Starts the metric of a flow over a link, with a delay behind it that moves.
    pub(super) fn new(link: Arc<Link>, moving: Option<Arc<MovingDelay>>) -> Self {
        Self {
            link,
            moving,
            to_link: Duration::ZERO,
            from_link: Duration::ZERO,
            freshest: Time::ZERO,
            last_delivery: None,
            histogram: Histogram::default(),
        }
    }

    /// The propagation delays before and, at least, behind the link.
    pub(super) fn set_delays(&mut self, to_link: Duration, from_link: Duration) {
        (self.to_link, self.from_link) = (to_link, from_link);
    }

    /// The latest departure from the link that can have arrived by then.
    #[inline]
    fn departed_by(&self, at: Time) -> Time {
        match &self.moving {
            None => at - self.from_link,
            Some(moving) => moving.departed_by(at - (self.from_link - moving.least())),
        }
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn on_deliver(&mut self, now: Time, sent_at: Time, bytes: Bytes) {
        self.advance(now, bytes);
        self.freshest = self.freshest.max(sent_at);
    }

    /// The flow ends at `now`: a flow that has fallen silent pays until then. `bytes` is the size
    /// of the packets that could have come.
    pub(super) fn on_end(&mut self, now: Time, bytes: Bytes) {
        if self.last_delivery.is_some_and(|last| last < now) {
            self.advance(now, bytes);
        }
    }

    // Always inlined: it is called for every packet, and at the end.
    #[inline(always)]
    fn advance(&mut self, now: Time, bytes: Bytes) {
        if let Some(last) = self.last_delivery.replace(now) {
            let interval = now.since(last);
            let steps = (interval.as_nanos() / STEP.as_nanos()).clamp(1, MAX_STEPS);
            let step = interval.div(steps);
            if step.as_micros() > 0 {
                for n in 1..=steps {
                    // Just before the moment, so that a delivery does not count before it is made.
                    let at = last + step * n - Duration::from_nanos(1);
                    let best = self.link.freshest_arrival(self.departed_by(at), bytes);
                    let excess = (best - self.to_link).since(self.freshest);
                    self.histogram.record(excess.as_micros(), step.as_micros());
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
    }

    /// The 95th percentile over time, milliseconds; NaN without deliveries.
    pub(super) fn p95_ms(&self) -> f64 {
        let p95 = self.histogram.percentiles([95.0]);
        p95.map_or(f64::NAN, |[us]| us as f64 / 1e3)
    }
}
