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
use crate::units::{Bytes, Rate};

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
    /// Whether the probing phase (gain 1.25) should end now, before its time.
    fn ends_probe(&self, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
    }

    /// The gain of the steady phases.
    fn steady_gain(&self, _ack: &AckEvent<'_>, _model: &Model) -> f64 {
        1.0
    }
}

/// What the window does when a recovery opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryStart {
    /// One round of packet conservation: what was delivered may be sent (BBR v1).
    Conserve,
    /// The window is set to this.
    SetWindow(Bytes),
    /// The window only loses what was lost.
    OnlyLost,
}

/// Decides what a loss does.
pub trait LossResponse: Debug + Send {
    /// An acknowledgment arrived.
    fn on_ack(&mut self, _ack: &AckEvent<'_>, _model: &Model) {}

    /// A recovery opens with a window of `cwnd`.
    fn on_recovery_start(&mut self, _cwnd: Bytes, _model: &Model) -> RecoveryStart {
        RecoveryStart::Conserve
    }
}

/// Moves the window towards its target once the pipe has been full.
pub trait WindowRule: Debug + Send {
    /// The next window after `cwnd`.
    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        _model: &Model,
    ) -> Bytes {
        (cwnd + ack.bytes_acked).min(target)
    }

    /// Whether the losses that came with this acknowledgment call for ProbeRTT.
    fn loss_calls_for_probe_rtt(&self, _cwnd: Bytes, _ack: &AckEvent<'_>, _model: &Model) -> bool {
        false
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
    /// The window in ProbeRTT: 4 packets, enough to keep acknowledgments coming.
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
