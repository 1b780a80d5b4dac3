//! ProbeBW: cycle the pacing gain around 1.
//!
//! Of eight phases of about one min_rtt each, the first probes for more bandwidth, the second
//! removes the queue that this built where there was none to find, the others cruise.

use super::Bbr;
use super::estimator::BandwidthEstimator;
use super::model::Model;
use super::phase::Phase;
use super::policy::Policy;
use crate::controller::AckEvent;
use crate::rng::SeededRng;
use crate::units::{Bytes, Rate, Time};

/// cwnd gain: twice the BDP, to bear delayed and aggregated acknowledgments (Linux
/// `bbr_cwnd_gain`).
pub(super) const CWND_GAIN: f64 = 2.0;

const DRAIN_GAIN: f64 = 0.75;
const PROBE: u8 = 0;
const DRAIN: u8 = 1;
const PHASES: u8 = 8;

/// Place in the gain cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    index: u8,
    began_at: Time,
}

impl Cycle {
    pub(super) fn new(now: Time) -> Self {
        Self {
            index: PROBE,
            began_at: now,
        }
    }

    /// Begins anywhere but in the draining phase, at random, so that flows which started together
    /// do not probe together (Linux `bbr_reset_probe_bw_mode`).
    pub(super) fn restart(&mut self, now: Time, rng: &mut SeededRng) {
        self.index = (PHASES - rng.below(u32::from(PHASES) - 1) as u8) % PHASES;
        self.began_at = now;
    }

    pub(super) fn is_probing(&self) -> bool {
        self.index == PROBE
    }

    /// Goes on to the next phase if it is time to. `bandwidth`: the estimator's; `policed`: the gain
    /// is 1 throughout, so that only time counts; `prime`: time counts, whatever is in flight (BBR′).
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        ack: &AckEvent<'_>,
        bandwidth: Rate,
        policed: bool,
        prime: bool,
        model: &Model,
        policy: &impl Policy,
    ) {
        let is_over = if policed {
            self.has_full_length(ack, model)
        } else if prime {
            self.has_full_length(ack, model) || (self.is_probing() && policy.ends_probe(model))
        } else {
            self.is_over(ack, bandwidth, model, policy)
        };
        if is_over {
            self.index = (self.index + 1) % PHASES;
            self.began_at = ack.now;
        }
    }

    fn has_full_length(&self, ack: &AckEvent<'_>, model: &Model) -> bool {
        ack.now.since(self.began_at) > model.min_rtt
    }

    fn is_over(
        &self,
        ack: &AckEvent<'_>,
        bandwidth: Rate,
        model: &Model,
        policy: &impl Policy,
    ) -> bool {
        let full_length = self.has_full_length(ack, model);
        let inflight_at = |gain| model.inflight_at(bandwidth, gain);
        match self.index {
            // Long enough to see the effect, and the extra volume is really in flight (a flow
            // with a small share may need several round trips), or does not fit.
            PROBE => {
                let gain = policy.probe_gain(model);
                let reached =
                    ack.bytes_lost > Bytes::ZERO || ack.prior_inflight >= inflight_at(gain);
                (full_length && reached) || policy.ends_probe(model)
            }
            // The queue is gone, or that of others would be drained.
            DRAIN => full_length || ack.prior_inflight <= inflight_at(1.0),
            _ => full_length,
        }
    }

    #[inline]
    pub(super) fn pacing_gain(&self, model: &Model, policy: &impl Policy) -> f64 {
        match self.index {
            PROBE => policy.probe_gain(model),
            DRAIN => DRAIN_GAIN,
            _ => policy.steady_gain(model),
        }
    }
}

impl<E: BandwidthEstimator, P: Policy> Bbr<E, P> {
    /// Linux `bbr_reset_probe_bw_mode`.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        self.cycle.restart(now, &mut self.rng);
        self.enter(Phase::ProbeBw);
    }

    /// Linux `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, ack: &AckEvent<'_>, bandwidth: Rate) {
        if self.model.phase != Phase::ProbeBw {
            return;
        }
        let policed = self.policer.rate().is_some();
        let prime = self.options.prime;
        self.cycle
            .on_ack(ack, bandwidth, policed, prime, &self.model, &self.policy);
        self.model.probing = self.cycle.is_probing();
    }
}
