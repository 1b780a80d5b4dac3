//! RBBR's sender: the receiver's estimate in the place of the sender's own.

use crate::bbr::{BandwidthEstimator, MaxBandwidth, Model, Phase};
use crate::controller::{AckEvent, Feedback, PeerSignal};
use crate::units::Rate;

/// Rounds without feedback after which the sender trusts its own estimate again: as long as that
/// one remembers (BBR v1's window).
const STALE_ROUNDS: u64 = 10;

/// The newest feedback, checked against what the sender itself sees.
///
/// Feedback comes from the network and may be anything. It is held between two bounds, so that no
/// receiver can make the flow explode or stall:
/// - at most the highest delivery rate that the sender measured in ten rounds, which in turn is no
///   higher than what it sent: at most 1.25 times the estimate;
/// - at least the smallest window (4 packets) in each round trip, which BBR keeps in flight anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeedbackEstimator {
    own: MaxBandwidth,
    newest: Option<Received>,
    /// ProbeBW has been reached.
    in_use: bool,
    now_round: u64,
    floor: Rate,
}

#[derive(Clone, Copy, Debug)]
struct Received {
    rate: Rate,
    carrier: u64,
    round: u64,
}

impl FeedbackEstimator {
    fn fresh(&self) -> Option<Rate> {
        let newest = self.newest.filter(|_| self.in_use)?;
        let age = self.now_round.saturating_sub(newest.round);
        (age <= STALE_ROUNDS).then_some(newest.rate)
    }
}

impl BandwidthEstimator for FeedbackEstimator {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        self.own.on_ack(ack, model);
        self.now_round = model.rounds.count();
        self.floor = model.min_rate();
    }

    /// The newest carrier wins; what says nothing (zero) is ignored.
    fn on_feedback(&mut self, feedback: &Feedback, _model: &Model) {
        let is_newer = self.newest.is_none_or(|n| feedback.carrier > n.carrier);
        if is_newer && !feedback.rate.is_zero() {
            self.newest = Some(Received {
                rate: feedback.rate,
                carrier: feedback.carrier,
                round: self.now_round,
            });
        }
    }

    fn on_phase(&mut self, phase: Phase) {
        // There is no way back to Startup once the pipe has been full.
        self.in_use |= phase == Phase::ProbeBw;
    }

    fn bandwidth(&self) -> Rate {
        let own = self.own.bandwidth();
        match self.fresh() {
            Some(rate) => rate.max(self.floor).min(own),
            None => own,
        }
    }

    /// Algorithm 2, and any other time in which the sender is the limit (§III-C): the application
    /// has nothing to send, or a loss holds the window.
    fn peer_signal(&self, model: &Model) -> Option<PeerSignal> {
        let limited = model.phase != Phase::ProbeBw || model.app_limited || model.window_held;
        Some(if limited {
            PeerSignal::Suspend
        } else {
            PeerSignal::Regular
        })
    }
}
