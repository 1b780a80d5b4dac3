//! The states and their gains (§5.6.1).

use crate::state::{State, StateKind};

/// Where the state machine is. The four phases of ProbeBW are states of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Doubles the sending rate each round until the pipe is full.
    Startup,
    /// Empties the queue that Startup built.
    Drain,
    /// ProbeBW: sends below the estimate until queue and headroom are free.
    Down,
    /// ProbeBW: sends at the estimate and gives way to losses.
    Cruise,
    /// ProbeBW: forgets the short-term bounds and fills the pipe for a round.
    Refill,
    /// ProbeBW: sends faster to find more bandwidth.
    Up,
    /// Halves the flight to see the propagation delay.
    ProbeRtt,
}

impl Phase {
    /// All of them, for plots.
    pub const STATES: &[State] = &[
        State::new(Self::Startup.name(), StateKind::Start),
        State::new(Self::Drain.name(), StateKind::Drain),
        State::new(Self::Down.name(), StateKind::Down),
        State::new(Self::Cruise.name(), StateKind::Steady),
        State::new(Self::Refill.name(), StateKind::Refill),
        State::new(Self::Up.name(), StateKind::Up),
        State::new(Self::ProbeRtt.name(), StateKind::ProbeRtt),
    ];

    /// The phase's name in logs: the draft's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Drain => "Drain",
            Self::Down => "ProbeBW_DOWN",
            Self::Cruise => "ProbeBW_CRUISE",
            Self::Refill => "ProbeBW_REFILL",
            Self::Up => "ProbeBW_UP",
            Self::ProbeRtt => "ProbeRTT",
        }
    }

    /// Pace at this multiple of the bandwidth.
    ///
    /// Startup: 4 ln 2, the least that doubles the rate each round (`StartupPacingGain`). Drain:
    /// the inverse of Startup's cwnd gain (`DrainPacingGain`). DOWN: the highest below 1 with which
    /// the shares of flows converge when UP has 1.25 (§5.3.3.1).
    #[must_use]
    pub const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77,
            Self::Drain => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 1.0,
            Self::Up => 1.25,
        }
    }

    /// Keep at most this multiple of the BDP in flight.
    ///
    /// 2 is the least with which the rate can double each round (`DefaultCwndGain`); UP has more,
    /// so that it can send faster even where the window was the limit (§5.3.3.5); ProbeRTT has
    /// `ProbeRTTCwndGain`.
    #[must_use]
    pub const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => 2.0,
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
        }
    }

    /// Whether `next` may follow: the arrows in the picture at the top of `bbr3`. Where the losses that
    /// ended Startup or UP prove spurious, Startup or REFILL begins anew from wherever the flow is then.
    pub(super) const fn may_lead_to(self, next: Self) -> bool {
        match next {
            Self::Startup => !matches!(self, Self::Startup),
            Self::Drain => matches!(self, Self::Startup),
            Self::Down => matches!(self, Self::Drain | Self::Up | Self::ProbeRtt),
            Self::Cruise => matches!(self, Self::Down),
            Self::Refill => matches!(self, Self::Down | Self::Cruise | Self::Refill),
            Self::Up => matches!(self, Self::Refill),
            Self::ProbeRtt => !matches!(self, Self::ProbeRtt),
        }
    }

    /// `IsInAProbeBWState`.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`: losses are then evidence for the long-term model, not for the short-term one.
    pub(super) const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
