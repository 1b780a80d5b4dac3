//! δ: what the window holds beyond the forecast, as a share of it.
//!
//! Forecasts of a moving link err. What the window falls short is capacity that passes unused, what
//! it exceeds is queue. The margin rises while more than the wanted share of the capacity stays
//! unused and falls while less does, whatever the errors are distributed like. It sinks to zero, and
//! below only where packets are lost to congestion: a loss is worth some unused bytes.

use super::Tuning;

/// Losses up to this share are no sign of congestion, even where packets meet a queue: radio links
/// and paths lose as much by themselves.
const QUEUED_LOSS: f64 = 0.02;
/// Losses up to this share are none where packets meet no queue. A policer loses more, and there
/// an idle link is no invitation.
const UNQUEUED_LOSS: f64 = 0.07;
/// The forecast may grow to at least this share of what it may grow to without losses.
const LEAST_GROWTH: f64 = 0.3;
/// Windows over which the share of losses is taken.
const LOSS_MEMORY: f64 = 4.0;

/// δ.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Margin {
    share: f64,
    /// Lost packets as a share of all, over a few windows.
    lost: f64,
}

impl Margin {
    /// `bytes` arrived, and `unused` bytes could have arrived besides, since the last arrival.
    pub(super) fn on_arrival(&mut self, tuning: &Tuning, bytes: f64, unused: f64, cwnd: f64) {
        if self.is_policed() {
            return;
        }
        let step = tuning.gain * (unused - tuning.idle * (bytes + unused)) / cwnd;
        if step > 0.0 {
            self.share = (self.share + step).min(tuning.most);
        } else if self.share > 0.0 {
            self.share = (self.share + step).max(0.0);
        }
    }

    /// `bytes` were delivered.
    pub(super) fn on_delivered(&mut self, bytes: f64, cwnd: f64) {
        self.lost -= bytes / (bytes + LOSS_MEMORY * cwnd) * self.lost;
    }

    /// `bytes` were lost, while packets met a queue or not.
    pub(super) fn on_loss(&mut self, tuning: &Tuning, bytes: f64, queued: bool, cwnd: f64) {
        self.lost += bytes / (bytes + LOSS_MEMORY * cwnd) * (1.0 - self.lost);
        let tolerated = if queued { QUEUED_LOSS } else { UNQUEUED_LOSS };
        let counted = bytes * (1.0 - tolerated / self.lost).max(0.0);
        let step = tuning.gain * tuning.loss_price * counted / cwnd;
        self.share = (self.share - step).max(tuning.least);
    }

    /// `bytes` that were taken for lost arrived after all.
    pub(super) fn on_spurious_loss(&mut self, tuning: &Tuning, bytes: f64, cwnd: f64) {
        self.lost = (self.lost - bytes / (bytes + LOSS_MEMORY * cwnd)).max(0.0);
        if self.share < 0.0 {
            self.share = (self.share + tuning.gain * tuning.loss_price * bytes / cwnd).min(0.0);
        }
    }

    /// Whether so much is lost that an idle link is no invitation.
    pub(super) fn is_policed(&self) -> bool {
        self.lost > UNQUEUED_LOSS
    }

    /// What growth is worth where a share of it is lost, from 1 down: a policer lets a bucket pass at any
    /// rate, and what is more than it refills is lost.
    pub(super) fn arriving(&self, tuning: &Tuning) -> f64 {
        (1.0 - tuning.loss_price * self.lost).max(LEAST_GROWTH)
    }

    /// How calm the link is, from 0, where the margin is `lively` or a policer drops, to 1, where its rate
    /// does not move. By the square of the losses: a per cent that radio or noise takes says nothing.
    pub(super) fn calm(&self, lively: f64) -> f64 {
        let lost = self.lost / UNQUEUED_LOSS;
        (1.0 - (self.share.abs() / lively).max(lost * lost)).max(0.0)
    }

    /// δ, from [`Tuning::least`] to [`Tuning::most`].
    pub(super) fn share(&self) -> f64 {
        self.share
    }
}
