//! What is TCP's own in a sender: acknowledgment of segments by SACK, tail loss probe
//! (RFC 8985 §7), retransmission timeout with backoff (RFC 6298) and its undoing where it was
//! spurious (RFC 3522).
//!
//! Limited transmit (RFC 3042) needs no rule of its own: SACKed segments leave the flight at once,
//! so that new data may follow them.

use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Bytes, Duration, Time};

use super::flight::Fate;
use super::loss_detection::GRANULARITY;
use super::ranges::Range;
use super::receiver::Ack;
use super::sender::{Driver, Outgoing, Protocol, Sender};
use crate::probe::Probe;

/// Duplicate acknowledgments that show a loss without RACK's waiting (RFC 5681).
const DUP_THRESHOLD: u64 = 3;

#[derive(Debug)]
pub(super) struct TcpState {
    min_rto: Duration,
    /// How long the peer may hold back an acknowledgment.
    delayed_ack: Duration,
    /// Recovery lasts until a transmission from this number on is delivered.
    recovery_until: Option<u64>,
    /// A tail loss probe is out that repeats a segment: the original's and the probe's number.
    tail_probe: Option<(u64, u64)>,
    /// A tail loss probe was sent since the last progress.
    probed: bool,
    /// After a timeout: transmissions below this number are the originals it gave up. Until it is
    /// known whether one of them arrives after all, they are remembered.
    gave_up_below: Option<u64>,
}

impl TcpState {
    pub(super) fn new(min_rto: Duration, delayed_ack: Duration) -> Self {
        Self {
            min_rto,
            delayed_ack,
            recovery_until: None,
            tail_probe: None,
            probed: false,
            gave_up_below: None,
        }
    }

    /// Whether transmissions that a timeout gave up must be remembered.
    pub(super) fn judges_timeout(&self) -> bool {
        self.gave_up_below.is_some()
    }

    fn may_probe_tail(&self) -> bool {
        !self.probed && self.recovery_until.is_none()
    }
}

impl Sender {
    /// Books newly acknowledged segments; returns the RTT sample.
    pub(super) fn tcp_ack(&mut self, now: Time, ack: &Ack, new: &[Range]) -> Option<Duration> {
        // Timestamps tell which transmission made the receiver answer (RFC 7323).
        let trigger = self.flight.get(ack.trigger).copied();
        let mut sample = None;
        let mut needless = false;
        for range in new {
            for segment in range.start..range.end {
                let Some(newest) = self.segments.newest_transmission(segment) else {
                    continue;
                };
                let triggered = trigger.filter(|t| t.segment == segment);
                if let Some(t) = triggered {
                    sample = Some(now.since(t.sent_at));
                }
                if ack.trigger >= newest {
                    self.deliver(now, newest);
                    continue;
                }
                // The receiver answers something sent earlier than the repetition: an original
                // arrived, and the repetition leaves the flight unseen.
                needless = true;
                if triggered.is_some() {
                    self.flight.settle(newest, Fate::Acked);
                    self.deliver(now, ack.trigger);
                } else {
                    self.deliver_undated(now, newest);
                }
            }
        }
        if needless {
            self.detection.on_spurious_retransmission();
        }
        if let Some(sample) = sample {
            self.rtt.update(sample, Duration::ZERO);
        }
        self.settle_tail_probe();
        self.judge_timeout(now, ack.trigger);
        let delivered = self.detection.newest_delivered();
        let made_progress = !self.newly_acked.is_empty();
        if let Protocol::Tcp(tcp) = &mut self.protocol {
            if tcp
                .recovery_until
                .is_some_and(|until| delivered.is_some_and(|d| d >= until))
            {
                tcp.recovery_until = None;
            }
            if made_progress {
                tcp.probed = false;
            }
        }
        sample
    }

    /// Once a repeated segment is acknowledged, neither of its two transmissions is in flight.
    fn settle_tail_probe(&mut self) {
        let Protocol::Tcp(tcp) = &mut self.protocol else {
            return;
        };
        let Some((original, probe)) = tcp.tail_probe else {
            return;
        };
        if self
            .flight
            .get(probe)
            .is_none_or(|t| t.fate != Fate::InFlight)
        {
            tcp.tail_probe = None;
            // Without DSACK it stays open which of the two arrived; the original counts as
            // delivered, so that a needless probe costs nothing (RFC 8985 §7.4.2 leaves the
            // window alone in that case).
            self.flight.settle(original, Fate::Acked);
        }
    }

    /// After a timeout, the first acknowledgment tells whether it was spurious: it answers an
    /// original, not a retransmission (RFC 3522). Then what was given up is in flight after all.
    fn judge_timeout(&mut self, now: Time, trigger: u64) {
        if self.newly_acked.is_empty() {
            return;
        }
        let Protocol::Tcp(tcp) = &mut self.protocol else {
            return;
        };
        let Some(first) = tcp.gave_up_below.take() else {
            return;
        };
        if trigger >= first {
            return;
        }
        tcp.recovery_until = None;
        self.segments.cancel_retransmissions();
        for number in self.flight.base()..first {
            let Some(t) = self.flight.get(number) else {
                break;
            };
            if t.fate == Fate::Lost && self.segments.newest_transmission(t.segment) == Some(number)
            {
                self.flight.revive(number);
            }
        }
        self.detection.search_again();
        self.bytes_lost_since_ack = Bytes::ZERO;
        if let Driver::Controller(cc) = &mut self.driver {
            cc.on_spurious_timeout(now);
        }
    }

    fn retransmission_timeout(&self, tcp: &TcpState) -> Duration {
        self.rtt.timeout(GRANULARITY).max(tcp.min_rto)
    }

    /// RFC 8985 §7.2: two round trips, and the delay of an acknowledgment where only one packet is
    /// out.
    fn tail_probe_timeout(&self, tcp: &TcpState) -> Duration {
        let base = self.rtt.smoothed() * 2;
        let alone =
            self.segments.oldest().map(|(s, _)| s) == self.segments.newest().map(|(s, _)| s);
        if alone { base + tcp.delayed_ack } else { base }
    }

    pub(super) fn tcp_timeout_at(&self, tcp: &TcpState) -> Time {
        let rto = self.last_progress_at + self.backed_off(self.retransmission_timeout(tcp));
        if tcp.may_probe_tail() && self.rtt.has_sample() {
            rto.min(self.last_sent_at.max(self.last_progress_at) + self.tail_probe_timeout(tcp))
        } else {
            rto
        }
    }

    /// The timer fired: a tail loss probe, or else a retransmission timeout.
    pub(super) fn tcp_timeout<P: Probe>(
        &mut self,
        now: Time,
        out: &mut Vec<Outgoing>,
        probe: &mut P,
    ) {
        let Protocol::Tcp(tcp) = &mut self.protocol else {
            return;
        };
        let (has_sample, may_probe) = (self.rtt.has_sample(), tcp.may_probe_tail());
        if has_sample && may_probe {
            tcp.probed = true;
            self.send_tail_probe(now, out);
            return;
        }
        self.backoff += 1;
        let next = self.flight.next_number();
        self.lost.clear();
        for number in self.flight.base()..next {
            if self
                .flight
                .get(number)
                .is_some_and(|t| t.fate == Fate::InFlight)
            {
                self.lost.push(number);
            }
        }
        if let Protocol::Tcp(tcp) = &mut self.protocol {
            tcp.tail_probe = None;
            tcp.gave_up_below = Some(next);
            tcp.recovery_until = Some(next);
        }
        self.report_losses(now, probe);
        self.report_timeout(now, TimeoutKind::Rto);
    }

    fn send_tail_probe(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        let newest = self.segments.newest();
        let original = newest.and_then(|(segment, _)| self.segments.newest_transmission(segment));
        let number = self.flight.next_number();
        self.transmit_probe(now, newest, out);
        let repeats = out
            .last()
            .is_some_and(|p| p.number == number && p.retransmission);
        if let (Protocol::Tcp(tcp), Some(original), true) = (&mut self.protocol, original, repeats)
        {
            tcp.tail_probe = Some((original, number));
        }
    }

    /// Whether RACK need not wait for reordering.
    pub(super) fn tcp_hurries(&self) -> bool {
        match &self.protocol {
            Protocol::Quic(_) => false,
            Protocol::Tcp(tcp) => {
                tcp.recovery_until.is_some() || self.segments.sacked() >= DUP_THRESHOLD
            }
        }
    }

    /// A loss was found: TCP is in recovery until everything sent so far is settled.
    pub(super) fn tcp_enter_recovery(&mut self) {
        let next = self.flight.next_number();
        if let Protocol::Tcp(tcp) = &mut self.protocol {
            tcp.recovery_until.get_or_insert(next);
        }
    }
}
