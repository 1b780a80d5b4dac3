//! RBBR's sender: the receiver's estimate in the place of the sender's own.

use super::receiver::Schedule;
use crate::controller::{AckEvent, Feedback, PeerSignal};
use crate::controllers::bbr::{BandwidthEstimator, MaxBandwidth, Model, Phase};
use crate::state::State;
use crate::units::{Rate, Time};

/// Rounds without feedback after which the sender trusts its own estimate again: as long as that
/// one remembers (BBR v1's window).
const STALE_ROUNDS: u64 = 10;
/// Where the schedule is slower than that: reports missed in a row, lost with their acknowledgments,
/// before the next one is due.
const MISSED_REPORTS: u64 = 2;

/// The newest feedback, checked against what the sender itself sees.
///
/// Feedback comes from the network and may be anything. It is held between two bounds, so that no
/// receiver can make the flow explode or stall:
/// - at most the highest delivery rate that the sender measured in ten rounds, which in turn is no
///   higher than what it sent: at most 1.25 times the estimate;
/// - at least the smallest window (4 packets) in each round trip, which BBR keeps in flight anyway.
///
/// It counts until it is stale: for ten rounds, or, where the receiver reports less often, until the
/// third report after it would have been due. A sender that runs by another schedule than its
/// receiver falls back to its own estimate between two reports.
#[derive(Clone, Copy, Debug)]
pub struct FeedbackEstimator {
    schedule: Schedule,
    own: MaxBandwidth,
    newest: Option<Received>,
    /// ProbeBW has been reached.
    in_use: bool,
    now: Clock,
    floor: Rate,
}

/// What feedback ages by.
#[derive(Clone, Copy, Debug)]
struct Clock {
    time: Time,
    round: u64,
    /// Acknowledgments that arrived.
    acks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Received {
    rate: Rate,
    carrier: u64,
    at: Clock,
}

impl FeedbackEstimator {
    /// An estimator that has heard nothing, for a receiver that reports by `schedule`.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            own: MaxBandwidth::default(),
            newest: None,
            in_use: false,
            now: Clock {
                time: Time::ZERO,
                round: 0,
                acks: 0,
            },
            floor: Rate::ZERO,
        }
    }

    fn fresh(&self) -> Option<Rate> {
        let newest = self.newest.filter(|_| self.in_use)?;
        let rounds = self.now.round.saturating_sub(newest.at.round);
        let reports_due = match self.schedule {
            Schedule::EveryAcks(n) => (self.now.acks - newest.at.acks) / u64::from(n.max(1)),
            Schedule::Periodic(period) => {
                let age = self.now.time.since(newest.at.time);
                age.as_nanos() / period.as_nanos().max(1)
            }
        };
        let is_fresh = rounds <= STALE_ROUNDS || reports_due <= MISSED_REPORTS;
        is_fresh.then_some(newest.rate)
    }
}

impl BandwidthEstimator for FeedbackEstimator {
    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        self.own.on_ack(ack, model);
        self.now = Clock {
            time: ack.now,
            round: model.rounds.count(),
            acks: self.now.acks + 1,
        };
        self.floor = model.min_rate();
    }

    /// The newest carrier wins; what says nothing (zero) is ignored.
    fn on_feedback(&mut self, feedback: &Feedback, _model: &Model) {
        let is_newer = self.newest.is_none_or(|n| feedback.carrier > n.carrier);
        if is_newer && !feedback.rate.is_zero() {
            self.newest = Some(Received {
                rate: feedback.rate,
                carrier: feedback.carrier,
                at: self.now,
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

    fn modes(&self) -> &'static [State] {
        PeerSignal::STATES
    }
}
