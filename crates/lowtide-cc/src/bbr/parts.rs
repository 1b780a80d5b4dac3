//! The replaceable parts of BBR.
//!
//! A derivative of BBR is a set of parts: where the bandwidth estimate comes from, how ProbeBW
//! chooses its gain, what a loss does, how the window follows its target, what else ends Startup,
//! how deep ProbeRTT cuts. Each trait has the behaviour of BBR v1 as its default; a part overrides
//! what it changes. [`Standard`] is BBR v1's choice for all but the estimator, which is
//! [`MaxBandwidth`](super::MaxBandwidth).

use core::fmt::Debug;

use super::model::Model;
use super::phase::Phase;
use crate::controller::{AckEvent, Feedback, FilterSnapshot, PacketSent, PeerSignal};
use crate::units::{Bytes, Rate, Time};

/// A choice for each part.
pub trait Parts: Debug + Send {
    /// Where the bandwidth estimate comes from.
    type Estimator: BandwidthEstimator;
    /// How ProbeBW chooses its pacing gain.
    type Gain: GainPolicy;
    /// What a loss does to the window.
    type Loss: LossResponse;
    /// How the window follows its target.
    type Window: WindowRule;
    /// What ends Startup beside a full pipe.
    type Startup: StartupExit;
    /// How deep ProbeRTT cuts.
    type Depth: ProbeRttDepth;
}

/// A derivative's parts. Made from an estimator; the rest is BBR v1's until it is replaced:
///
/// ```
/// # use lowtide_cc::bbr::{GainPolicy, MaxBandwidth, Model, PartSet};
/// #[derive(Debug)]
/// struct Cautious;
/// impl GainPolicy for Cautious {
///     fn steady_gain(&self, _model: &Model) -> f64 {
///         0.95
///     }
/// }
/// let parts = PartSet::new(MaxBandwidth::default()).with_gain(Cautious);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PartSet<E, G = Standard, L = Standard, W = Standard, S = Standard, D = Standard> {
    pub(super) estimator: E,
    pub(super) gain: G,
    pub(super) loss: L,
    pub(super) window: W,
    pub(super) startup: S,
    pub(super) depth: D,
}

impl<E> PartSet<E> {
    /// This estimator, and BBR v1's own choice for everything else.
    pub fn new(estimator: E) -> Self {
        Self {
            estimator,
            gain: Standard,
            loss: Standard,
            window: Standard,
            startup: Standard,
            depth: Standard,
        }
    }
}

impl<E, G, L, W, S, D> PartSet<E, G, L, W, S, D> {
    /// Replaces how ProbeBW chooses its gain.
    pub fn with_gain<X>(self, gain: X) -> PartSet<E, X, L, W, S, D> {
        PartSet {
            estimator: self.estimator,
            gain,
            loss: self.loss,
            window: self.window,
            startup: self.startup,
            depth: self.depth,
        }
    }

    /// Replaces what a loss does.
    pub fn with_loss<X>(self, loss: X) -> PartSet<E, G, X, W, S, D> {
        PartSet {
            estimator: self.estimator,
            gain: self.gain,
            loss,
            window: self.window,
            startup: self.startup,
            depth: self.depth,
        }
    }

    /// Replaces how the window follows its target.
    pub fn with_window<X>(self, window: X) -> PartSet<E, G, L, X, S, D> {
        PartSet {
            estimator: self.estimator,
            gain: self.gain,
            loss: self.loss,
            window,
            startup: self.startup,
            depth: self.depth,
        }
    }

    /// Replaces what ends Startup beside a full pipe.
    pub fn with_startup<X>(self, startup: X) -> PartSet<E, G, L, W, X, D> {
        PartSet {
            estimator: self.estimator,
            gain: self.gain,
            loss: self.loss,
            window: self.window,
            startup,
            depth: self.depth,
        }
    }

    /// Replaces how deep ProbeRTT cuts.
    pub fn with_depth<X>(self, depth: X) -> PartSet<E, G, L, W, S, X> {
        PartSet {
            estimator: self.estimator,
            gain: self.gain,
            loss: self.loss,
            window: self.window,
            startup: self.startup,
            depth,
        }
    }
}

impl<E, G, L, W, S, D> Parts for PartSet<E, G, L, W, S, D>
where
    E: BandwidthEstimator,
    G: GainPolicy,
    L: LossResponse,
    W: WindowRule,
    S: StartupExit,
    D: ProbeRttDepth,
{
    type Estimator = E;
    type Gain = G;
    type Loss = L;
    type Window = W;
    type Startup = S;
    type Depth = D;
}

/// Estimates the bottleneck's bandwidth (BtlBw).
pub trait BandwidthEstimator: Debug + Send {
    /// A packet has left.
    fn on_packet_sent(&mut self, _sent: &PacketSent, _model: &Model) {}

    /// An acknowledgment arrived; rounds in `model` are up to date, the phase is not yet.
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model);

    /// The peer's estimator reported.
    fn on_feedback(&mut self, _feedback: &Feedback, _model: &Model) {}

    /// The phase changed.
    fn on_phase(&mut self, _phase: Phase) {}

    /// [`next_wakeup`](Self::next_wakeup) is due.
    fn on_wakeup(&mut self, _now: Time, _model: &Model) {}

    /// When the estimator wants to be called although nothing arrives; `None`: never.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// The estimate; zero before the first sample.
    fn bandwidth(&self) -> Rate;

    /// What to tell the peer's estimator.
    fn peer_signal(&self, _model: &Model) -> Option<PeerSignal> {
        None
    }

    /// Internals, for logs.
    fn filter(&self) -> Option<FilterSnapshot> {
        None
    }
}

/// Chooses ProbeBW's pacing gain.
pub trait GainPolicy: Debug + Send {
    /// Whether the probing phase (gain 1.25) should end now, before its time. Asked at each
    /// acknowledgment of that phase.
    fn ends_probe(&self, _model: &Model) -> bool {
        false
    }

    /// The gain of the steady phases, above zero. Asked at each acknowledgment.
    fn steady_gain(&self, _model: &Model) -> f64 {
        1.0
    }
}

/// What the window does when a recovery opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStart {
    /// One round of packet conservation: what was delivered may be sent (BBR v1).
    Conserve,
    /// The window is set to this, and then follows its target again.
    SetWindow(Bytes),
    /// For one round each acknowledgment asks [`LossResponse::shrink`] for the next window.
    Shrink,
    /// The window only loses what was lost.
    OnlyLost,
}

/// Decides what a loss does.
pub trait LossResponse: Debug + Send {
    /// An acknowledgment arrived; the model's RTT is its own.
    fn on_ack(&mut self, _ack: &AckEvent<'_>, _model: &Model) {}

    /// The phase changed.
    fn on_phase(&mut self, _phase: Phase) {}

    /// The window's gain after losses; `standard`: the phase's own.
    fn cwnd_gain(&self, standard: f64) -> f64 {
        standard
    }

    /// A recovery has opened with a window of `cwnd`, what was lost taken out. Asked at the
    /// acknowledgment that showed the loss (or, where a timer did, at the next one), after
    /// [`on_ack`](Self::on_ack).
    fn on_recovery_start(&mut self, _cwnd: Bytes, _model: &Model) -> RecoveryStart {
        RecoveryStart::Conserve
    }

    /// The window after `cwnd` in the first round of a recovery that began with
    /// [`RecoveryStart::Shrink`].
    fn shrink(&self, cwnd: Bytes, _model: &Model) -> Bytes {
        cwnd
    }
}

/// Moves the window towards its target once the pipe has been full.
pub trait WindowRule: Debug + Send {
    /// The next window after `cwnd`, in any phase.
    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        _model: &Model,
    ) -> Bytes {
        (cwnd + ack.bytes_acked).min(target)
    }

    /// Whether the losses that came with this acknowledgment call for ProbeRTT. Asked in Drain and
    /// ProbeBW.
    fn loss_calls_for_probe_rtt(&self, _cwnd: Bytes, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
    }

    /// The window of a ProbeRTT that losses called for, from which it goes on afterwards. `None`: it
    /// is like any other, and its end restores the window before it.
    fn loss_probe_window(&self, _model: &Model) -> Option<Bytes> {
        None
    }
}

/// What ends Startup beside a full pipe.
pub trait StartupExit: Debug + Send {
    /// Whether Startup should end now.
    fn ends_startup(&self, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
    }
}

/// How deep ProbeRTT cuts.
pub trait ProbeRttDepth: Debug + Send {
    /// The window in ProbeRTT: 4 packets, enough to keep acknowledgments coming, or more.
    fn window(&self, model: &Model) -> Bytes {
        model.min_cwnd()
    }
}

/// BBR v1's own choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl GainPolicy for Standard {}
impl LossResponse for Standard {}
impl WindowRule for Standard {}
impl StartupExit for Standard {}
impl ProbeRttDepth for Standard {}
