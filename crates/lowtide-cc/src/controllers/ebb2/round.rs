//! Rounds: what the flow had in flight, and what queue all of its packets met.

use crate::controller::{AckEvent, PacketSent};
use crate::mechanisms::RoundsByNumber;
use crate::units::{Duration, Time};

/// A flow that had more than this share of its window in flight was limited by it. Nine tenths, but for
/// rounding: nine packets of ten do occur, and then the last digit of the window must not decide.
const LIMITED: f64 = 0.900_001;

/// The round under way, and the queue of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    number: RoundsByNumber,
    began_at: Time,
    /// The window when it began, and the most in flight since, bytes.
    cwnd: f64,
    inflight: f64,
    /// The application limited it.
    app_limited: bool,
    /// The least queueing delay of its packets.
    least: Option<Duration>,
    /// The same of the last round that had any.
    standing: Duration,
}

/// A round that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) began_at: Time,
    /// The queueing delay that each of its packets met at least, if it had any.
    pub(super) queueing: Option<Duration>,
    /// How much of the window was in flight, bytes, where the window limited the flow.
    pub(super) used: Option<f64>,
    /// The most in flight, bytes, where the application limited the flow.
    pub(super) offered: Option<f64>,
}

impl Round {
    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.number.on_packet_sent(sent);
    }

    /// An acknowledgment comes; whether it ends the round.
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        self.on_inflight(ack.prior_inflight.as_f64());
        self.number.on_ack(ack)
    }

    pub(super) fn on_inflight(&mut self, bytes: f64) {
        self.inflight = self.inflight.max(bytes);
    }

    /// The application limits the flow, or not.
    pub(super) fn on_limit(&mut self, app_limited: bool) {
        self.app_limited |= app_limited;
    }

    /// A packet arrived that had met this queueing delay.
    pub(super) fn on_arrival(&mut self, queueing: Duration) {
        self.least = Some(self.least.map_or(queueing, |least| least.min(queueing)));
    }

    /// The next round begins with this window.
    pub(super) fn end(&mut self, now: Time, cwnd: f64) -> Ended {
        let used = self.inflight.min(self.cwnd);
        let ended = Ended {
            began_at: self.began_at,
            queueing: self.least,
            used: (used > LIMITED * self.cwnd).then_some(used),
            offered: self.app_limited.then_some(self.inflight),
        };
        if let Some(least) = self.least.take() {
            self.standing = least;
        }
        self.began_at = now;
        self.cwnd = cwnd;
        self.inflight = 0.0;
        self.app_limited = false;
        ended
    }

    /// Begins one that ends with the acknowledgment of a packet sent from now on.
    pub(super) fn restart(&mut self) {
        self.number.restart();
    }

    /// Rounds that have ended.
    pub(super) fn count(&self) -> u64 {
        self.number.count()
    }

    /// The queueing delay that every packet of the last round met.
    pub(super) fn standing(&self) -> Duration {
        self.standing
    }

    /// The same of the round under way, so far.
    pub(super) fn met(&self) -> Duration {
        self.least.unwrap_or(self.standing)
    }

    /// The same of both.
    pub(super) fn stood(&self) -> Duration {
        self.met().min(self.standing)
    }
}
