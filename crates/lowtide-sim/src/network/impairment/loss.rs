//! Packets that vanish.

use crate::network::chance::Chance;

/// Which packets vanish. Probabilities are in `0..=1`; values outside are taken as the nearest
/// bound, NaN as zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum LossModel {
    /// None.
    #[default]
    None,
    /// Each with this probability, independently.
    Random(f64),
    /// Gilbert–Elliott: a two-state Markov chain stepped at each packet (Gilbert 1960, Elliott
    /// 1963).
    GilbertElliott {
        /// Probability to go from the good to the bad state.
        good_to_bad: f64,
        /// Probability to go from the bad to the good state.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// A loss model at work.
#[derive(Clone, Debug)]
pub struct LossProcess {
    model: LossModel,
    bad: bool,
    chance: Chance,
}

impl LossProcess {
    /// A process in the good state.
    #[must_use]
    pub fn new(model: LossModel, seed: u64) -> Self {
        Self {
            model,
            bad: false,
            chance: Chance::new(seed),
        }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub fn drops(&mut self) -> bool {
        match self.model {
            LossModel::None => false,
            LossModel::Random(p) => self.chance.happens(p),
            LossModel::GilbertElliott {
                good_to_bad,
                bad_to_good,
                loss_good,
                loss_bad,
            } => {
                let change = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.chance.happens(change);
                self.chance
                    .happens(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_shares_and_bursts_are_those_of_the_model() {
        let n = 400_000;
        let mut random = LossProcess::new(LossModel::Random(0.01), 1);
        let lost = (0..n).filter(|_| random.drops()).count();
        // Mean 4000, standard deviation 63.
        assert!((3_700..4_300).contains(&lost), "{lost}");
        assert!(!LossProcess::new(LossModel::Random(0.0), 1).drops());
        assert!(LossProcess::new(LossModel::Random(1.0), 1).drops());

        // In the bad state for 1/(1 + 0.1/0.001) of the packets, bursts of 10 on average.
        let model = LossModel::GilbertElliott {
            good_to_bad: 0.001,
            bad_to_good: 0.1,
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let mut bursty = LossProcess::new(model, 1);
        let drops: Vec<bool> = (0..n).map(|_| bursty.drops()).collect();
        let lost = drops.iter().filter(|d| **d).count();
        let bursts = drops.windows(2).filter(|w| !w[0] && w[1]).count();
        assert!((3_300..4_700).contains(&lost), "{lost}");
        let length = lost as f64 / bursts as f64;
        assert!((8.5..11.5).contains(&length), "{length}");
    }
}
