//! The share of packets that are lost, averaged (§5.3).

/// Weight of a packet.
const GAIN: f64 = 1.0 / 16.0;
/// Packets that arrived after which an old average counts no less (picoquic's scope).
const SCOPE: u64 = 32;

/// Average over packets, brought up to date at each loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossAverage {
    share: f64,
    newest: u64,
}

impl LossAverage {
    /// Packet `number` was lost, those between it and the last one were not. The average with it; a
    /// packet before the last one is not counted.
    pub(super) fn on_loss(&mut self, number: u64) -> f64 {
        if number > self.newest {
            let arrived = (number - self.newest).min(SCOPE);
            for _ in 0..arrived {
                self.share *= 1.0 - GAIN;
            }
            self.share += (1.0 - self.share) * GAIN;
            self.newest = number;
        }
        self.share
    }

    /// Counts anew, from the packets after the last one lost.
    pub(super) fn restart(&mut self) {
        self.share = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_weighs_a_sixteenth_and_packets_that_arrive_let_it_fade() {
        let mut average = LossAverage::default();
        assert_eq!(average.on_loss(100), 1.0 / 16.0);
        // 15/16 of it, and 1/16 of the rest.
        let second = average.on_loss(101);
        assert!((second - (0.058_593_75 + 0.941_406_25 / 16.0)).abs() < 1e-12);
        assert_eq!(average.on_loss(50), second, "an old packet");
        let faded = libm::pow(15.0 / 16.0, 32.0) * second;
        let third = average.on_loss(10_000);
        assert!((third - (faded + (1.0 - faded) / 16.0)).abs() < 1e-12);
        average.restart();
        assert_eq!(average.on_loss(10_001), 1.0 / 16.0);
    }
}
