//! RBBR's receiver: samples what arrives, filters it, and says when to report it (Algs. 1 and 3).

use crate::controller::{FilterSnapshot, PeerSignal};
use crate::estimators::{AdaptiveKalman, Ewma, Noise as KalmanNoise};
use crate::units::{Bytes, Duration, Rate, Time};

/// How samples become the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    /// Each sample is the estimate (Haile et al. 2020, the paper's "nofilter").
    Unfiltered,
    /// Weight `alpha` for the newest sample (Eq. 12).
    Ewma {
        /// 0 to 1.
        alpha: f64,
    },
    /// The adaptive Kalman filter (Eqs. 3 to 9).
    Kalman {
        /// Memory of the noise estimates, 0 to 1 (the paper's α).
        alpha: f64,
        /// The noise assumed before any is learnt.
        initial: Noise,
    },
}

impl Filter {
    /// The paper's α (Fig. 11).
    pub const DEFAULT_ALPHA: f64 = 0.6;
}

/// Initial standard deviations of the Kalman filter, as shares of the first sample. The paper does
/// not print them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Deviation of the state (√p).
    pub state: f64,
    /// Deviation of the state's change from sample to sample (√Q).
    pub process: f64,
    /// Deviation of a measurement (√R).
    pub measurement: f64,
}

impl Noise {
    /// Forgotten within ten samples; a factor of ten either way makes no difference
    /// (`docs/algorithms/rbbr.md`).
    pub const DEFAULT: Self = Self {
        state: 0.5,
        process: 0.1,
        measurement: 0.5,
    };
}

/// When an acknowledgment carries the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Every Nth acknowledgment carries it; 1 (every one) is the paper's default; 0 is taken as 1.
    EveryAcks(u32),
    /// The first acknowledgment after each such period.
    Periodic(Duration),
}

/// How intervals without arrivals are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// The sample lasts until something arrives (Alg. 1: a sample is taken when the elapsed time
    /// exceeds Δt; Eq. 11: over the time that really passed).
    Stretch,
    /// Each whole interval without arrivals is a sample of zero, as if a timer sampled.
    Zeros,
}

/// Upper bound on the samples of zero for one gap: by then any filter has converged to zero.
const MAX_ZEROS: u64 = 100;

/// A receiver's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// Sampling interval (Δt).
    pub interval: Duration,
    /// How intervals without arrivals are treated.
    pub gaps: Gaps,
    /// How samples become the estimate.
    pub filter: Filter,
    /// When to report.
    pub schedule: Schedule,
}

impl ReceiverConfig {
    /// The paper's Kalman filter, which reports with each acknowledgment. Δt is that of the paper's
    /// own traces; it prints none for the filter.
    pub const DEFAULT: Self = Self {
        interval: Duration::from_millis(10),
        gaps: Gaps::Stretch,
        filter: Filter::Kalman {
            alpha: Filter::DEFAULT_ALPHA,
            initial: Noise::DEFAULT,
        },
        schedule: Schedule::EveryAcks(1),
    };
}

/// The filter at work; empty before the first sample, which initialises it.
#[derive(Clone, Copy, Debug)]
enum State {
    Ewma(Ewma),
    Kalman {
        alpha: f64,
        initial: Noise,
        filter: Option<AdaptiveKalman>,
    },
}

impl State {
    fn update(&mut self, sample: f64) {
        match self {
            Self::Ewma(ewma) => {
                ewma.update(sample);
            }
            Self::Kalman {
                alpha,
                initial,
                filter,
            } => match filter {
                Some(filter) => {
                    filter.update(sample);
                }
                None => {
                    let variance = |share: f64| (share * sample) * (share * sample);
                    let noise = KalmanNoise {
                        state_variance: variance(initial.state),
                        process: variance(initial.process),
                        measurement: variance(initial.measurement),
                    };
                    *filter = Some(AdaptiveKalman::new(sample, noise, *alpha));
                }
            },
        }
    }

    fn estimate(&self) -> Option<f64> {
        match self {
            Self::Ewma(ewma) => ewma.get(),
            Self::Kalman { filter, .. } => filter.as_ref().map(AdaptiveKalman::state),
        }
    }
}

/// The estimator at the receiver. A host
/// 1. tells it each packet that arrives ([`on_packet`](Self::on_packet)) and, before that, the
///    sender's signal that came with it ([`on_signal`](Self::on_signal));
/// 2. asks for each acknowledgment whether to attach an estimate
///    ([`feedback_for_ack`](Self::feedback_for_ack)).
///
/// It needs no timer. Times passed in must not go back; where they do, spans count as zero.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    interval: Duration,
    gaps: Gaps,
    schedule: Schedule,
    state: State,
    /// A sender starts in Startup: nothing is sampled before its first regular signal.
    suspended: bool,
    received: Bytes,
    last_arrival: Time,
    /// When the sample under way began, and what had been received then.
    sample_from: Option<(Time, Bytes)>,
    acks_since_feedback: u32,
    last_feedback_at: Option<Time>,
}

impl Receiver {
    /// An estimator that has seen nothing.
    #[must_use]
    pub fn new(config: &ReceiverConfig) -> Self {
        Self {
            // A sample needs a duration.
            interval: config.interval.max(Duration::from_nanos(1)),
            gaps: config.gaps,
            schedule: config.schedule,
            state: match config.filter {
                // An average that keeps nothing.
                Filter::Unfiltered => State::Ewma(Ewma::new(1.0)),
                Filter::Ewma { alpha } => State::Ewma(Ewma::new(alpha)),
                Filter::Kalman { alpha, initial } => State::Kalman {
                    alpha,
                    initial,
                    filter: None,
                },
            },
            suspended: true,
            received: Bytes::ZERO,
            last_arrival: Time::ZERO,
            sample_from: None,
            acks_since_feedback: 0,
            last_feedback_at: None,
        }
    }

    /// The sender said whether the network limits it (Alg. 3). The estimate is frozen while it does
    /// not, and no sample spans such a time.
    pub fn on_signal(&mut self, signal: PeerSignal) {
        self.suspended = signal == PeerSignal::Suspend;
        if self.suspended {
            self.sample_from = None;
        }
    }

    /// A packet of `bytes` arrived, new or not: it shows what the path carries. A sample is taken
    /// when the interval is over, at the arrival that shows it: y = ΔS/Δt over the time that really
    /// passed (Eqs. 10, 11).
    #[inline]
    pub fn on_packet(&mut self, now: Time, bytes: Bytes) {
        self.take(now, bytes);
    }

    /// Does what [`on_packet`](Self::on_packet) does, and returns the sample and the time that it
    /// took, if one was taken.
    #[inline]
    pub(super) fn take(&mut self, now: Time, bytes: Bytes) -> Option<(Rate, Duration)> {
        let silent = now.since(self.last_arrival);
        self.last_arrival = now;
        self.received += bytes;
        if self.suspended {
            return None;
        }
        let Some((since, volume)) = self.sample_from else {
            self.sample_from = Some((now, self.received));
            return None;
        };
        let elapsed = now.since(since);
        if elapsed < self.interval {
            return None;
        }
        let mut lasted = elapsed;
        if self.gaps == Gaps::Zeros {
            let zeros = (silent.as_nanos() / self.interval.as_nanos()).min(MAX_ZEROS);
            lasted = (elapsed - self.interval * zeros).max(self.interval);
            for _ in 0..zeros {
                self.state.update(0.0);
            }
        }
        let rate = Rate::from_volume(self.received - volume, lasted);
        self.state.update(rate.as_f64());
        self.sample_from = Some((now, self.received));
        Some((rate, elapsed))
    }

    /// An acknowledgment is about to leave: the estimate that it should carry, above zero, or
    /// `None` for none.
    #[inline]
    pub fn feedback_for_ack(&mut self, now: Time) -> Option<Rate> {
        let estimate = self.estimate()?;
        let due = match self.schedule {
            Schedule::EveryAcks(n) => {
                self.acks_since_feedback = self.acks_since_feedback.saturating_add(1);
                self.acks_since_feedback >= n
            }
            Schedule::Periodic(period) => self
                .last_feedback_at
                .is_none_or(|last| now.since(last) >= period),
        };
        if !due {
            return None;
        }
        self.acks_since_feedback = 0;
        self.last_feedback_at = Some(now);
        Some(estimate)
    }

    /// The estimate; `None` before the first sample.
    #[must_use]
    pub fn estimate(&self) -> Option<Rate> {
        let estimate = self.state.estimate()?;
        // Zero would say nothing; a filter may get there.
        Some(Rate::from_bytes_per_sec((estimate as u64).max(1)))
    }

    /// Whether sampling is suspended.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Internals of the Kalman filter, for logs; `None` where there is none.
    #[must_use]
    pub fn filter(&self) -> Option<FilterSnapshot> {
        let State::Kalman {
            filter: Some(filter),
            ..
        } = &self.state
        else {
            return None;
        };
        let signal = if self.suspended {
            PeerSignal::Suspend
        } else {
            PeerSignal::Regular
        };
        Some(FilterSnapshot::of(filter.belief(), signal.name()))
    }
}
