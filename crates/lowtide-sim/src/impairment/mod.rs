//! What goes wrong behind a link.

use lowtide_cc::units::Duration;

/// Which packets vanish.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LossModel {
    /// None.
    #[default]
    None,
    /// Each with this probability, independently.
    Random(f64),
    /// Gilbert–Elliott: a two-state Markov chain stepped at each packet.
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

/// Random extra delay, uniform in `0..=max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The largest extra delay.
    pub max: Duration,
    /// Whether a packet may overtake another; otherwise it waits for those before it.
    pub reorder: bool,
}

/// Packets are held and released together at multiples of `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// The time between two releases.
    pub period: Duration,
}
