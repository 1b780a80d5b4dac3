//! What a sender has done so far.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use lowtide_cc::controller::PacketSent;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_lab::recording::Sample;
use lowtide_quic::{AckSeen, LossSeen, Observer, Observers};
use serde::{Deserialize, Serialize};

/// Time of a sample.
const SAMPLE: Duration = Duration::from_millis(20);

/// Samples that nobody has fetched: ten seconds. A client that asks for them need not take them.
const MAX_SAMPLES: usize = 500;

/// Samples of a sender.
#[derive(Debug, Default)]
struct Samples {
    now: Sample,
    since: Time,
    done: Vec<Sample>,
}

impl Samples {
    fn end(&mut self, now: Time) {
        if self.done.len() < MAX_SAMPLES {
            self.done.push(self.now.clone());
        }
        self.now = Sample {
            phase: std::mem::take(&mut self.now.phase),
            ..Sample::default()
        };
        self.since = now;
    }
}

/// A sender's counts and its controller's state, filled by the controller's host.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    sent_packets: AtomicU64,
    sent_bytes: AtomicU64,
    lost_packets: AtomicU64,
    lost_bytes: AtomicU64,
    marked_packets: AtomicU64,
    rtt_ns: AtomicU64,
    least_rtt_ns: AtomicU64,
    rtt_sum_ns: AtomicU64,
    rtt_samples: AtomicU64,
    cwnd: AtomicU64,
    inflight: AtomicU64,
    feedback_reports: AtomicU64,
    feedback_bytes_per_sec: AtomicU64,
    feedback_age_ns: AtomicU64,
    /// Somebody wants samples.
    is_recorded: AtomicBool,
    samples: Mutex<Samples>,
}

/// Round-trip times of a sender, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RttMs {
    /// Of all samples.
    pub(super) mean: f64,
    pub(super) min: f64,
    /// The newest sample.
    pub(super) last: f64,
}

/// What RBBR's receiver reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FeedbackState {
    pub(super) reports: u64,
    /// The newest report, Mbit/s, and how old it was at the last acknowledgment.
    pub(super) newest_mbps: f64,
    pub(super) age_ms: f64,
}

/// A copy of them, as JSON has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SenderState {
    /// `None` before the first sample.
    pub(super) rtt_ms: Option<RttMs>,
    /// Packets that carried more than acknowledgments.
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
    pub(super) lost_packets: u64,
    pub(super) lost_bytes: u64,
    /// Packets that the peer reported as marked ECN-CE.
    #[serde(default)]
    pub(super) marked_packets: u64,
    pub(super) cwnd_bytes: u64,
    pub(super) inflight_bytes: u64,
    /// `None` before the first report, and where nobody reports.
    pub(super) feedback: Option<FeedbackState>,
}

impl SenderState {
    /// That of several senders together; RTTs are weighed by packets sent.
    pub(super) fn together(states: impl IntoIterator<Item = Self>) -> Option<Self> {
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
    pub(super) fn loss_share(&self) -> f64 {
        self.lost_bytes as f64 / self.sent_bytes.max(1) as f64
    }
}

impl Statistics {
    fn samples(&self) -> MutexGuard<'_, Samples> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The samples, if they are wanted; otherwise there is no lock to pay for.
    fn wanted_samples(&self) -> Option<MutexGuard<'_, Samples>> {
        self.is_recorded.load(Relaxed).then(|| self.samples())
    }

    /// From now on, samples are wanted.
    pub(super) fn record(&self) {
        self.is_recorded.store(true, Relaxed);
    }

    /// The oldest samples that nobody has taken, so many at most.
    pub(super) fn take_samples(&self, at_most: usize) -> Vec<Sample> {
        let done = &mut self.samples().done;
        done.drain(..at_most.min(done.len())).collect()
    }

    /// Ends the sample under way.
    pub(super) fn end_sample(&self) {
        let mut samples = self.samples();
        if samples.now.at_us > 0 {
            let now = samples.since;
            samples.end(now);
        }
    }

    pub(super) fn state(&self) -> SenderState {
        let samples = self.rtt_samples.load(Relaxed);
        let ms = |ns: u64| ns as f64 / 1e6;
        let rtt_ms = (samples > 0).then(|| RttMs {
            mean: ms(self.rtt_sum_ns.load(Relaxed)) / samples as f64,
            min: ms(self.least_rtt_ns.load(Relaxed)),
            last: ms(self.rtt_ns.load(Relaxed)),
        });
        let reports = self.feedback_reports.load(Relaxed);
        let feedback = (reports > 0).then(|| FeedbackState {
            reports,
            newest_mbps: self.feedback_bytes_per_sec.load(Relaxed) as f64 * 8e-6,
            age_ms: ms(self.feedback_age_ns.load(Relaxed)),
        });
        SenderState {
            rtt_ms,
            sent_packets: self.sent_packets.load(Relaxed),
            sent_bytes: self.sent_bytes.load(Relaxed),
            lost_packets: self.lost_packets.load(Relaxed),
            lost_bytes: self.lost_bytes.load(Relaxed),
            marked_packets: self.marked_packets.load(Relaxed),
            cwnd_bytes: self.cwnd.load(Relaxed),
            inflight_bytes: self.inflight.load(Relaxed),
            feedback,
        }
    }
}

// One thread writes, the endpoint's: loads and stores need not be one step.
impl Observer for Statistics {
    fn on_sent(&self, packet: &PacketSent) {
        if let Some(mut samples) = self.wanted_samples() {
            samples.now.sent_packets += 1;
            samples.now.sent_bytes += packet.bytes.get();
        }
        let sent = self.sent_packets.load(Relaxed) + 1;
        self.sent_packets.store(sent, Relaxed);
        let sent = self.sent_bytes.load(Relaxed) + packet.bytes.get();
        self.sent_bytes.store(sent, Relaxed);
    }

    fn on_ack(&self, ack: &AckSeen<'_>) {
        if let Some(rtt) = ack.rtt {
            let ns = rtt.as_nanos();
            let samples = self.rtt_samples.load(Relaxed);
            let least = self.least_rtt_ns.load(Relaxed);
            self.rtt_ns.store(ns, Relaxed);
            if samples == 0 || ns < least {
                self.least_rtt_ns.store(ns, Relaxed);
            }
            let sum = self.rtt_sum_ns.load(Relaxed).saturating_add(ns);
            self.rtt_sum_ns.store(sum, Relaxed);
            self.rtt_samples.store(samples + 1, Relaxed);
        }
        self.inflight.store(ack.inflight.get(), Relaxed);
        if let Some(newest) = ack.extension.newest {
            let age = ack.now.since(newest.now).as_nanos();
            self.feedback_reports.store(ack.extension.reports, Relaxed);
            self.feedback_bytes_per_sec
                .store(newest.rate.as_bytes_per_sec(), Relaxed);
            self.feedback_age_ns.store(age, Relaxed);
        }
        let Some(controller) = ack.controller else {
            return;
        };
        self.cwnd.store(controller.cwnd().get(), Relaxed);

        let Some(mut samples) = self.wanted_samples() else {
            return;
        };
        let sample = &mut samples.now;
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
        if ack.now.since(samples.since) >= SAMPLE {
            samples.end(ack.now);
        }
    }

    fn on_marked(&self, _now: Time, packets: u64) {
        let marked = self.marked_packets.load(Relaxed) + packets;
        self.marked_packets.store(marked, Relaxed);
    }

    fn on_loss(&self, loss: &LossSeen<'_>) {
        let lost = self.lost_packets.load(Relaxed) + loss.packets.len() as u64;
        self.lost_packets.store(lost, Relaxed);
        let lost = self.lost_bytes.load(Relaxed) + loss.bytes.get();
        self.lost_bytes.store(lost, Relaxed);
        if let Some(mut samples) = self.wanted_samples() {
            samples.now.lost_packets += loss.packets.len() as u32;
            samples.now.lost_bytes += loss.bytes.get();
        }
    }
}

/// The statistics of an endpoint's connections, while these live.
#[derive(Clone, Debug, Default)]
pub(super) struct ByConnection(Arc<Mutex<HashMap<u64, Weak<Statistics>>>>);

impl ByConnection {
    pub(super) fn observers(&self) -> Observers {
        let all = self.clone();
        Arc::new(move |id| {
            let statistics = Arc::new(Statistics::default());
            let mut known = all.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, s| s.strong_count() > 0);
            known.insert(id?, Arc::downgrade(&statistics));
            Some(statistics)
        })
    }

    pub(super) fn of(&self, connection: u64) -> Option<Arc<Statistics>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&connection)?.upgrade()
    }
}
