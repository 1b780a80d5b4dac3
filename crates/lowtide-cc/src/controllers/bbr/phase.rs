//! The four phases.

use crate::state::{State, StateKind};

/// Where the state machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Doubles the sending rate each round until the pipe is full.
    Startup,
    /// Empties the queue that Startup built.
    Drain,
    /// Cycles the pacing gain to find more bandwidth and to leave no queue.
    ProbeBw,
    /// Empties the pipe to see the propagation delay.
    ProbeRtt,
}

impl Phase {
    /// All of them, for plots.
    pub const STATES: &[State] = &[
        State::new(Self::Startup.name(), StateKind::Start),
        State::new(Self::Drain.name(), StateKind::Drain),
        State::new(Self::ProbeBw.name(), StateKind::GainCycle),
        State::new(Self::ProbeRtt.name(), StateKind::ProbeRtt),
    ];

    /// Whether `next` may follow: the arrows in the picture at the top of `bbr`. ProbeBW begins
    /// anew once a policer's rate has been in use for long enough.
    pub(super) const fn may_lead_to(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Startup, Self::Drain | Self::ProbeRtt)
                | (Self::Drain, Self::ProbeBw | Self::ProbeRtt)
                | (Self::ProbeBw, Self::ProbeBw | Self::ProbeRtt)
                | (Self::ProbeRtt, Self::ProbeBw | Self::Startup)
        )
    }

    /// The phase's name in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Drain => "Drain",
            Self::ProbeBw => "ProbeBW",
            Self::ProbeRtt => "ProbeRTT",
        }
    }
}
