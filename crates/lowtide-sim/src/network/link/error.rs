//! Why a link cannot exist.

use lowtide_cc::units::Time;

/// The longest trace, 4 hours: its index takes 4 bytes a millisecond.
pub const MAX_TRACE_MS: u32 = 4 * 3600 * 1000;

/// Why a link cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// An empty schedule.
    #[error("a schedule needs at least one step")]
    NoSteps,
    /// What the rate is before cannot be known.
    #[error("the first step must start at 0 s, not at {0}")]
    FirstStepNotAtZero(Time),
    /// Index of the step that does not come after the one before it.
    #[error("step {0} does not start after the one before it")]
    StepsNotIncreasing(usize),
    /// The repetition would have no length.
    #[error("the trace has no length: its last timestamp is 0, so that it cannot repeat")]
    EmptyRepetition,
    /// A schedule was to follow one that has no end, or never ends itself.
    #[error("a schedule that repeats neither ends nor follows another")]
    RepetitionContinued,
    /// All rates are zero.
    #[error("the rate is never above zero: nothing would ever leave this link")]
    NothingEverLeaves,
    /// An empty trace.
    #[error("a trace needs at least one opportunity")]
    NoOpportunities,
    /// Index of the timestamp that is lower than the one before it.
    #[error("timestamp {0} is lower than the one before it")]
    OpportunitiesDecrease(usize),
    /// The last timestamp, in ms.
    #[error("the trace is {0} ms long; the most is {MAX_TRACE_MS} ms (4 hours)")]
    TraceTooLong(u32),
}
