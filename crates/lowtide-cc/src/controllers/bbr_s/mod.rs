//! BBR-S (Chiariotti et al. 2021): the sender filters capacity samples without bias.
//!
//! BBR v1 takes the highest delivery rate of ten rounds for the bandwidth. Here the sender samples
//! the capacity every 10 ms, or each shorter round trip, from the slope of the RTT ([`CapacitySampler`]), knows that a sample
//! without a queue cannot exceed what it sent, and filters accordingly ([`Skip`]). Startup also ends when the queue
//! is five times the path, and ProbeRTT keeps half a BDP in flight.

pub(crate) mod entry;

mod capacity;
mod silence;
mod skip;

pub use self::capacity::{CapacitySample, CapacitySampler};
use self::silence::Silence;
pub use self::skip::{MIN_CAPACITY, Mode, Skip};
use crate::controller::{AckEvent, FilterSnapshot, PacketSent};
use crate::controllers::bbr::{BandwidthEstimator, MaxBandwidth, Model, Phase, Policy};
use crate::estimators::{Adaptation, NoiseBounds};
use crate::state::State;
use crate::units::{Bytes, Duration, Rate, Time};

/// rtt/min_rtt at which Startup ends (§III).
const STARTUP_ENDS_AT: u64 = 6;

/// Settings of the estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkipConfig {
    /// Length of a step (T_k, 10 ms); of a sample at most a round trip.
    pub step: Duration,
    /// Fewest acknowledgments of a step; it lasts until it has them.
    pub min_acks: u32,
    /// rtt/min_rtt above which packets have queued: they show the capacity even where it exceeds
    /// what was sent.
    pub queue_ratio: f64,
    /// How the filter learns its noise.
    pub adaptation: Adaptation,
    /// Between what it keeps its noise.
    pub bounds: NoiseBounds,
}

impl SkipConfig {
    /// The paper's step. It prints none of the others; `docs/algorithms/bbr-s.md` measures them.
    pub const DEFAULT: Self = Self {
        step: Duration::from_millis(10),
        min_acks: 4,
        queue_ratio: 1.1,
        adaptation: Adaptation::DEFAULT,
        bounds: NoiseBounds::DEFAULT,
    };
}

/// SKIP in the place of the maximum filter, which Startup still paces by.
#[derive(Clone, Debug)]
pub struct SkipEstimator {
    max: MaxBandwidth,
    sampler: CapacitySampler,
    skip: Skip,
    silence: Silence,
    in_startup: bool,
    floor: Rate,
}

impl SkipEstimator {
    /// An estimator that has seen nothing.
    #[must_use]
    pub fn new(config: &SkipConfig) -> Self {
        let step = config.step.max(Duration::from_micros(1));
        Self {
            max: MaxBandwidth::default(),
            sampler: CapacitySampler::new(step, config.min_acks, config.queue_ratio),
            skip: Skip::new(config.adaptation, config.bounds),
            silence: Silence::new(step),
            in_startup: true,
            floor: Rate::ZERO,
        }
    }
}

impl BandwidthEstimator for SkipEstimator {
    fn on_packet_sent(&mut self, sent: &PacketSent, model: &Model) {
        let was_empty = self.silence.on_packet_sent(sent, model.min_rtt);
        if was_empty {
            self.sampler.restart();
        }
        if sent.inflight <= sent.bytes {
            self.silence
                .expect(sent.now, sent.now, self.bandwidth(), model.max_datagram);
        }
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        self.max.on_ack(ack, model);
        self.floor = model.min_rate();
        if let Some(sample) = self.sampler.on_ack(ack, model.min_rtt) {
            self.skip.on_sample(&sample);
        }
        self.silence.on_ack(ack, model.rounds.count());
        match ack.packets.last() {
            // ProbeRTT's window lets the path fall silent.
            Some(newest) if !ack.inflight.is_zero() && model.phase != Phase::ProbeRtt => {
                let estimate = self.bandwidth();
                self.silence
                    .expect(ack.now, newest.sent_at, estimate, model.max_datagram);
            }
            _ => self.silence.expect_nothing(),
        }
    }

    fn on_phase(&mut self, phase: Phase) {
        self.in_startup = phase == Phase::Startup;
    }

    fn on_wakeup(&mut self, now: Time, _model: &Model) {
        if self.silence.due().is_none_or(|due| due > now) {
            return;
        }
        self.sampler.restart();
        if self.skip.on_silence() {
            // After an outage there is nothing more to learn before something arrives.
            self.silence.expect_nothing();
        } else {
            self.silence.next_step(now);
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.silence.due()
    }

    fn bandwidth(&self) -> Rate {
        if self.in_startup {
            self.max.bandwidth()
        } else {
            self.skip
                .capacity()
                .max(self.floor)
                .min(self.max.bandwidth())
        }
    }

    fn filter(&self) -> Option<FilterSnapshot> {
        Some(self.skip.snapshot())
    }

    fn modes(&self) -> &'static [State] {
        Mode::STATES
    }
}

/// Ends Startup on a long queue, and keeps half a BDP in flight in ProbeRTT.
#[derive(Clone, Copy, Debug)]
pub struct LowDelay;

impl Policy for LowDelay {
    fn ends_startup(&self, _ack: &AckEvent<'_>, model: &Model) -> bool {
        // Without an estimate there is nothing to go on with.
        !model.bandwidth.is_zero()
            && model.min_rtt != Duration::MAX
            && model.rtt >= model.min_rtt * STARTUP_ENDS_AT
    }

    fn probe_rtt_window(&self, model: &Model) -> Bytes {
        model.bdp(model.bandwidth, 0.5)
    }
}
