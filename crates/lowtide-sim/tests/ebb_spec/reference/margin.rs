//! §9: the margin δ and the share of losses ℓ.

const GAIN: f64 = 0.07;
/// The share of losses that is tolerated without a queue.
const TOLERATED_LOSS: f64 = 0.07;
const LOSS_PRICE: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Margin {
    pub(super) idle: f64,
    pub(super) delta: f64,
    pub(super) loss: f64,
}

impl Margin {
    pub(super) fn delivered(&mut self, bytes: f64, cwnd: f64) {
        self.loss -= bytes / (bytes + 4.0 * cwnd) * self.loss;
    }

    pub(super) fn arrival(&mut self, bytes: f64, unused: f64, cwnd: f64) {
        if self.loss > TOLERATED_LOSS {
            return;
        }
        let step = GAIN * (unused - self.idle * (bytes + unused)) / cwnd;
        if step > 0.0 {
            self.delta = (self.delta + step).min(4.0);
        } else if self.delta > 0.0 {
            self.delta = (self.delta + step).max(0.0);
        }
    }

    pub(super) fn lost(&mut self, bytes: f64, queued: bool, cwnd: f64) {
        self.loss += bytes / (bytes + 4.0 * cwnd) * (1.0 - self.loss);
        let tolerated = if queued { 0.02 } else { TOLERATED_LOSS };
        let blamed = bytes * (1.0 - tolerated / self.loss).max(0.0);
        self.delta = (self.delta - GAIN * LOSS_PRICE * blamed / cwnd).max(-0.5);
    }

    pub(super) fn spurious(&mut self, bytes: f64, cwnd: f64) {
        self.loss = (self.loss - bytes / (bytes + 4.0 * cwnd)).max(0.0);
        if self.delta < 0.0 {
            self.delta = (self.delta + GAIN * LOSS_PRICE * bytes / cwnd).min(0.0);
        }
    }

    pub(super) fn calm(&self, x: f64) -> f64 {
        (1.0 - (self.delta.abs() / x).max(self.loss / 0.01)).max(0.0)
    }
}
