//! Which application a flow has.

use lowtide_cc::units::{Bytes, Duration, Rate};

/// An application that writes to a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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

/// What an application does from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Step {
    /// Always has data.
    Bulk,
    /// Writes packet after packet at this rate. Zero: nothing.
    Rate(Rate),
    /// Writes this much at once, then nothing.
    Volume(Bytes),
}

/// The most steps of a source.
pub const MAX_STEPS: usize = 8;

/// What an application does one after the other, each from a time after its start on; the last
/// stays.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Steps {
    steps: [(Duration, Step); MAX_STEPS],
    count: usize,
}

impl Steps {
    /// `None` unless there are 1 to [`MAX_STEPS`], the first at zero, their times rising.
    #[must_use]
    pub fn new(list: &[(Duration, Step)]) -> Option<Self> {
        let begins = list.first().is_some_and(|(at, _)| at.is_zero());
        let rises = list.windows(2).all(|w| w[0].0 < w[1].0);
        if !begins || !rises || list.len() > MAX_STEPS {
            return None;
        }
        let mut steps = [(Duration::ZERO, Step::Bulk); MAX_STEPS];
        steps[..list.len()].copy_from_slice(list);
        let count = list.len();
        Some(Self { steps, count })
    }

    /// Each step, and when it begins.
    #[must_use]
    pub fn list(&self) -> &[(Duration, Step)] {
        &self.steps[..self.count]
    }
}
