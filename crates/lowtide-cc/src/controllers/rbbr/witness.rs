//! What the sender sees itself of the rate that its receiver reports.

use super::receiver::{Receiver, ReceiverConfig};
use super::regular::Regular;
use crate::controller::{AckEvent, PeerSignal};
use crate::units::{Duration, Rate, Time};

/// Samples whose variability counts, in the mean: a second and more.
const MEMORY: f64 = 128.0;
/// Samples before anything is judged by their variability.
const ENOUGH: f64 = 64.0;
/// Least variability (coefficient of variation squared). On a path as steady as that, rounding and
/// the granularity of acknowledgments are all there is.
const STEADY: f64 = 0.01;
/// Mean deviation that is borne, in units of the variability. Both estimators average samples of what
/// varies, over spans that are not the same; their means differ by a part of the variance, by more
/// where acknowledgments are so far apart that the spans are longer than the receiver's.
const BORNE: f64 = 0.1;
/// Where the report is doubted: seconds in which it deviated by as much as the variability.
const DOUBTED_AT: f64 = 5.0;
/// Most doubt: however much a receiver lied, it is believed again after 200 s of the truth.
const MOST_DOUBT: f64 = 4.0 * DOUBTED_AT;
/// Longest time that one report stands for.
const LONGEST_SPAN: Duration = Duration::from_millis(100);

/// The receiver's estimator again, fed with acknowledgments, and whether the reports agree with it.
///
/// Acknowledgments come in steps and with jitter, so that the report is the better estimate of the two;
/// but on average a receiver that reports what it received reports what was acknowledged. Where flows
/// share a link, one percent more in each report is 70 % of the link within a minute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Witness {
    estimator: Receiver,
    /// The receiver's sampling interval.
    interval: Duration,
    /// When the first of the packets was acknowledged that left while the network was the limit.
    regular_since: Option<Time>,
    samples: f64,
    mean: f64,
    variance: f64,
    /// Mean span of the samples, in intervals.
    span: f64,
    compared_at: Time,
    /// Reported above (below: negative) what was seen and borne, in time.
    excess: f64,
    /// The reports have been something else than what arrived.
    pub(super) doubts: bool,
}

impl Witness {
    pub(super) fn new(config: &ReceiverConfig) -> Self {
        Self {
            estimator: Receiver::new(config),
            interval: config.interval.max(Duration::from_nanos(1)),
            regular_since: None,
            samples: 0.0,
            mean: 0.0,
            variance: 0.0,
            span: 0.0,
            compared_at: Time::ZERO,
            excess: 0.0,
            doubts: false,
        }
    }

    /// Takes an acknowledgment. As at the receiver, no sample spans a time in which the sender was
    /// the limit.
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, regular: &Regular) {
        let (Some(first), Some(last)) = (ack.packets.first(), ack.packets.last()) else {
            return;
        };
        let is_regular = regular.last_contains(first.number, last.number);
        self.regular_since = is_regular.then(|| self.regular_since.unwrap_or(ack.now));
        // Acknowledgments come in bunches; a sample that began within one would miss a part of it. The
        // first one after an interval begins a bunch, if there are any.
        let samples = self
            .regular_since
            .is_some_and(|since| ack.now.since(since) >= self.interval);
        self.estimator.on_signal(if samples {
            PeerSignal::Regular
        } else {
            PeerSignal::Suspend
        });
        if let Some((sample, span)) = self.estimator.take(ack.now, ack.bytes_acked) {
            self.learn(sample.as_f64(), span);
        }
    }

    fn learn(&mut self, sample: f64, span: Duration) {
        self.samples = (self.samples + 1.0).min(MEMORY);
        let weight = 1.0 / self.samples;
        let deviation = sample - self.mean;
        self.mean += weight * deviation;
        self.span += weight * (span.as_secs_f64() / self.interval.as_secs_f64() - self.span);
        self.variance = (1.0 - weight) * (self.variance + weight * deviation * deviation);
    }

    /// How much samples vary: their variance over the square of their mean.
    fn variability(&self) -> f64 {
        let mean_square = (self.mean * self.mean).max(1.0);
        (self.variance / mean_square).clamp(STEADY, 1.0)
    }

    /// The receiver reported this rate.
    pub(super) fn compare(&mut self, now: Time, reported: Rate) {
        let span = now.since(self.compared_at).min(LONGEST_SPAN).as_secs_f64();
        self.compared_at = now;
        let Some(own) = self.estimate().filter(|_| self.samples >= ENOUGH) else {
            return;
        };
        let deviation = (reported.as_f64() / own.as_f64() - 1.0).clamp(-1.0, 1.0);
        // The report is ahead of a change; what that adds on the way up it takes off on the way down.
        let excess = self.excess + span * deviation / self.variability();
        let rest = (excess.abs() - span * BORNE * self.span).clamp(0.0, MOST_DOUBT);
        self.excess = rest.copysign(excess);
        self.doubts = rest >= DOUBTED_AT || (self.doubts && rest > 0.0);
    }

    /// What the receiver should report; `None` before the first sample.
    pub(super) fn estimate(&self) -> Option<Rate> {
        self.estimator.estimate()
    }
}
