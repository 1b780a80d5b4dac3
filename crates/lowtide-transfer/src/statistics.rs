//! What a sender has done so far.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use lowtide_cc::controller::PacketSent;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_lab::transfer::Sample;
use lowtide_quic::{AckSeen, LossSeen, Observer, Observers};
use serde::{Deserialize, Serialize};

/// Time of a sample.
const SAMPLE: Duration = Duration::from_millis(20);

/// Samples that nobody has fetched: ten seconds. A client that asks for them need not take them.
const MAX_SAMPLES: usize = 500;

/// A sender's counts and its controller's state, filled by the controller's host.
#[derive(Debug, Default)]
pub(crate) struct Statistics(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: SenderState,
    rtt_sum_ns: u64,
    rtt_samples: u64,
    /// What is under way, where somebody wants samples.
    sample: Option<Sample>,
    /// When it began.
    since: Time,
    done: Vec<Sample>,
}

impl Inner {
    fn end_sample(&mut self, now: Time) {
        let Some(sample) = &mut self.sample else {
            return;
        };
        let next = Sample {
            phase: sample.phase.clone(),
            ..Sample::default()
        };
        let done = std::mem::replace(sample, next);
        if self.done.len() < MAX_SAMPLES {
            self.done.push(done);
        }
        self.since = now;
    }
}

/// Round-trip times of a sender, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RttMs {
    /// Mean of all samples.
    pub mean: f64,
    /// The shortest of all samples.
    pub min: f64,
    /// The newest sample.
    pub last: f64,
}

/// What RBBR's receiver reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedbackState {
    /// How many reports came.
    pub reports: u64,
    /// The newest report, Mbit/s.
    pub newest_mbps: f64,
    /// How old it was at the last acknowledgment, milliseconds.
    pub age_ms: f64,
}

/// A sender's counts and its controller's state, as JSON has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderState {
    /// `None` before the first sample.
    pub rtt_ms: Option<RttMs>,
    /// Packets that carried more than acknowledgments.
    pub sent_packets: u64,
    /// Bytes of those packets.
    pub sent_bytes: u64,
    /// Packets that were declared lost.
    pub lost_packets: u64,
    /// Bytes of the lost packets.
    pub lost_bytes: u64,
    /// Packets that the peer reported as marked ECN-CE.
    #[serde(default)]
    pub marked_packets: u64,
    /// The congestion window.
    pub cwnd_bytes: u64,
    /// Bytes in flight.
    pub inflight_bytes: u64,
    /// `None` before the first report, and where nobody reports.
    pub feedback: Option<FeedbackState>,
}

impl SenderState {
    /// The statistics of several senders together; RTTs are weighed by packets sent.
    pub(crate) fn together(states: impl IntoIterator<Item = Self>) -> Option<Self> {
        states.into_iter().reduce(|a, b| {
            let weight = |s: &Self| s.sent_packets.max(1) as f64;
            let (of_a, of_b) = (weight(&a), weight(&b));
            let mean = |a: f64, b: f64| (a * of_a + b * of_b) / (of_a + of_b);
            let rtt_ms = match (a.rtt_ms, b.rtt_ms) {
                (Some(a), Some(b)) => Some(RttMs {
                    mean: mean(a.mean, b.mean),
                    min: a.min.min(b.min),
                    last: mean(a.last, b.last),
                }),
                (a, b) => a.or(b),
            };
            let feedback = match (a.feedback, b.feedback) {
                (Some(a), Some(b)) => Some(FeedbackState {
                    reports: a.reports.saturating_add(b.reports),
                    newest_mbps: a.newest_mbps + b.newest_mbps,
                    age_ms: a.age_ms.max(b.age_ms),
                }),
                (a, b) => a.or(b),
            };
            // A peer may say any number.
            Self {
                rtt_ms,
                sent_packets: a.sent_packets.saturating_add(b.sent_packets),
                sent_bytes: a.sent_bytes.saturating_add(b.sent_bytes),
                lost_packets: a.lost_packets.saturating_add(b.lost_packets),
                lost_bytes: a.lost_bytes.saturating_add(b.lost_bytes),
                marked_packets: a.marked_packets.saturating_add(b.marked_packets),
                cwnd_bytes: a.cwnd_bytes.saturating_add(b.cwnd_bytes),
                inflight_bytes: a.inflight_bytes.saturating_add(b.inflight_bytes),
                feedback,
            }
        })
    }

    /// Bytes lost of those sent, as `compare` has it.
    pub(crate) fn loss_share(&self) -> f64 {
        self.lost_bytes as f64 / self.sent_bytes.max(1) as f64
    }
}

impl Statistics {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, samples are wanted.
    pub(crate) fn record(&self) {
        self.inner().sample.get_or_insert_default();
    }

    /// The oldest samples that nobody has taken, so many at most.
    pub(crate) fn take_samples(&self, at_most: usize) -> Vec<Sample> {
        let done = &mut self.inner().done;
        done.drain(..at_most.min(done.len())).collect()
    }

    /// Ends the sample under way.
    pub(crate) fn end_sample(&self) {
        let mut inner = self.inner();
        if inner.sample.as_ref().is_some_and(|sample| sample.at_us > 0) {
            let now = inner.since;
            inner.end_sample(now);
        }
    }

    pub(crate) fn state(&self) -> SenderState {
        self.inner().state
    }
}

impl Observer for Statistics {
    fn on_sent(&self, packet: &PacketSent) {
        let mut inner = self.inner();
        inner.state.sent_packets += 1;
        inner.state.sent_bytes += packet.bytes.get();
        if let Some(sample) = &mut inner.sample {
            sample.sent_packets += 1;
            sample.sent_bytes += packet.bytes.get();
        }
    }

    fn on_ack(&self, ack: &AckSeen<'_>) {
        let mut guard = self.inner();
        let inner = &mut *guard;
        let state = &mut inner.state;
        if let Some(rtt) = ack.rtt {
            let ms = |ns: u64| ns as f64 / 1e6;
            inner.rtt_sum_ns = inner.rtt_sum_ns.saturating_add(rtt.as_nanos());
            inner.rtt_samples += 1;
            let last = ms(rtt.as_nanos());
            state.rtt_ms = Some(RttMs {
                mean: ms(inner.rtt_sum_ns) / inner.rtt_samples as f64,
                min: state.rtt_ms.map_or(last, |before| before.min.min(last)),
                last,
            });
        }
        state.inflight_bytes = ack.inflight.get();
        if let Some(newest) = ack.extension.newest {
            state.feedback = (ack.extension.reports > 0).then(|| FeedbackState {
                reports: ack.extension.reports,
                newest_mbps: newest.rate.as_bytes_per_sec() as f64 * 8e-6,
                age_ms: ack.now.since(newest.now).as_nanos() as f64 / 1e6,
            });
        }
        let Some(controller) = ack.controller else {
            return;
        };
        state.cwnd_bytes = controller.cwnd().get();

        let Some(sample) = &mut inner.sample else {
            return;
        };
        let acked: Bytes = ack.packets.iter().map(|p| p.bytes).sum();
        sample.acked_bytes += acked.get();
        if let Some(rtt) = ack.rtt.map(Duration::as_micros) {
            if sample.rtts == 0 || rtt < sample.least_rtt_us {
                sample.least_rtt_us = rtt;
            }
            sample.largest_rtt_us = sample.largest_rtt_us.max(rtt);
            sample.rtt_sum_us = sample.rtt_sum_us.saturating_add(rtt);
            sample.rtts += 1;
        }
        let snapshot = controller.snapshot();
        sample.at_us = ack.now.since(Time::ZERO).as_micros();
        sample.smoothed_rtt_us = ack.smoothed_rtt.as_micros();
        sample.inflight = ack.inflight.get();
        sample.cwnd = controller.cwnd().get();
        sample.pacing = controller.pacing_rate().map(Rate::as_bytes_per_sec);
        sample.bandwidth = snapshot.bandwidth.map(Rate::as_bytes_per_sec);
        sample.gain = snapshot.pacing_gain;
        sample.min_rtt_us = snapshot.min_rtt.map(Duration::as_micros);
        if sample.phase != snapshot.phase {
            sample.phase = snapshot.phase.to_string();
        }
        if ack.now.since(inner.since) >= SAMPLE {
            inner.end_sample(ack.now);
        }
    }

    fn on_marked(&self, _now: Time, packets: u64) {
        self.inner().state.marked_packets += packets;
    }

    fn on_loss(&self, loss: &LossSeen<'_>) {
        let mut inner = self.inner();
        inner.state.lost_packets += loss.packets.len() as u64;
        inner.state.lost_bytes += loss.bytes.get();
        if let Some(sample) = &mut inner.sample {
            sample.lost_packets += loss.packets.len() as u32;
            sample.lost_bytes += loss.bytes.get();
        }
    }
}

/// The statistics of an endpoint's connections, while these live.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByConnection(Arc<Mutex<HashMap<u64, Weak<Statistics>>>>);

impl ByConnection {
    pub(crate) fn observers(&self) -> Observers {
        let all = self.clone();
        Arc::new(move |id| {
            let statistics = Arc::new(Statistics::default());
            let mut known = all.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, s| s.strong_count() > 0);
            known.insert(id?, Arc::downgrade(&statistics));
            Some(statistics)
        })
    }

    pub(crate) fn of(&self, connection: u64) -> Option<Arc<Statistics>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&connection)?.upgrade()
    }
}
