//! `bw_shortterm` and `inflight_shortterm`: what losses say of the present, until the next probe
//! (§5.5.10.3).
//!
//! While the flow does not probe, each round with a loss lowers both bounds to what was delivered
//! in it, or by 30 % if that is less of a cut. REFILL forgets them.

use super::long_term::BETA;
use super::model::Model;
use crate::delivery_rate::RateSample;
use crate::units::{Bytes, Rate, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// [`Rate::MAX`]: no bound.
    pub(super) bandwidth: Rate,
    /// [`Bytes::MAX`]: no bound.
    pub(super) inflight: Bytes,
    /// Highest rate and volume delivered in the loss round (`bw_latest`, `inflight_latest`).
    bandwidth_latest: Rate,
    pub(super) inflight_latest: Bytes,
    /// A packet sent when this much had been delivered ends the loss round, which begins with the
    /// round's first loss (`loss_round_delivered`).
    round_ends_at: Bytes,
    /// The acknowledgment at hand ended a loss round.
    pub(super) round_starts: bool,
    is_loss_in_round: bool,
    /// When the round's first loss was found.
    loss_found_at: Option<Time>,
}

impl ShortTerm {
    pub(super) fn new() -> Self {
        Self {
            bandwidth: Rate::MAX,
            inflight: Bytes::MAX,
            bandwidth_latest: Rate::ZERO,
            inflight_latest: Bytes::ZERO,
            round_ends_at: Bytes::ZERO,
            round_starts: false,
            is_loss_in_round: false,
            loss_found_at: None,
        }
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_bounds(&mut self) {
        self.bandwidth = Rate::MAX;
        self.inflight = Bytes::MAX;
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bandwidth_latest = Rate::ZERO;
        self.inflight_latest = Bytes::ZERO;
    }

    /// Bounds at least as wide as these, after a spurious loss.
    pub(super) fn widen(&mut self, bandwidth: Rate, inflight: Bytes) {
        self.is_loss_in_round = false;
        self.bandwidth = self.bandwidth.max(bandwidth);
        self.inflight = self.inflight.max(inflight);
    }

    /// `NoteLoss`: the first loss begins a round.
    pub(super) fn on_loss(&mut self, now: Time, delivered: Bytes) {
        if !self.is_loss_in_round {
            self.round_ends_at = delivered;
            self.loss_found_at = Some(now);
        }
        self.is_loss_in_round = true;
    }

    /// `UpdateLatestDeliverySignals`. `delivered`: in total, by this acknowledgment too.
    pub(super) fn on_ack(&mut self, now: Time, sample: Option<&RateSample>, delivered: Bytes) {
        // A loss that this acknowledgment has shown: the round begins after what it delivered.
        if self.loss_found_at.take() == Some(now) {
            self.round_ends_at = delivered;
        }
        self.round_starts = false;
        let Some(sample) = sample else {
            return;
        };
        self.bandwidth_latest = self.bandwidth_latest.max(sample.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.prior_delivered >= self.round_ends_at {
            self.round_ends_at = delivered;
            self.round_starts = true;
        }
    }

    /// The rest of `UpdateCongestionSignals`: at the end of a round its losses lower the bounds.
    pub(super) fn adapt(&mut self, model: &Model) {
        if !self.round_starts {
            return;
        }
        if self.is_loss_in_round && !model.phase.is_probing() {
            self.lower(model.max_bandwidth, model.cwnd);
        }
        self.is_loss_in_round = false;
    }

    /// `InitLowerBounds`, `LossLowerBounds`.
    fn lower(&mut self, max_bandwidth: Rate, cwnd: Bytes) {
        if self.bandwidth == Rate::MAX {
            self.bandwidth = max_bandwidth;
        }
        if self.inflight == Bytes::MAX {
            self.inflight = cwnd;
        }
        self.bandwidth = self.bandwidth.mul_f64(BETA).max(self.bandwidth_latest);
        self.inflight = self.inflight.mul_f64(BETA).max(self.inflight_latest);
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && self.round_starts
        {
            self.bandwidth_latest = sample.delivery_rate;
            self.inflight_latest = sample.delivered;
        }
    }
}
