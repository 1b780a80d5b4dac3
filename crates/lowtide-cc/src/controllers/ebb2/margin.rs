//! δ: what the window holds beyond the forecast, as a share of it.
//!
//! Forecasts of a moving link err. What the window falls short is capacity that passes unused, what
//! it exceeds is queue. The margin rises while more than the wanted share of the capacity stays
//! unused and falls while less does, whatever the errors are distributed like. It sinks to zero, and
//! below only where packets are lost to congestion: a loss is worth some unused bytes.

use super::Tuning;

/// The smallest δ: no forecast is left of the window then.
const NOTHING: f64 = -1.0;

/// δ, and ℓ, the share of packets that is lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Margin {
    share: f64,
    lost: f64,
}

impl Margin {
    /// `bytes` arrived, and `unused` bytes could have arrived besides, since the last arrival.
    pub(super) fn on_arrival(&mut self, tuning: &Tuning, bytes: f64, unused: f64, cwnd: f64) {
        if self.is_policed(tuning) {
            return;
        }
        let step = tuning.gain * (unused - tuning.idle * (bytes + unused)) / cwnd;
        if step < 0.0 && self.share < 0.0 {
            self.share = (self.share - step).min(0.0);
            return;
        }
        let sinks_to = if step < 0.0 { 0.0 } else { NOTHING };
        self.share = (self.share + step).clamp(sinks_to, tuning.most);
    }

    /// `bytes` were delivered.
    pub(super) fn on_delivered(&mut self, tuning: &Tuning, bytes: f64, cwnd: f64) {
        self.lost -= bytes / (bytes + tuning.memory * cwnd) * self.lost;
    }

    /// `bytes` were lost, while packets met a queue or not.
    pub(super) fn on_loss(&mut self, tuning: &Tuning, bytes: f64, queued: bool, cwnd: f64) {
        self.lost += bytes / (bytes + tuning.memory * cwnd) * (1.0 - self.lost);
        let tolerated = if queued {
            tuning.loss_queued
        } else {
            tuning.loss_policed
        };
        let counted = bytes * (1.0 - tolerated / self.lost).max(0.0);
        self.share = (self.share - tuning.gain * tuning.loss_price * counted / cwnd).max(NOTHING);
    }

    /// Forgets δ: it was found in another state of the link.
    pub(super) fn restart(&mut self) {
        self.share = 0.0;
    }

    /// Whether so much is lost that an idle link is no invitation.
    pub(super) fn is_policed(&self, tuning: &Tuning) -> bool {
        self.lost > tuning.loss_policed
    }

    /// The part of what is sent that arrives twice over: a policer lets a bucket pass at any rate, and
    /// what is more than it refills is lost.
    pub(super) fn arriving(&self) -> f64 {
        (1.0 - self.lost) * (1.0 - self.lost)
    }

    /// How far losses leave the link's state readable, from 0, where as many are lost as a policer drops, to 1. By
    /// their square: a per cent that radio or noise takes says nothing.
    pub(super) fn unpoliced(&self, tuning: &Tuning) -> f64 {
        let lost = self.lost / tuning.loss_policed;
        (1.0 - lost * lost).max(0.0)
    }

    /// How calm the link is, from 0, where δ is `lively` or a policer drops, to 1, where its rate does not move.
    pub(super) fn calm(&self, tuning: &Tuning) -> f64 {
        let still = 1.0 - self.share.abs() / tuning.lively;
        still.min(self.unpoliced(tuning)).max(0.0)
    }

    /// ℓ.
    pub(super) fn lost(&self) -> f64 {
        self.lost
    }

    /// δ.
    pub(super) fn share(&self) -> f64 {
        self.share
    }
}
