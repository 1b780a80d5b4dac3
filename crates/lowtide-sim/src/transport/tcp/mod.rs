//! TCP's loss recovery: SACK (RFC 2018), RACK-TLP (RFC 8985), the retransmission timer (RFC 6298)
//! and Eifel detection of spurious timeouts (RFC 3522).
//!
//! Limited transmit (RFC 3042) needs no rule of its own: SACKed segments leave the flight at once,
//! so that new data may follow them.

mod eifel;
mod rack;
mod rto;
mod sack;
mod tlp;

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Duration, Time};

use self::eifel::Eifel;
use self::rack::Rack;
use self::rto::RetransmissionTimer;
use self::tlp::TailLossProbe;
use super::connection::Connection;
use super::ranges::Range;
use super::receiver::Ack;
use super::recovery::{Expiry, LossRecovery, Repeat};
use super::scoreboard::Fate;

#[derive(Debug)]
pub(super) struct Tcp {
    rack: Rack,
    tlp: TailLossProbe,
    rto: RetransmissionTimer,
    eifel: Eifel,
    /// Recovery lasts until a transmission from this number on is delivered (RecoveryPoint of
    /// RFC 6675).
    recovery_point: Option<u64>,
}

impl Tcp {
    /// `min_rto`: lower bound of the retransmission timer; `delayed_ack`: how long the peer may hold
    /// back an acknowledgment.
    pub(super) fn new(min_rto: Duration, delayed_ack: Duration) -> Self {
        Self {
            rack: Rack::default(),
            tlp: TailLossProbe::new(delayed_ack),
            rto: RetransmissionTimer::new(min_rto),
            eifel: Eifel::default(),
            recovery_point: None,
        }
    }

    fn may_probe(&self, connection: &Connection) -> bool {
        connection.rtt.has_sample() && self.recovery_point.is_none() && !self.tlp.is_sent()
    }

    /// Puts what the spurious timeout gave up back in flight, but for what was sent again since.
    fn undo_timeout(&mut self, now: Time, gave_up_below: u64, connection: &mut Connection) {
        self.recovery_point = None;
        self.rack.search_again();
        connection.board.cancel_retransmissions();
        for number in connection.board.first_number()..gave_up_below {
            let board = &connection.board;
            let Some(t) = board.get(number) else {
                break;
            };
            if board.newest_transmission(t.segment) == Some(number) {
                connection.revive(number);
            }
        }
        connection.driver.on_spurious_timeout(now);
    }
}

impl LossRecovery for Tcp {
    #[inline]
    fn first_unacked(&self, connection: &Connection) -> u64 {
        connection.board.first_segment()
    }

    #[inline]
    fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration> {
        let sample = sack::take_in(now, ack, new, connection, &mut self.rack);
        if let Some(sample) = sample {
            connection.rtt.update(sample, Duration::ZERO);
        }
        if let Some(original) = self.tlp.take_repeated(&connection.board) {
            connection.discard(original);
        }
        if connection.driver.has_acked() {
            if let Some(gave_up_below) = self.eifel.on_ack(ack.trigger) {
                self.undo_timeout(now, gave_up_below, connection);
            }
            self.rto.on_progress();
            self.tlp.on_progress();
        }
        let delivered = self.rack.newest_delivered();
        self.recovery_point = self
            .recovery_point
            .filter(|point| delivered.is_none_or(|d| d < *point));
        sample
    }

    #[inline]
    fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Option<TimeoutKind> {
        let in_recovery = self.recovery_point.is_some();
        let (board, rtt) = (&connection.board, &connection.rtt);
        self.rack.detect(now, board, rtt, in_recovery, lost);
        if !lost.is_empty() {
            self.recovery_point.get_or_insert(board.next_number());
        }
        None
    }

    #[inline]
    fn loss_time(&self) -> Option<Time> {
        self.rack.loss_time()
    }

    #[inline]
    fn timeout_at(&self, connection: &Connection) -> Time {
        let rto = self
            .rto
            .expires_at(&connection.rtt, connection.last_progress_at);
        if self.may_probe(connection) {
            let armed_at = connection.last_sent_at.max(connection.last_progress_at);
            rto.min(armed_at + self.tlp.duration(&connection.rtt, &connection.board))
        } else {
            rto
        }
    }

    fn on_timeout(&mut self, connection: &Connection, lost: &mut Vec<u64>) -> Expiry {
        if self.may_probe(connection) {
            self.tlp.on_sent();
            return Expiry::Probe {
                packets: 1,
                repeat: Repeat::Newest,
            };
        }
        let board = &connection.board;
        let next = board.next_number();
        let in_flight = |number: &u64| board.get(*number).is_some_and(|t| t.fate == Fate::InFlight);
        lost.extend((board.first_number()..next).filter(in_flight));
        self.rto.on_expiry();
        self.tlp.forget_probe();
        self.eifel.on_timeout(next);
        self.recovery_point = Some(next);
        Expiry::Timeout(TimeoutKind::Rto)
    }

    fn on_repeating_probe(&mut self, original: u64) {
        self.tlp.on_repeating_probe(original);
    }

    #[inline]
    fn needs_settled(&self) -> bool {
        self.eifel.is_waiting()
    }

    /// Linux paces no controller by its window alone unless it is told to.
    #[inline]
    fn paces_by_window(&self) -> bool {
        false
    }
}
