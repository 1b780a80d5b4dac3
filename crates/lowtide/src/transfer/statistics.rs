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

/// Samples that nobody has fetched: five minutes.
const MAX_SAMPLES: usize = 15_000;

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
    lost_packets: AtomicU64,
    rtt_ns: AtomicU64,
    least_rtt_ns: AtomicU64,
    rtt_sum_ns: AtomicU64,
    rtt_samples: AtomicU64,
    cwnd: AtomicU64,
    inflight: AtomicU64,
    /// Somebody wants samples.
    is_recorded: AtomicBool,
    samples: Mutex<Samples>,
}

/// A copy of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SenderState {
    /// Packets that carried more than acknowledgments.
    pub(super) sent_packets: u64,
    pub(super) lost_packets: u64,
    /// Newest sample, milliseconds; `None` before the first one.
    pub(super) rtt_ms: Option<f64>,
    pub(super) min_rtt_ms: Option<f64>,
    /// Of all samples.
    pub(super) mean_rtt_ms: Option<f64>,
    /// Bytes.
    pub(super) cwnd: u64,
    /// Bytes.
    pub(super) inflight: u64,
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

    /// The samples since the last call.
    pub(super) fn take_samples(&self) -> Vec<Sample> {
        std::mem::take(&mut self.samples().done)
    }

    /// The same, and what has been seen since the last of them.
    pub(super) fn take_all_samples(&self) -> Vec<Sample> {
        let mut samples = self.samples();
        if samples.now.at_us > 0 {
            let now = samples.since;
            samples.end(now);
        }
        std::mem::take(&mut samples.done)
    }

    pub(super) fn state(&self) -> SenderState {
        let samples = self.rtt_samples.load(Relaxed);
        let ms = |ns: u64| (samples > 0).then_some(ns as f64 / 1e6);
        SenderState {
            sent_packets: self.sent_packets.load(Relaxed),
            lost_packets: self.lost_packets.load(Relaxed),
            rtt_ms: ms(self.rtt_ns.load(Relaxed)),
            min_rtt_ms: ms(self.least_rtt_ns.load(Relaxed)),
            mean_rtt_ms: ms(self.rtt_sum_ns.load(Relaxed) / samples.max(1)),
            cwnd: self.cwnd.load(Relaxed),
            inflight: self.inflight.load(Relaxed),
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

    fn on_loss(&self, loss: &LossSeen<'_>) {
        let lost = self.lost_packets.load(Relaxed) + loss.packets.len() as u64;
        self.lost_packets.store(lost, Relaxed);
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
