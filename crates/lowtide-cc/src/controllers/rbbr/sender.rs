//! RBBR's sender: the receiver's estimate in the place of the sender's own.

use super::receiver::{ReceiverConfig, Schedule};
use super::regular::Regular;
use super::remote::Remote;
use super::witness::Witness;
use crate::controller::{AckEvent, Feedback, FeedbackSnapshot, PacketSent, PeerSignal};
use crate::controllers::bbr::{BandwidthEstimator, MaxBandwidth, Model, Phase};
use crate::state::State;
use crate::units::{Rate, Time};

/// Rounds without feedback after which the sender goes by its own estimate: as long as BBR v1's
/// remembers.
const STALE_ROUNDS: u64 = 10;
/// Where the schedule is slower than that: reports missed in a row, lost with their acknowledgments,
/// before the next one is due.
const MISSED_REPORTS: u64 = 2;

/// Where the receiver's estimate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The receiver makes it: RBBR's frames.
    Frame,
    /// The sender makes it, from the times at which the receiver says that packets arrived
    /// ([`AckedPacket::received_at`](crate::controller::AckedPacket::received_at)).
    Timestamps,
}

/// The newest feedback, checked against what the sender itself sees.
///
/// Feedback comes from the network and may be anything. It is held between two bounds, so that no
/// receiver can make the flow explode or stall:
/// - at most the highest delivery rate that the sender measured in ten rounds, which in turn is no
///   higher than what it sent: at most 1.25 times the estimate;
/// - at least the smallest window (4 packets) in each round trip, which BBR keeps in flight anyway.
///
/// A receiver may lie between these bounds. The sender runs the same estimator on its acknowledgments
/// (`witness.rs`), and uses that one
/// - while the reports are, over time, something else than what was acknowledged;
/// - once there has been no report for ten rounds, or, where the receiver reports less often, when the
///   third one in a row is missing. A sender that runs by another schedule than its receiver does so
///   between two reports.
#[derive(Clone, Copy, Debug)]
pub struct FeedbackEstimator {
    schedule: Schedule,
    own: MaxBandwidth,
    regular: Regular,
    /// The receiver's part, where the sender does that, too.
    remote: Option<Remote>,
    witness: Witness,
    newest: Option<Received>,
    /// When ProbeBW was reached.
    in_use_since: Option<Clock>,
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
    /// An estimator that has heard nothing, for a receiver that runs by `config`.
    #[must_use]
    pub fn new(config: &ReceiverConfig, source: Source) -> Self {
        Self {
            schedule: config.schedule,
            own: MaxBandwidth::default(),
            regular: Regular::default(),
            remote: match source {
                Source::Frame => None,
                Source::Timestamps => Some(Remote::new(config)),
            },
            witness: Witness::new(config),
            newest: None,
            in_use_since: None,
            now: Clock {
                time: Time::ZERO,
                round: 0,
                acks: 0,
            },
            floor: Rate::ZERO,
        }
    }

    /// Whether what was said then is too old.
    fn is_stale(&self, at: &Clock) -> bool {
        let reports_due = match self.schedule {
            Schedule::EveryAcks(n) => (self.now.acks - at.acks) / u64::from(n.max(1)),
            Schedule::Periodic(period) => {
                let age = self.now.time.since(at.time);
                age.as_nanos() / period.as_nanos().max(1)
            }
        };
        self.now.round.saturating_sub(at.round) > STALE_ROUNDS && reports_due > MISSED_REPORTS
    }

    /// The bandwidth from ProbeBW on; `None`: nothing is known that was not known in Startup.
    fn filtered(&self, since: &Clock) -> Option<Rate> {
        let heard_at = self.newest.as_ref().map_or(since, |n| &n.at);
        if self.witness.doubts || self.is_stale(heard_at) {
            return self.witness.estimate();
        }
        self.newest.map(|newest| newest.rate)
    }

    fn state(&self, newest: &Received) -> &'static str {
        if self.in_use_since.is_none() {
            "waiting"
        } else if self.witness.doubts {
            "doubted"
        } else if self.is_stale(&newest.at) {
            "stale"
        } else {
            "used"
        }
    }

    /// The newest carrier wins; what says nothing (zero) is ignored.
    fn hear(&mut self, feedback: &Feedback) {
        let is_newer = self.newest.is_none_or(|n| feedback.carrier > n.carrier);
        if is_newer && !feedback.rate.is_zero() {
            self.newest = Some(Received {
                rate: feedback.rate,
                carrier: feedback.carrier,
                at: self.now,
            });
            if self.in_use_since.is_some() {
                let used = self.bounded(feedback.rate);
                self.witness.compare(feedback.now, used);
            }
        }
    }

    /// Within what the sender may believe.
    fn bounded(&self, rate: Rate) -> Rate {
        rate.max(self.floor).min(self.own.bandwidth())
    }
}

impl BandwidthEstimator for FeedbackEstimator {
    fn on_packet_sent(&mut self, sent: &PacketSent, model: &Model) {
        self.regular.on_packet_sent(sent.number, signal(model));
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>, model: &Model) {
        let remote = self.remote.as_mut();
        if let Some(rate) = remote.and_then(|r| r.on_ack(ack, &self.regular)) {
            let carrier = self.now.acks + 1;
            let now = ack.now;
            self.hear(&Feedback { now, carrier, rate });
        }
        self.own.on_ack(ack, model);
        self.witness.on_ack(ack, &self.regular);
        self.now = Clock {
            time: ack.now,
            round: model.rounds.count(),
            acks: self.now.acks + 1,
        };
        self.floor = model.min_rate();
    }

    fn on_feedback(&mut self, feedback: &Feedback, _model: &Model) {
        if self.remote.is_none() {
            self.hear(feedback);
        }
    }

    fn on_phase(&mut self, phase: Phase) {
        // There is no way back to Startup once the pipe has been full.
        if phase == Phase::ProbeBw && self.in_use_since.is_none() {
            self.in_use_since = Some(self.now);
        }
    }

    fn bandwidth(&self) -> Rate {
        let filtered = self.in_use_since.and_then(|since| self.filtered(&since));
        match filtered {
            Some(rate) => self.bounded(rate),
            None => self.own.bandwidth(),
        }
    }

    fn peer_signal(&self, model: &Model) -> Option<PeerSignal> {
        self.remote.is_none().then(|| signal(model))
    }

    fn feedback(&self) -> Option<FeedbackSnapshot> {
        self.newest.as_ref().map(|newest| FeedbackSnapshot {
            rate: newest.rate,
            age: self.now.time.since(newest.at.time),
            own: self.witness.estimate(),
            state: self.state(newest),
        })
    }

    fn modes(&self) -> &'static [State] {
        PeerSignal::STATES
    }
}

/// Algorithm 2, and any other time in which the sender is the limit (§III-C): the application has
/// nothing to send, or a loss holds the window.
fn signal(model: &Model) -> PeerSignal {
    let limited = model.phase != Phase::ProbeBw || model.app_limited || model.window_held;
    if limited {
        PeerSignal::Suspend
    } else {
        PeerSignal::Regular
    }
}
