//! TCP's loss recovery: SACK (RFC 2018), RACK-TLP (RFC 8985), the retransmission timer (RFC 6298)
//! and Eifel detection of spurious timeouts (RFC 3522).
//!
//! Limited transmit (RFC 3042) needs no rule of its own: SACKed segments leave the flight at once,
//! so that new data may follow them.

pub(super) mod compression;
mod eifel;
pub(super) mod quick_ack;
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
use super::expiry::{Expiry, Repeat};
use super::ranges::Range;
use super::receiver::Ack;
use super::scoreboard::{Fate, Scoreboard};

/// Added to the reordering timer and to a probe's, so that they do not fire just before an
/// acknowledgment that is on its way (Linux `TCP_TIMEOUT_MIN_US`).
const TIMER_SLACK: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct Tcp {
    rack: Rack,
    tlp: TailLossProbe,
    rto: RetransmissionTimer,
    eifel: Eifel,
    sack: bool,
    /// Recovery lasts until all segments below are acknowledged (RecoveryPoint of RFC 6675, Linux
    /// `high_seq`).
    recovery_point: Option<u64>,
}

impl Tcp {
    /// `min_rto`: lower bound of what the retransmission timer adds to the RTT; `sack`: the
    /// peer acknowledges selectively.
    pub(super) fn new(min_rto: Duration, sack: bool) -> Self {
        Self {
            sack,
            rack: Rack::default(),
            tlp: TailLossProbe::new(min_rto),
            rto: RetransmissionTimer::new(min_rto),
            eifel: Eifel::default(),
            recovery_point: None,
        }
    }

    /// Whether silence is answered by a tail loss probe first: with SACK, outside of recovery, and while
    /// nothing is missing below what arrived (RFC 8985 §7.2; Linux `tcp_schedule_loss_probe`).
    fn may_probe(&self, connection: &Connection) -> bool {
        self.sack
            && connection.rtt.has_sample()
            && connection.board.sacked() == 0
            && self.recovery_point.is_none()
            && !self.tlp.is_sent()
    }

    /// Whether an acknowledgment starts the retransmission timer anew: when it moves SND.UNA, or what
    /// it covers was sent before that segment was last sent again. Otherwise a lost retransmission
    /// would put the timer off for as long as anything is acknowledged (Linux `tcp_clean_rtx_queue`). RFC 6298 §5.3 has
    /// any acknowledgment of new data restart it.
    #[inline]
    fn is_rearmed(&self, first_unacked: u64, covered: Option<Time>, board: &Scoreboard) -> bool {
        let first = board.first_segment();
        if first > first_unacked {
            return true;
        }
        let newest = board.newest_transmission(first).and_then(|n| board.get(n));
        covered
            .zip(newest)
            .is_some_and(|(sent_at, t)| sent_at < t.sent_at)
    }

    /// Puts what the spurious timeout gave up back in flight, but for what was sent again since (RFC 4015).
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

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        new: &[Range],
        connection: &mut Connection,
    ) -> Option<Duration> {
        let first_unacked = connection.board.first_segment();
        let taken = sack::take_in(now, ack, new, connection, &mut self.rack);
        if let Some(sample) = taken.sample {
            self.rto
                .on_sample(sample, &connection.rtt, &connection.board);
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
            self.tlp.on_progress(&connection.board);
            if self.is_rearmed(first_unacked, taken.oldest_original, &connection.board) {
                self.rto.arm(now);
            }
        }
        let first_segment = connection.board.first_segment();
        if self
            .recovery_point
            .take_if(|point| first_segment >= *point)
            .is_some()
        {
            self.rack.on_recovered();
        }
        taken.sample
    }

    #[inline]
    pub(super) fn detect_losses(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) {
        let in_recovery = self.recovery_point.is_some();
        let (board, rtt) = (&connection.board, &connection.rtt);
        self.rack.detect(now, board, rtt, in_recovery, lost);
        if !lost.is_empty() && !in_recovery {
            self.recovery_point = Some(board.next_segment());
            self.tlp.forget_end();
        }
    }

    #[inline]
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.rack.loss_time()
    }

    #[inline]
    pub(super) fn timeout_at(&self, connection: &Connection) -> Time {
        let rto = self.rto.expires_at(&connection.rtt);
        if self.may_probe(connection) {
            let armed_at = connection.last_sent_at.max(self.rto.armed_at());
            rto.min(armed_at + self.tlp.duration(&connection.rtt, &connection.board))
        } else {
            rto
        }
    }

    pub(super) fn on_timeout(
        &mut self,
        now: Time,
        connection: &Connection,
        lost: &mut Vec<u64>,
    ) -> Expiry {
        if self.may_probe(connection) {
            self.tlp.on_sent(&connection.board);
            // RFC 8985 §7.3: the probe gets the time of a whole timeout for its acknowledgment.
            self.rto.arm(now);
            return Expiry::Probe {
                packets: 1,
                repeat: Repeat::Newest,
            };
        }
        // All of it, as without RACK. RFC 8985 §6.3 and Linux (`tcp_timeout_mark_lost`) keep what left less
        // than the RTT and the reordering window ago, but for the first segment.
        let board = &connection.board;
        let next = board.next_number();
        let in_flight = |number: &u64| board.get(*number).is_some_and(|t| t.fate == Fate::InFlight);
        lost.extend((board.first_number()..next).filter(in_flight));
        self.rto.on_expiry();
        self.tlp.forget_probe();
        self.eifel.on_timeout(next);
        self.recovery_point = Some(board.next_segment());
        Expiry::Timeout(TimeoutKind::Rto)
    }

    /// Armed by the first segment that waits for an acknowledgment (RFC 6298 §5.1), and anew whenever it is sent again
    /// (Linux `tcp_event_new_data_sent`, `tcp_xmit_retransmit_queue`).
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, segment: Option<u64>, connection: &Connection) {
        let board = &connection.board;
        if connection.inflight().is_zero() || segment == Some(board.first_segment()) {
            self.rto.arm(now);
        }
    }

    pub(super) fn on_repeating_probe(&mut self, original: u64) {
        self.tlp.on_repeating_probe(original);
    }

    #[inline]
    pub(super) fn needs_settled(&self) -> bool {
        self.eifel.is_waiting()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Bytes;
    use lowtide_cc::{Config, registry};
    use lowtide_host::Driver;

    use super::*;

    const SIZE: Bytes = Bytes::new(1_000);

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// `segments` sent at 0 on a path of 40 ms; the RTO is 240 ms.
    fn sent(segments: u64) -> (Tcp, Connection) {
        let controller = registry::parse("newreno")
            .unwrap()
            .build(&Config::for_datagram(SIZE));
        let mut connection = Connection::new(Driver::new(controller), Time::ZERO);
        connection
            .rtt
            .update(Duration::from_millis(40), Duration::ZERO);
        let mut tcp = Tcp::new(Duration::from_millis(200), true);
        for _ in 0..segments {
            transmit(&mut tcp, &mut connection, None, 0);
        }
        (tcp, connection)
    }

    fn transmit(tcp: &mut Tcp, connection: &mut Connection, segment: Option<u64>, ms: u64) {
        tcp.on_sent(at(ms), segment, connection);
        let number = connection.board.next_number();
        let (_, rate_state) = connection.driver.on_sent(at(ms), number, SIZE);
        connection.board.transmit(segment, SIZE, at(ms), rate_state);
        connection.last_sent_at = at(ms);
    }

    /// An acknowledgment of the segments below `end`, in answer to transmission `trigger`.
    fn ack(tcp: &mut Tcp, connection: &mut Connection, ms: u64, end: u64, trigger: u64) {
        let start = connection.board.first_segment();
        let ack = Ack {
            trigger,
            ..Ack::default()
        };
        tcp.on_ack(at(ms), &ack, &[Range { start, end }], connection);
    }

    /// The segments from `start` to below `end` arrived, in answer to the last of them.
    fn sack(tcp: &mut Tcp, connection: &mut Connection, ms: u64, start: u64, end: u64) {
        let trigger = connection.board.newest_transmission(end - 1).unwrap();
        let ack = Ack {
            trigger,
            ..Ack::default()
        };
        tcp.on_ack(at(ms), &ack, &[Range { start, end }], connection);
    }

    /// The timer fires when it must. Returns what it gave up and says what to do.
    fn time_out(tcp: &mut Tcp, connection: &mut Connection, ms: u64) -> (Expiry, Vec<u64>) {
        assert_eq!(tcp.timeout_at(connection), at(ms));
        let mut lost = Vec::new();
        let expiry = tcp.on_timeout(at(ms), connection, &mut lost);
        for number in &lost {
            connection.lose(*number);
        }
        (expiry, lost)
    }

    const PROBE: Expiry = Expiry::Probe {
        packets: 1,
        repeat: Repeat::Newest,
    };
    const RTO: Expiry = Expiry::Timeout(TimeoutKind::Rto);

    #[test]
    fn silence_brings_one_tail_loss_probe_and_then_retransmission_timeouts() {
        let (mut tcp, mut connection) = sent(2);
        assert_eq!(time_out(&mut tcp, &mut connection, 82), (PROBE, vec![]));
        transmit(&mut tcp, &mut connection, Some(1), 82);
        tcp.on_repeating_probe(1);
        // The probe has a whole timeout for its acknowledgment: 82 + 240.
        let expected = (RTO, vec![0, 1, 2]);
        assert_eq!(time_out(&mut tcp, &mut connection, 322), expected);
        assert!(connection.inflight().is_zero());
        transmit(&mut tcp, &mut connection, Some(0), 322);
        assert_eq!(time_out(&mut tcp, &mut connection, 802), (RTO, vec![3]));
    }

    #[test]
    fn a_lone_segment_is_probed_for_when_the_timer_would_fire() {
        let (mut tcp, mut connection) = sent(1);
        // 2·40 + 200 ms would be later than the timeout.
        assert_eq!(time_out(&mut tcp, &mut connection, 240), (PROBE, vec![]));
    }

    #[test]
    fn there_is_no_probe_without_sack_nor_while_a_segment_is_missing() {
        let (mut tcp, mut connection) = sent(2);
        tcp.sack = false;
        assert_eq!(tcp.timeout_at(&connection), at(240));
        tcp.sack = true;
        assert_eq!(tcp.timeout_at(&connection), at(82));
        sack(&mut tcp, &mut connection, 40, 1, 2);
        assert_eq!(tcp.timeout_at(&connection), at(240));
    }

    #[test]
    fn a_recovery_ends_when_all_that_was_out_at_its_beginning_is_acknowledged() {
        let (mut tcp, mut connection) = sent(5);
        sack(&mut tcp, &mut connection, 40, 1, 4);
        let mut lost = Vec::new();
        tcp.detect_losses(at(40), &connection, &mut lost);
        assert_eq!(lost, [0]);
        connection.lose(0);
        transmit(&mut tcp, &mut connection, Some(0), 40);
        transmit(&mut tcp, &mut connection, None, 40);
        // Segment 5 is the first that left in this recovery, but 0 is still missing.
        sack(&mut tcp, &mut connection, 80, 5, 6);
        assert_eq!(tcp.recovery_point, Some(5));
        ack(&mut tcp, &mut connection, 81, 4, 5);
        assert_eq!(tcp.recovery_point, Some(5));
        ack(&mut tcp, &mut connection, 82, 5, 4);
        assert_eq!(tcp.recovery_point, None);
    }

    #[test]
    fn an_acknowledgment_that_also_has_sack_blocks_counts_by_its_cumulative_part() {
        let (mut tcp, mut connection) = sent(1);
        for ms in [10, 20, 30, 40, 50] {
            transmit(&mut tcp, &mut connection, None, ms);
        }
        let both = Ack {
            trigger: 5,
            ranges: [Range { start: 3, end: 6 }, Range { start: 0, end: 2 }]
                .into_iter()
                .collect(),
            ..Ack::default()
        };
        let new = [Range { start: 0, end: 2 }, Range { start: 3, end: 6 }];
        tcp.on_ack(at(90), &both, &new, &mut connection);
        let mut lost = Vec::new();
        // Segment 2 left at 20. The last one looked at is 1, with an RTT of 80 ms; that of 5 is 40. Neither is
        // reordered: 0 and 1 were above nothing that had arrived.
        tcp.detect_losses(at(90), &connection, &mut lost);
        assert!(lost.is_empty());
        assert_eq!(tcp.loss_time(), Some(at(20 + 80 + 2)));
    }

    #[test]
    fn only_what_moves_the_first_unacknowledged_segment_puts_the_timeout_off() {
        let (mut tcp, mut connection) = sent(4);
        tcp.tlp.on_sent(&connection.board);
        sack(&mut tcp, &mut connection, 50, 3, 4);
        assert_eq!(tcp.rto.armed_at(), at(0));
        ack(&mut tcp, &mut connection, 60, 1, 0);
        assert_eq!(tcp.rto.armed_at(), at(60));
        // Segment 1 again: it is what the timer waits for now.
        transmit(&mut tcp, &mut connection, Some(1), 70);
        assert_eq!(tcp.rto.armed_at(), at(70));
        // Segment 2 left before that; what comes after it says nothing of the retransmission.
        sack(&mut tcp, &mut connection, 80, 2, 3);
        assert_eq!(tcp.rto.armed_at(), at(80));
        transmit(&mut tcp, &mut connection, None, 90);
        sack(&mut tcp, &mut connection, 130, 4, 5);
        assert_eq!(tcp.rto.armed_at(), at(80));
    }

    #[test]
    fn data_acknowledged_by_a_probe_leaves_nothing_in_flight() {
        let (mut tcp, mut connection) = sent(2);
        time_out(&mut tcp, &mut connection, 82);
        transmit(&mut tcp, &mut connection, Some(1), 82);
        tcp.on_repeating_probe(1);
        ack(&mut tcp, &mut connection, 120, 2, 2);
        assert!(connection.inflight().is_zero() && connection.board.all_acked());
    }

    fn timed_out() -> (Tcp, Connection) {
        let (mut tcp, mut connection) = sent(4);
        tcp.tlp.on_sent(&connection.board);
        time_out(&mut tcp, &mut connection, 240);
        transmit(&mut tcp, &mut connection, Some(0), 240);
        connection.board.take_retransmission();
        (tcp, connection)
    }

    #[test]
    fn a_spurious_timeout_is_undone_by_the_original_that_arrives() {
        let (mut tcp, mut connection) = timed_out();
        ack(&mut tcp, &mut connection, 250, 1, 0);
        // The retransmission of segment 0 is of no use any more, the other three are on their way.
        assert_eq!(connection.inflight(), SIZE * 3);
        assert_eq!(connection.board.next_retransmission(), None);
        assert_eq!(tcp.recovery_point, None);
        ack(&mut tcp, &mut connection, 251, 4, 3);
        assert!(connection.inflight().is_zero() && connection.board.all_acked());
    }

    #[test]
    fn a_needed_timeout_stands_when_the_retransmission_is_acknowledged() {
        let (mut tcp, mut connection) = timed_out();
        ack(&mut tcp, &mut connection, 280, 1, 4);
        assert!(connection.inflight().is_zero());
        assert_eq!(connection.board.next_retransmission(), Some((1, SIZE)));
    }
}
