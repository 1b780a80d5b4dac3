//! Between two reconfigurations: whether packets queue, and which bandwidth counts then.

use crate::controller::AckEvent;
use crate::controllers::bbr::{Model, Phase};
use crate::estimators::{AdaptiveKalman, Noise};
use crate::units::{Duration, Rate};

/// Noise of both filters. The authors' values are variances in the units of their fixed-point
/// arithmetic; as they do not change with what is measured, only their ratios count: the gains are
/// 0.88, 0.65, 0.62, … whatever the unit.
const NOISE: Noise = Noise {
    state_variance: 25.0,
    process: 4.0,
    measurement: 4.0,
};
/// Nothing is learnt of the noise.
const FORGETTING: f64 = 1.0;

/// The gain of a probe into a queue.
const QUEUED_PROBE_GAIN: f64 = 1.05;
/// The gain of a probe without one: BBR's.
const PROBE_GAIN: f64 = 1.25;

/// Filters of the highest bandwidth of each round and of the RTT.
#[derive(Clone, Debug)]
pub struct Cruise {
    /// How far the path's own delay moves.
    fluctuation: Duration,
    bandwidth: Option<AdaptiveKalman>,
    rtt: Option<AdaptiveKalman>,
    round_best: Rate,
}

fn filter(filter: &mut Option<AdaptiveKalman>, sample: f64) {
    filter
        .get_or_insert_with(|| AdaptiveKalman::new(sample, NOISE, FORGETTING))
        .update(sample);
}

impl Cruise {
    /// The authors' threshold.
    pub const DEFAULT_FLUCTUATION: Duration = Duration::from_millis(10);

    /// An RTT above the minimum by more than `fluctuation` shows a queue.
    #[must_use]
    pub fn new(fluctuation: Duration) -> Self {
        Self {
            fluctuation,
            bandwidth: None,
            rtt: None,
            round_best: Rate::ZERO,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        if let Some(rtt) = ack.rtt {
            filter(&mut self.rtt, rtt.as_nanos() as f64);
        }
        let Some(sample) = &ack.rate_sample else {
            return;
        };
        if model.rounds.starts_now() {
            let best = core::mem::take(&mut self.round_best);
            if model.phase == Phase::ProbeBw && !best.is_zero() {
                filter(&mut self.bandwidth, best.as_f64());
            }
        }
        self.round_best = self.round_best.max(sample.delivery_rate);
    }

    /// The filtered bandwidth while a queue stands; else `None`.
    fn queued_bandwidth(&self, model: &Model) -> Option<Rate> {
        let threshold = model.min_rtt + self.fluctuation;
        let is_queued = self
            .rtt
            .as_ref()
            .is_some_and(|rtt| rtt.state() >= threshold.as_nanos() as f64);
        if model.phase != Phase::ProbeBw || !is_queued {
            return None;
        }
        let filtered = self.bandwidth.as_ref()?.state();
        Some(Rate::from_bytes_per_sec(filtered as u64))
    }

    pub(super) fn bandwidth(&self, model: &Model) -> Rate {
        self.queued_bandwidth(model).unwrap_or(model.bandwidth)
    }

    pub(super) fn probe_gain(&self, model: &Model) -> f64 {
        match self.queued_bandwidth(model) {
            Some(_) => QUEUED_PROBE_GAIN,
            None => PROBE_GAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::delivery_rate::RateSample;
    use crate::events::{MSS, ack, ms, packet, rate_sample};
    use crate::units::Time;

    #[test]
    fn a_filtered_rtt_ten_ms_above_the_minimum_takes_the_filtered_bandwidth_and_small_probes() {
        let mut cruise = Cruise::new(ms(10));
        let mut model = Model::new(&Config::for_datagram(MSS));
        model.phase = Phase::ProbeBw;
        model.min_rtt = ms(40);
        model.bandwidth = Rate::from_mbps(20);
        // Each acknowledgment begins a round.
        let mut hear = |rtt_ms: u64, mbps: u64| {
            let prior_delivered = model.rounds.delivered();
            let packets = [packet(0, Time::ZERO)];
            let ack = AckEvent {
                rate_sample: Some(RateSample {
                    prior_delivered,
                    total_delivered: prior_delivered + MSS,
                    ..rate_sample(Rate::from_mbps(mbps))
                }),
                ..ack(Time::ZERO, ms(rtt_ms), &packets)
            };
            model.rounds.on_ack(&ack);
            cruise.on_ack(&ack, &model);
            let bandwidth = cruise.bandwidth(&model).as_mbps();
            (bandwidth, cruise.probe_gain(&model))
        };
        // By hand, P = 25 and Q = R = 4: the gains are 29/33 = 0.8788, then 7.5152/11.5152 = 0.6526,
        // then 0.6230. The filtered RTT is 40, 46.5, then 51.8 ms.
        assert_eq!(hear(40, 8), (20.0, 1.25));
        assert_eq!(hear(50, 16), (20.0, 1.25));
        // A round is over with the acknowledgment that begins the next: one of 8, one of 16 Mbit/s.
        let (bandwidth, gain) = hear(55, 4);
        let by_hand = 8.0 + 0.652_632 * 8.0;
        assert!((bandwidth - by_hand).abs() < 1e-3, "{bandwidth}");
        assert_eq!(gain, 1.05);
        model.phase = Phase::ProbeRtt;
        assert_eq!(cruise.bandwidth(&model), Rate::from_mbps(20));
    }
}
