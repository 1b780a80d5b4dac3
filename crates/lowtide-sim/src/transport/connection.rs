//! What a sender and its protocol's loss recovery share.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_host::timestamps::Report;
use lowtide_host::{Driver, SentPacket};

use super::rtt::RttEstimator;
use super::scoreboard::{Fate, Scoreboard, Transmission};

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) board: Scoreboard,
    pub(super) rtt: RttEstimator,
    pub(super) driver: Driver,
    /// When packets arrived, as far as the acknowledgment under way says so.
    pub(super) arrivals: Report,
    pub(super) last_sent_at: Time,
}

fn packet(number: u64, t: &Transmission) -> SentPacket {
    SentPacket {
        number,
        bytes: t.bytes,
        sent_at: t.sent_at,
        rate_state: t.rate_state,
    }
}

impl Connection {
    pub(super) fn new(driver: Driver, start: Time) -> Self {
        Self {
            board: Scoreboard::default(),
            rtt: RttEstimator::new(),
            driver,
            arrivals: Report::default(),
            last_sent_at: start,
        }
    }

    #[inline]
    pub(super) fn inflight(&self) -> Bytes {
        self.driver.inflight()
    }

    /// The acknowledgment under way covers a transmission and so its data; the record if it had not
    /// been covered.
    #[inline]
    pub(super) fn deliver(&mut self, now: Time, number: u64) -> Option<Transmission> {
        self.deliver_older(now, number, Duration::ZERO)
    }

    /// Delivers a transmission that must have left so long ago at least.
    #[inline]
    pub(super) fn deliver_older(
        &mut self,
        now: Time,
        number: u64,
        age: Duration,
    ) -> Option<Transmission> {
        let (mut t, before) = self.board.settle(number, Fate::Acked)?;
        t.sent_at = t.sent_at.min(now - age);
        let (sent, received_at) = (packet(number, &t), self.arrivals.received_at(number));
        match before {
            Fate::InFlight => self.driver.note_acked(now, &sent, received_at),
            Fate::Lost => self.driver.note_late_ack(now, &sent, received_at),
            Fate::Acked => return None,
        }
        self.board.ack_segment(t.segment);
        Some(t)
    }

    /// A transmission leaves the flight although its fate is unknown: its data arrived with
    /// another.
    pub(super) fn discard(&mut self, number: u64) {
        if let Some((t, Fate::InFlight)) = self.board.settle(number, Fate::Acked) {
            self.driver.on_discarded(t.bytes);
        }
    }

    /// Gives a transmission up and queues its data again.
    #[inline]
    pub(super) fn lose(&mut self, number: u64) {
        if let Some((t, Fate::InFlight)) = self.board.settle(number, Fate::Lost) {
            self.driver.note_lost(&packet(number, &t));
            self.board.retransmit_later(t.segment);
        }
    }

    /// Puts a transmission that was given up back in flight.
    pub(super) fn revive(&mut self, number: u64) {
        if self.board.get(number).is_none_or(|t| t.fate != Fate::Lost) {
            return;
        }
        if let Some((t, _)) = self.board.settle(number, Fate::InFlight) {
            self.driver.on_revived(t.bytes);
        }
    }
}
