//! Which application a flow has.

use lowtide_cc::units::{Bytes, Duration, Rate};

use super::steps::Steps;

/// An application that writes to a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceConfig {
    /// Always has data.
    Bulk,
    /// Writes this much at the start, then nothing.
    Sized(Bytes),
    /// Writes packet after packet at this rate. Zero: nothing.
    ConstantRate(Rate),
    /// Writes packet after packet at `rate` during `on`, is silent during `off`, and again.
    OnOff {
        /// Length of a busy period.
        on: Duration,
        /// Length of a silent period.
        off: Duration,
        /// Rate in a busy period.
        rate: Rate,
    },
    /// Writes one video frame every `1 / fps`, of `rate / fps` bytes on average, with sizes spread
    /// evenly within ± `spread` (0..=1) of it.
    Video {
        /// Mean bit rate.
        rate: Rate,
        /// Frames a second.
        fps: u32,
        /// Relative spread of the frame sizes.
        spread: f64,
    },
    /// One after the other.
    Steps(Steps),
}
