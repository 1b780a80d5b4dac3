//! What is QUIC's own in a sender: acknowledgment of packet numbers, probe timeout, persistent
//! congestion (RFC 9002).

use lowtide_cc::units::{Duration, Time};

use super::flight::Fate;
use super::loss_detection::GRANULARITY;
use super::ranges::Range;
use super::receiver::Ack;
use super::sender::{Outgoing, Protocol, Sender};

/// Packets sent when the probe timeout fires (RFC 9002 §6.2.4 allows one or two).
const PROBES: usize = 2;
/// Probe timeouts that make persistent congestion (RFC 9002 §7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;

#[derive(Debug)]
pub(super) struct QuicState {
    /// What the peer announced as its longest acknowledgment delay.
    max_ack_delay: Duration,
    /// Packets sent before the first RTT sample cannot show persistent congestion
    /// (RFC 9002 §7.6.2).
    first_rtt_sample_at: Option<Time>,
}

impl QuicState {
    pub(super) fn new(max_ack_delay: Duration) -> Self {
        Self {
            max_ack_delay,
            first_rtt_sample_at: None,
        }
    }
}

impl Sender {
    /// Books newly acknowledged packets; returns the RTT sample.
    #[inline]
    pub(super) fn quic_ack(&mut self, now: Time, ack: &Ack, new: &[Range]) -> Option<Duration> {
        let mut newest = None;
        for range in new {
            for number in range.start..range.end {
                if let Some(t) = self.deliver(now, number) {
                    newest = Some((number, t.sent_at));
                }
            }
        }
        // RFC 9002 §5.1: a sample only if the largest acknowledged packet is newly acknowledged.
        let largest = ack.ranges.first()?.end - 1;
        let (_, sent_at) = newest.filter(|(number, _)| *number == largest)?;
        let sample = now.since(sent_at);
        let Protocol::Quic(quic) = &mut self.protocol else {
            return None;
        };
        quic.first_rtt_sample_at.get_or_insert(now);
        self.rtt.update(sample, ack.delay.min(quic.max_ack_delay));
        Some(sample)
    }

    fn probe_timeout(&self, quic: &QuicState) -> Duration {
        self.rtt.timeout(GRANULARITY) + quic.max_ack_delay
    }

    pub(super) fn quic_timeout_at(&self, quic: &QuicState) -> Time {
        self.last_sent_at + self.backed_off(self.probe_timeout(quic))
    }

    /// The probe timeout fired: make the peer acknowledge.
    pub(super) fn quic_probe(&mut self, now: Time, out: &mut Vec<Outgoing>) {
        self.backoff += 1;
        for _ in 0..PROBES {
            let oldest = self.segments.oldest();
            self.transmit_probe(now, oldest, out);
        }
    }

    /// Whether the losses in `self.lost` span persistent congestion: two of them lie further apart
    /// than its duration, and nothing between them was acknowledged (RFC 9002 §7.6.2).
    pub(super) fn is_persistent_congestion(&self) -> bool {
        let Protocol::Quic(quic) = &self.protocol else {
            return false;
        };
        let Some(first_sample) = quic.first_rtt_sample_at else {
            return false;
        };
        let duration = self.probe_timeout(quic) * PERSISTENT_CONGESTION_THRESHOLD;
        let mut run: Option<(u64, Time)> = None;
        for &number in &self.lost {
            let Some(t) = self.flight.get(number).filter(|t| t.sent_at > first_sample) else {
                continue;
            };
            let broken = run.is_some_and(|(last, _)| {
                (last + 1..number)
                    .any(|n| self.flight.get(n).is_some_and(|t| t.fate == Fate::Acked))
            });
            let since = match run {
                Some((_, since)) if !broken => since,
                _ => t.sent_at,
            };
            if t.sent_at.since(since) > duration {
                return true;
            }
            run = Some((number, since));
        }
        false
    }
}
