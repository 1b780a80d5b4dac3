//! The states that a controller, or the filter of its bandwidth estimate, can be in: what plots and
//! legends show without knowing the algorithm.

/// A state: a phase of a controller, or a mode of its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Name, as in [`Snapshot::phase`](crate::controller::Snapshot::phase) or
    /// [`FilterSnapshot::mode`](crate::controller::FilterSnapshot::mode).
    pub name: &'static str,
    /// What is done in the state.
    pub kind: StateKind,
}

impl State {
    /// A state of this name.
    #[must_use]
    pub const fn new(name: &'static str, kind: StateKind) -> Self {
        Self { name, kind }
    }
}

/// What a controller does in a state, or a filter with samples; plots give each kind a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StateKind {
    /// Keeps what it has, with small corrections; a filter: takes samples as they are.
    #[default]
    Steady,
    /// Looks for the path's capacity from nothing.
    Start,
    /// Looks for the path's capacity from nothing, with care.
    CarefulStart,
    /// Empties a queue of its own making.
    Drain,
    /// Steady, but for times in which its pacing gain is above or below 1: those are [`Up`](Self::Up)
    /// and [`Down`](Self::Down).
    GainCycle,
    /// Looks for more; a filter: follows a rise.
    Up,
    /// Gives way; a filter: knows a lower bound only.
    Down,
    /// Fills the pipe before it looks for more.
    Refill,
    /// Looks for the path's delay.
    ProbeRtt,
    /// Answers losses or competitors; a filter: follows a fall.
    Recovery,
    /// A filter: leaves samples aside.
    Suspended,
    /// Nothing arrives.
    Outage,
}
