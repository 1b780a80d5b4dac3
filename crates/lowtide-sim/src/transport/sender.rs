//! The sending end: what QUIC and TCP have in common.
//!
//! A sender takes data from its source, hands it to the network as the controller allows, and lets
//! its protocol's loss recovery judge what acknowledgments and timers mean.

use std::collections::VecDeque;

use lowtide_cc::controller::{Feedback, PeerSignal, TimeoutKind};
use lowtide_cc::controllers::window::ConstantWindow;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Controller, Ecn};
use lowtide_host::{AckSeen, Driver, Observation, RoundTrip};

use super::connection::Connection;
use super::ecn::EcnSender;
use super::expiry::{Expiry, Repeat};
use super::pacer::Pacer;
use super::ranges::{Range, RangeSet};
use super::receiver::Ack;
use super::recovery::Recovery;
use super::{EcnFeedback, Pacing, TransportConfig};
use crate::probe::Probe;
use crate::source::Source;

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) number: u64,
    pub(crate) segment: u64,
    pub(crate) bytes: Bytes,
    pub(crate) retransmission: bool,
    /// What the controller tells the receiver's estimator with the packet.
    pub(crate) signal: Option<PeerSignal>,
    pub(crate) ecn: Ecn,
    /// Whether the packet says that the window has been reduced (TCP's CWR).
    pub(crate) reduced: bool,
    /// The last of what the application has written (TCP's PSH).
    pub(crate) pushed: bool,
}

/// Where the oracle's slots come from.
pub(crate) trait SlotSource {
    /// When the next packet of `bytes` must be sent; not before `now`.
    fn claim(&mut self, now: Time, bytes: Bytes) -> Time;
}

/// The slots of a flow that the oracle sends for: the bottleneck's schedule says when each packet
/// leaves, not window and pacer.
#[derive(Debug)]
struct Oracle {
    /// When to send for the next slot that this flow holds.
    next: Option<Time>,
}

#[derive(Debug)]
pub(crate) struct Sender {
    flow: usize,
    connection: Connection,
    recovery: Recovery,
    ecn: EcnSender,
    oracle: Option<Oracle>,
    pacer: Pacer,
    source: Source,
    /// The source's frames that have been sent: the last segment of each, and when it was written.
    frames: VecDeque<(u64, Time)>,
    packet_size: Bytes,
    start: Time,
    stop: Time,
    /// What the peer has acknowledged: packet numbers (QUIC) or segments (TCP).
    known: RangeSet,
    /// The pacer holds a packet until then.
    paced_until: Option<Time>,
    waits_for_data: bool,
    complete: bool,
    /// When the newest acknowledgment left that has come.
    newest_ack: Option<Time>,
}

/// What senders fill and empty within an event: all flows share one, so that none allocates and the
/// cache holds it.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// What leaves.
    pub(crate) out: Vec<Outgoing>,
    lost: Vec<u64>,
    new_ranges: Vec<Range>,
}

/// What a sender needs to start.
pub(crate) struct SenderSetup {
    pub(crate) flow: usize,
    pub(crate) transport: TransportConfig,
    pub(crate) ecn: EcnFeedback,
    pub(crate) pacing: Pacing,
    /// `None`: the oracle.
    pub(crate) controller: Option<Box<dyn Controller>>,
    pub(crate) source: Source,
    pub(crate) packet_size: Bytes,
    pub(crate) start: Time,
    pub(crate) stop: Time,
}

impl Sender {
    pub(crate) fn new(setup: SenderSetup) -> Self {
        let oracle = setup.controller.is_none().then_some(Oracle { next: None });
        // The oracle's window is no limit.
        let unlimited = || Box::new(ConstantWindow::new(&Config::default(), u64::MAX)) as Box<_>;
        let controller = setup.controller.unwrap_or_else(unlimited);
        let mut connection = Connection::new(Driver::new(controller), setup.start);
        if let TransportConfig::Quic { .. } = setup.transport {
            connection.board.remember_lost();
        }
        Self {
            flow: setup.flow,
            connection,
            recovery: Recovery::new(&setup.transport),
            ecn: EcnSender::new(setup.ecn),
            oracle,
            pacer: Pacer::new(setup.pacing),
            source: setup.source,
            frames: VecDeque::new(),
            packet_size: setup.packet_size,
            start: setup.start,
            stop: setup.stop,
            known: RangeSet::default(),
            paced_until: None,
            waits_for_data: false,
            complete: false,
            newest_ack: None,
        }
    }

    /// When the newest acknowledgment left that has come.
    #[inline]
    pub(crate) fn newest_ack(&self) -> Option<Time> {
        self.newest_ack
    }

    fn controller(&self) -> &dyn Controller {
        self.connection.driver.controller()
    }

    /// The lowest number that an acknowledgment can still newly cover.
    #[inline]
    pub(crate) fn first_unacked(&self) -> u64 {
        self.recovery.first_unacked(&self.connection)
    }

    /// When the sender next wants [`on_timer`](Self::on_timer), without new acknowledgments.
    #[inline]
    pub(crate) fn next_event(&self, now: Time) -> Option<Time> {
        if now < self.start {
            return Some(self.start);
        }
        if now >= self.stop {
            return None;
        }
        let mut next = self.paced_until.unwrap_or(Time::MAX);
        if !self.connection.inflight().is_zero() {
            // No other timer runs beside that of loss detection (RFC 9002 §6.2.1; Linux has one timer for RACK, TLP and
            // RTO).
            if let Some(loss_time) = self.recovery.loss_time() {
                next = next.min(loss_time);
            } else if !self.holds_slot() {
                next = next.min(self.recovery.timeout_at(&self.connection));
            }
        }
        if self.waits_for_data
            && let Some(write) = self.source.next_write()
        {
            next = next.min(write);
        }
        if let Some(wakeup) = self.controller().next_wakeup() {
            next = next.min(wakeup);
        }
        if let Some(slot) = self.oracle.as_ref().and_then(|o| o.next) {
            next = next.min(slot);
        }
        // A timeout that counts from the past is overdue as soon as an acknowledgment makes it shorter.
        (next != Time::MAX).then_some(next.max(now))
    }

    /// Whether this is the oracle with a slot to come. It then needs no retransmission timer: the
    /// packet in that slot makes the peer acknowledge. A probe in between would be one packet more
    /// than a link that is always busy can carry, and would stand in its queue forever.
    fn holds_slot(&self) -> bool {
        self.oracle.as_ref().is_some_and(|o| o.next.is_some())
    }

    /// Some timer may be due.
    pub(crate) fn on_timer<P: Probe>(
        &mut self,
        now: Time,
        slots: &mut impl SlotSource,
        work: &mut Workspace,
        probe: &mut P,
    ) {
        if now < self.start || now >= self.stop {
            return;
        }
        self.connection.driver.wake(now, now);
        if !self.connection.inflight().is_zero() {
            if let Some(loss_time) = self.recovery.loss_time() {
                if loss_time <= now {
                    self.detect_losses(now, work);
                    self.settle(now, None, probe);
                    self.forget_settled();
                }
            } else if !self.holds_slot() && self.recovery.timeout_at(&self.connection) <= now {
                probe.on_timeout(self.flow, now);
                self.on_timeout(now, work, probe);
            }
        }
        self.pump(now, slots, &mut work.out);
    }

    fn on_timeout<P: Probe>(&mut self, now: Time, work: &mut Workspace, probe: &mut P) {
        work.lost.clear();
        match self
            .recovery
            .on_timeout(now, &self.connection, &mut work.lost)
        {
            Expiry::Probe { packets, repeat } => {
                for _ in 0..packets {
                    self.transmit_probe(now, repeat, &mut work.out);
                }
            }
            Expiry::Timeout(kind) => {
                self.give_up(&work.lost, Some(kind));
                self.settle(now, None, probe);
            }
        }
    }

    /// An acknowledgment arrived.
    pub(crate) fn on_ack<P: Probe>(
        &mut self,
        now: Time,
        ack: &Ack,
        slots: &mut impl SlotSource,
        work: &mut Workspace,
        probe: &mut P,
    ) {
        self.newest_ack = self.newest_ack.max(Some(ack.sent_at));
        let connection = &mut self.connection;
        if let Some(rate) = ack.feedback {
            let carrier = ack.number;
            connection
                .driver
                .on_feedback(&Feedback { now, carrier, rate });
        }
        if !ack.timestamps.is_empty() {
            // What cannot be read says nothing.
            let _ = connection.arrivals.read(&ack.timestamps);
        }
        let first_unacked = self.recovery.first_unacked(connection);
        work.new_ranges.clear();
        self.known.forget_below(first_unacked);
        for range in ack.ranges.iter().rev() {
            let start = range.start.max(first_unacked);
            let end = range.end;
            self.known
                .insert_range(Range { start, end }, |gap| work.new_ranges.push(gap));
        }
        let sample = self.recovery.on_ack(now, ack, &work.new_ranges, connection);
        if !connection.driver.has_acked() {
            return;
        }
        self.detect_losses(now, work);
        self.note_marks(ack, &work.new_ranges);
        self.pacer.on_ack();
        self.settle(now, sample, probe);
        self.forget_settled();
        if !self.complete && self.connection.board.all_acked() && self.source.is_finished() {
            self.complete = true;
            probe.on_flow_complete(self.flow, now);
        }
        if now < self.stop {
            self.pump(now, slots, &mut work.out);
        }
    }

    /// Notes the packets that the acknowledgment says were marked.
    #[inline]
    fn note_marks(&mut self, ack: &Ack, new_ranges: &[Range]) {
        if !self.ecn.in_use() {
            return;
        }
        let newly_acked = new_ranges.iter().map(|r| r.end - r.start).sum();
        let next = self.connection.board.next_number();
        let marked = self.ecn.on_ack(ack.ecn, newly_acked, ack.trigger, next);
        self.connection.driver.note_marked(marked);
    }

    /// Runs loss detection.
    #[inline]
    fn detect_losses(&mut self, now: Time, work: &mut Workspace) {
        work.lost.clear();
        let timeout = self
            .recovery
            .detect_losses(now, &self.connection, &mut work.lost);
        if !work.lost.is_empty() {
            self.give_up(&work.lost, timeout);
        }
    }

    /// Takes the transmissions in `lost` out of flight and queues their data again.
    fn give_up(&mut self, lost: &[u64], timeout: Option<TimeoutKind>) {
        for &number in lost {
            self.connection.lose(number);
        }
        self.pacer.on_loss();
        if let Some(kind) = timeout {
            self.connection.driver.note_timeout(kind);
        }
    }

    /// Tells the controller what has become of its packets.
    #[inline]
    fn settle<P: Probe>(&mut self, now: Time, sample: Option<Duration>, probe: &mut P) {
        let rtt = RoundTrip {
            sample,
            smoothed: self.connection.rtt.smoothed(),
            min: self.connection.rtt.min(),
        };
        let (flow, is_oracle) = (self.flow, self.oracle.is_some());
        self.connection.driver.settle(now, rtt, |seen| match seen {
            Observation::Loss(loss) => probe.on_loss(flow, &loss),
            Observation::Marked(..) => {}
            Observation::Ack(ack) => {
                let controller = ack.controller.filter(|_| !is_oracle);
                probe.on_ack(flow, &AckSeen { controller, ..ack });
            }
        });
    }

    /// Sends what may be sent.
    pub(crate) fn pump(&mut self, now: Time, slots: &mut impl SlotSource, out: &mut Vec<Outgoing>) {
        self.paced_until = None;
        self.waits_for_data = false;
        loop {
            let Some(bytes) = self.next_bytes(now) else {
                if !self.connection.board.fills_receive_window() {
                    self.waits_for_data = true;
                    self.note_app_limited();
                }
                if let Some(oracle) = &mut self.oracle {
                    oracle.pass(now);
                }
                return;
            };
            let may_leave = match &mut self.oracle {
                Some(oracle) => oracle.release(now, bytes, slots),
                None => self.release(now, bytes),
            };
            if !may_leave {
                return;
            }
            self.transmit_next(now, out);
        }
    }

    /// Whether window and pacer let a packet of `bytes` leave now.
    #[inline]
    fn release(&mut self, now: Time, bytes: Bytes) -> bool {
        let controller = self.connection.driver.controller();
        let cwnd = controller.cwnd();
        if self.connection.inflight() + bytes > cwnd {
            self.pacer.on_window_full();
            return false;
        }
        let rate = match controller.pacing_rate() {
            Some(rate) => Some(rate),
            None => self.window_pacing_rate(cwnd),
        };
        let Some(rate) = rate else {
            return true;
        };
        let quantum = controller.send_quantum();
        if let Err(until) = self.pacer.release(now, bytes, rate, quantum) {
            self.paced_until = Some(until);
            return false;
        }
        self.pacer.on_sent(bytes, rate);
        true
    }

    /// Size of the next packet to send; `None` when there is nothing to send.
    #[inline]
    fn next_bytes(&mut self, now: Time) -> Option<Bytes> {
        if let Some((_, bytes)) = self.connection.board.next_retransmission() {
            return Some(bytes);
        }
        if self.connection.board.fills_receive_window() {
            return None;
        }
        let available = self.source.available(now);
        (!available.is_zero()).then(|| available.min(self.packet_size))
    }

    #[inline]
    fn window_pacing_rate(&self, cwnd: Bytes) -> Option<Rate> {
        let rtt = &self.connection.rtt;
        let paces = self.recovery.paces_by_window() && rtt.has_sample();
        paces.then(|| lowtide_host::window_pacing_rate(cwnd, rtt.smoothed()))
    }

    fn note_app_limited(&mut self) {
        let driver = &mut self.connection.driver;
        if driver.inflight() < driver.controller().cwnd() {
            driver.on_app_limited();
        }
    }

    /// Sends the lowest lost data, or else new data that the source must have.
    #[inline]
    fn transmit_next(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        if let Some((segment, bytes)) = self.connection.board.next_retransmission() {
            self.connection.board.take_retransmission();
            self.transmit(now, Some(segment), bytes, out);
        } else {
            let bytes = self.source.available(now).min(self.packet_size);
            self.source.take(bytes);
            let segment = self.transmit(now, None, bytes, out);
            while let Some(written_at) = self.source.completed_frame() {
                self.frames.push_back((segment, written_at));
            }
        }
    }

    /// Sends a packet regardless of window and pacer: lost data, new data, or else old data again (RFC 9002 §6.2.4,
    /// §7.5; RFC 8985 §7.3).
    fn transmit_probe(&mut self, now: Time, repeat: Repeat, out: &mut Vec<Outgoing>) {
        if self.next_bytes(now).is_some() {
            return self.transmit_next(now, out);
        }
        let board = &self.connection.board;
        let repeated = match repeat {
            Repeat::Oldest => board.oldest_segment(),
            Repeat::Newest => board.newest_segment(),
        };
        if let Some((segment, bytes)) = repeated {
            let original = board.newest_transmission(segment);
            self.transmit(now, Some(segment), bytes, out);
            if let Some(original) = original {
                self.recovery.on_repeating_probe(original);
            }
        }
    }

    /// When the oldest frame was written of which everything lies below a segment; then the next one.
    #[inline]
    pub(crate) fn frame_below(&mut self, segment: u64) -> Option<Time> {
        let (_, written_at) = *self.frames.front().filter(|(last, _)| *last < segment)?;
        self.frames.pop_front();
        Some(written_at)
    }

    /// Puts one packet on the wire; `segment`: old data, otherwise new. Returns the segment.
    fn transmit(
        &mut self,
        now: Time,
        segment: Option<u64>,
        bytes: Bytes,
        out: &mut Vec<Outgoing>,
    ) -> u64 {
        self.recovery.on_sent(now, segment, &self.connection);
        let connection = &mut self.connection;
        connection.last_sent_at = now;
        let number = connection.board.next_number();
        let (_, rate_state) = connection.driver.on_sent(now, number, bytes);
        let retransmission = segment.is_some();
        let segment = connection.board.transmit(segment, bytes, now, rate_state);
        let wanted = connection.driver.controller().ecn();
        let (ecn, reduced) = self.ecn.on_send(wanted, retransmission);
        let pushed = !retransmission && self.source.available(now).is_zero();
        out.push(Outgoing {
            number,
            segment,
            bytes,
            retransmission,
            signal: connection.driver.controller().peer_signal(),
            ecn,
            reduced,
            pushed,
        });
        segment
    }

    #[inline]
    fn forget_settled(&mut self) {
        if !self.recovery.needs_settled() {
            self.connection.board.forget_settled();
        }
    }
}

impl Oracle {
    /// Whether the slot in which a packet of `bytes` leaves has come.
    fn release(&mut self, now: Time, bytes: Bytes, slots: &mut impl SlotSource) -> bool {
        let slot = *self.next.get_or_insert_with(|| slots.claim(now, bytes));
        let is_due = slot <= now;
        if is_due {
            self.next = None;
        }
        is_due
    }

    /// A slot that comes when there is nothing to send is left unused.
    fn pass(&mut self, now: Time) {
        self.next = self.next.filter(|slot| *slot > now);
    }
}

#[cfg(test)]
mod kernel;
