//! The four phases, each with its multiple of the nominal rate.

use crate::state::{State, StateKind};

/// Where C4 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Doubles the rate until it no longer grows.
    Initial,
    /// An era below the nominal rate: what was queued drains, and what the era before has shown comes in.
    Recovery,
    /// At the nominal rate.
    Cruise,
    /// An era above it, to see whether there is more.
    Push,
}

impl Phase {
    /// All of them, for plots.
    pub(super) const STATES: &[State] = &[
        State::new(Self::Initial.name(), StateKind::Start),
        State::new(Self::Recovery.name(), StateKind::Drain),
        State::new(Self::Cruise.name(), StateKind::Steady),
        State::new(Self::Push.name(), StateKind::Up),
    ];

    /// Whether `next` may follow. Recovery and Cruise give way to Initial where the RTT proves to vary.
    pub(super) const fn may_lead_to(self, next: Self) -> bool {
        match self {
            Self::Initial => matches!(next, Self::Recovery),
            Self::Recovery => matches!(next, Self::Cruise | Self::Initial),
            Self::Cruise => matches!(next, Self::Push | Self::Recovery | Self::Initial),
            Self::Push => matches!(next, Self::Recovery | Self::Initial),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Initial => "Initial",
            Self::Recovery => "Recovery",
            Self::Cruise => "Cruise",
            Self::Push => "Push",
        }
    }
}
