//! What a sender has done so far.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use lowtide_cc::controller::PacketSent;
use lowtide_quic::{AckSeen, LossSeen, Observer, Observers};
use serde::{Deserialize, Serialize};

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
    fn on_sent(&self, _sent: &PacketSent) {
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
        self.cwnd.store(ack.controller.cwnd().get(), Relaxed);
        self.inflight.store(ack.inflight.get(), Relaxed);
    }

    fn on_loss(&self, loss: &LossSeen<'_>) {
        let lost = self.lost_packets.load(Relaxed) + loss.packets.len() as u64;
        self.lost_packets.store(lost, Relaxed);
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
