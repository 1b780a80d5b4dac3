//! Where BBR's bandwidth estimate comes from: the first of the two things that a derivative can
//! replace.

use core::fmt::Debug;

use super::model::Model;
use super::phase::Phase;
use crate::controller::{
    AckEvent, Feedback, FeedbackSnapshot, FilterSnapshot, PacketSent, PeerSignal,
};
use crate::state::State;
use crate::units::{Rate, Time};

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

    /// Another path has taken over ([`Policy::path_changes`](super::Policy::path_changes)): what the
    /// old one has shown says nothing of it.
    fn on_new_path(&mut self) {}

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

    /// The estimator's view of the peer's reports, for logs.
    fn feedback(&self) -> Option<FeedbackSnapshot> {
        None
    }

    /// Internals, for logs.
    fn filter(&self) -> Option<FilterSnapshot> {
        None
    }

    /// The modes of its filter, or of the peer's; as
    /// [`Controller::filter_modes`](crate::Controller::filter_modes).
    fn modes(&self) -> &'static [State] {
        &[]
    }
}
