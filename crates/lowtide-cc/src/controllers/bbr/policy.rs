//! What BBR makes of its estimate: the second of the two things that a derivative can replace.

use core::fmt::Debug;

use super::model::Model;
use super::phase::Phase;
use crate::controller::AckEvent;
use crate::units::{Bytes, Duration, Rate};

/// What the window does when a recovery opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStart {
    /// One round of packet conservation: what was delivered may be sent (BBR v1).
    Conserve,
    /// The window is set to this, and then follows its target again.
    SetWindow(Bytes),
    /// In the first round each acknowledgment asks [`Policy::shrink`] for the next window.
    Shrink,
    /// The window only loses what was lost.
    OnlyLost,
}

/// BBR's decisions. Each method is BBR v1's choice by default; a derivative overrides those that its
/// paper changes, and no others:
///
/// ```
/// use lowtide_cc::Config;
/// use lowtide_cc::controllers::bbr::{Bbr, MaxBandwidth, Model, Options, Policy};
///
/// /// Leaves 5 % of the bandwidth to others.
/// #[derive(Debug)]
/// struct Cautious;
///
/// impl Policy for Cautious {
///     fn steady_gain(&self, _model: &Model) -> f64 {
///         0.95
///     }
/// }
///
/// let cautious = Bbr::new(&Config::default(), Options::DEFAULT, MaxBandwidth::default(), Cautious);
/// ```
pub trait Policy: Debug + Send {
    /// An acknowledgment arrived; the model's RTT is its own.
    fn on_ack(&mut self, _ack: &AckEvent<'_>, _model: &Model) {}

    /// The phase changed.
    fn on_phase(&mut self, _phase: Phase) {}

    /// Startup: whether it should end although the pipe has not been found full.
    fn ends_startup(&self, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
    }

    /// ProbeBW: whether the probing phase should end now, before its time. Asked at each
    /// acknowledgment of that phase.
    fn ends_probe(&self, _model: &Model) -> bool {
        false
    }

    /// ProbeBW: the pacing gain of the probing phase, above 1. Asked at each acknowledgment.
    fn probe_gain(&self, _model: &Model) -> f64 {
        1.25
    }

    /// ProbeBW: the pacing gain of the steady phases, above zero. Asked at each acknowledgment.
    fn steady_gain(&self, _model: &Model) -> f64 {
        1.0
    }

    /// The bandwidth that rate and window go by, where it is not the estimate; phases go by the
    /// estimate. Asked at each acknowledgment, after the phase is settled.
    fn bandwidth(&self, model: &Model) -> Rate {
        model.bandwidth
    }

    /// How long a minimum RTT counts (Linux `bbr_min_rtt_win_sec`).
    fn min_rtt_window(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Whether another path takes over now: ProbeBW gives way to ProbeRTT, and as long as this holds
    /// at its end, nothing that the old path has shown is believed any longer, and Startup follows.
    fn path_changes(&self) -> bool {
        false
    }

    /// ProbeRTT: the window, 4 packets, enough to keep acknowledgments coming, or more.
    fn probe_rtt_window(&self, model: &Model) -> Bytes {
        model.min_cwnd()
    }

    /// The gain of the window's target; `standard`: the phase's own.
    fn cwnd_gain(&self, standard: f64) -> f64 {
        standard
    }

    /// The next window after `cwnd`, in any phase, once the pipe has been full.
    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        _model: &Model,
    ) -> Bytes {
        follow_target(cwnd, target, ack)
    }

    /// Loss: a recovery has opened with a window of `cwnd`, what was lost taken out. Asked at the
    /// acknowledgment that showed the loss (or, where a timer did, at the next one), after
    /// [`on_ack`](Self::on_ack).
    fn on_recovery_start(&mut self, _cwnd: Bytes, _model: &Model) -> RecoveryStart {
        RecoveryStart::Conserve
    }

    /// Loss: the window after `cwnd` in the first round of a recovery that began with
    /// [`RecoveryStart::Shrink`].
    fn shrink(&self, cwnd: Bytes, _model: &Model) -> Bytes {
        cwnd
    }

    /// Loss: whether the losses that came with this acknowledgment call for ProbeRTT. Asked in Drain
    /// and ProbeBW.
    fn loss_calls_for_probe_rtt(&self, _cwnd: Bytes, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
    }

    /// Loss: the window of a ProbeRTT that losses called for, from which it goes on afterwards.
    /// `None`: it is like any other, and its end restores the window before it.
    fn loss_probe_window(&self, _model: &Model) -> Option<Bytes> {
        None
    }
}

/// BBR v1's window: grows by what was acknowledged, up to its target.
#[must_use]
pub fn follow_target(cwnd: Bytes, target: Bytes, ack: &AckEvent<'_>) -> Bytes {
    (cwnd + ack.bytes_acked).min(target)
}

/// The policy of BBR v1.
#[derive(Clone, Copy, Debug, Default)]
pub struct V1;

impl Policy for V1 {}
