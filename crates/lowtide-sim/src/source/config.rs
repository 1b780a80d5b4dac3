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
    /// Writes frames of a set size, and each `group` of them begins with a key frame of its own size.
    Frames {
        /// Frames a second.
        fps: u32,
        /// Bytes of a frame.
        bytes: Bytes,
        /// Bytes of a key frame.
        key: Bytes,
        /// How many frames from key frame to key frame.
        group: u32,
    },
    /// A live encoder that follows its transport: 30 times a second it writes what was taken since the
    /// last time, at most what makes this rate, and never has more than one such frame to send.
    Live(Rate),
    /// One after the other.
    Steps(Steps),
}
