//! Seeds for all that is random in a run, each derived from the run's one seed.
//!
//! Every consumer has a stream of its own, so that what one draws never shifts another: the losses
//! of a run are the same whichever host sends over the network and whatever its flows draw.

use super::direction::Direction;

/// Flows come after the streams of the network; the gap leaves room for more of those.
const FIRST_FLOW: u64 = 16;

/// A consumer of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Loss and jitter of one direction of the shared path.
    Path(Direction),
    /// What the queue of one direction decides by chance.
    Queue(Direction),
    /// A flow's source, controller and transport, by the flow's index.
    Flow(usize),
}

impl Stream {
    /// This stream's seed in the run of seed `run`.
    #[must_use]
    pub fn seed(self, run: u64) -> u64 {
        let number = match self {
            Self::Path(Direction::Forward) => 1,
            Self::Path(Direction::Reverse) => 2,
            Self::Queue(Direction::Forward) => 3,
            Self::Queue(Direction::Reverse) => 4,
            Self::Flow(index) => FIRST_FLOW + index as u64,
        };
        derive(run, number)
    }
}

/// The seed of stream `number` of a consumer that has been given `seed` (SplitMix64's finaliser
/// over the stream's number).
#[must_use]
pub fn derive(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_outputs_of_splitmix64() {
        // The first two outputs from state 0, as the reference implementation prints them.
        assert_eq!(derive(0, 1), 0xE220_A839_7B1D_CDAF);
        assert_eq!(derive(0, 2), 0x6E78_9E6A_A1B9_65F4);
        let forward = Stream::Path(Direction::Forward).seed(0);
        let reverse = Stream::Path(Direction::Reverse).seed(0);
        assert_eq!((forward, reverse), (derive(0, 1), derive(0, 2)));
        assert_eq!(Stream::Flow(3).seed(0), derive(0, 19));
    }
}
