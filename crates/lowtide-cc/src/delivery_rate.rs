//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation; section numbers are those of
//! draft-ietf-ccwg-bbr-06, which has taken it over).
//!
//! The host owns one [`DeliveryRateSampler`] per connection and keeps the [`PacketRateState`] that
//! it gets for each packet sent, next to its own record of that packet. A sample is the data
//! delivered between the sending of a packet and its acknowledgment, over the longer of the time
//! it took to send and the time it took to acknowledge that data.

use crate::units::{Bytes, Duration, Rate, Time};

/// State of the connection at the moment a packet was sent (the draft's `P.*`, §4.1.2.1.2). Kept by the host
/// until the packet is acknowledged or lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketRateState {
    /// Total data delivered when the packet was sent.
    pub delivered: Bytes,
    /// When `delivered` was last updated.
    pub delivered_at: Time,
    /// When the first packet of the packet's flight was sent.
    pub first_sent_at: Time,
    /// Total data declared lost when the packet was sent.
    pub lost: Bytes,
    /// Bytes in flight with this packet included.
    pub inflight: Bytes,
    /// Whether the flow was application-limited.
    pub app_limited: bool,
}

/// One delivery-rate sample (the draft's `RS.*`, §4.1.2.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// The sample itself: `delivered / interval`.
    pub delivery_rate: Rate,
    /// Data delivered over `interval`.
    pub delivered: Bytes,
    /// The longer of the send and the ACK interval.
    pub interval: Duration,
    /// Total data delivered when the sampled packet was sent; marks packet-timed rounds.
    pub prior_delivered: Bytes,
    /// Total data delivered now.
    pub total_delivered: Bytes,
    /// Data declared lost between the sending of the sampled packet and now.
    pub lost: Bytes,
    /// Total data declared lost now.
    pub total_lost: Bytes,
    /// Bytes in flight when the sampled packet was sent, with it included.
    pub sent_inflight: Bytes,
    /// When the sampled packet was sent.
    pub sent_at: Time,
    /// The application limited the flow when the sampled packet was sent: the rate may be too low.
    pub app_limited: bool,
}

/// Takes delivery-rate samples for one connection (the draft's `C.*`, §4.1.2.1.1).
#[derive(Clone, Debug, Default)]
pub struct DeliveryRateSampler {
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
    lost: Bytes,
    /// The flow counts as application-limited until this much has been delivered.
    app_limited_until: Option<Bytes>,
    /// The newest packet acknowledged since the last call of `sample`.
    newest: Option<(Time, PacketRateState)>,
}

impl DeliveryRateSampler {
    /// A sampler for a connection that has sent nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A packet of `bytes` leaves while `inflight` other bytes are in flight (`OnPacketSent`, §4.1.2.2).
    #[inline]
    pub fn on_packet_sent(&mut self, now: Time, bytes: Bytes, inflight: Bytes) -> PacketRateState {
        if inflight.is_zero() {
            // After idleness the intervals start anew, or the idle time would lower the rate.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        PacketRateState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            inflight: inflight + bytes,
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// The packet of `bytes` that was sent at `sent_at` with `state` is newly acknowledged. Call it
    /// for every packet of an acknowledgment, then [`sample`](Self::sample) once (`UpdateRateSample`, §4.1.2.3).
    #[inline]
    pub fn on_packet_acked(
        &mut self,
        now: Time,
        bytes: Bytes,
        sent_at: Time,
        state: &PacketRateState,
    ) {
        self.delivered += bytes;
        self.delivered_at = now;
        let is_newest = match &self.newest {
            None => true,
            Some((newest, s)) => (sent_at, state.delivered) >= (*newest, s.delivered),
        };
        if is_newest {
            self.newest = Some((sent_at, *state));
            self.first_sent_at = sent_at;
        }
    }

    /// The packet of `bytes` that was sent with `state` is declared lost. Returns what has been
    /// declared lost since it was sent, itself included.
    #[inline]
    pub fn on_packet_lost(&mut self, bytes: Bytes, state: &PacketRateState) -> Bytes {
        self.lost += bytes;
        self.lost - state.lost
    }

    /// The application has nothing to send although window and pacer would allow it, with
    /// `inflight` bytes in flight: samples of packets sent from now on may be too low, until what
    /// is in flight now has been delivered (`MarkConnectionAppLimited`, §4.1.2.4; the host checks the conditions).
    #[inline]
    pub fn on_app_limited(&mut self, inflight: Bytes) {
        // One byte past the flight, so that the mark survives an empty pipe.
        self.app_limited_until = Some(self.delivered + inflight.max(Bytes::new(1)));
    }

    /// Whether packets sent now are marked application-limited.
    #[inline]
    #[must_use]
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// Total data delivered.
    #[must_use]
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Total data declared lost.
    #[must_use]
    pub fn lost(&self) -> Bytes {
        self.lost
    }

    /// The sample of the acknowledgment that has just been fed in, or `None` when nothing was newly
    /// acknowledged or the interval is shorter than `min_rtt`: such a sample comes from an
    /// acknowledgment of something else (a spurious retransmission) and would be far too high (`GenerateRateSample`,
    /// §4.1.2.3). The draft then leaves the rate out and keeps the rest of the sample; here all of it is left out.
    #[inline]
    pub fn sample(&mut self, min_rtt: Duration) -> Option<RateSample> {
        let (sent_at, state) = self.newest.take()?;
        if self
            .app_limited_until
            .is_some_and(|until| self.delivered > until)
        {
            self.app_limited_until = None;
        }
        let send_elapsed = sent_at.since(state.first_sent_at);
        let ack_elapsed = self.delivered_at.since(state.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        if interval.is_zero() || (min_rtt != Duration::MAX && interval < min_rtt) {
            return None;
        }
        let delivered = self.delivered - state.delivered;
        Some(RateSample {
            delivery_rate: Rate::from_volume(delivered, interval),
            delivered,
            interval,
            prior_delivered: state.delivered,
            total_delivered: self.delivered,
            lost: self.lost - state.lost,
            total_lost: self.lost,
            sent_inflight: state.inflight,
            sent_at,
            app_limited: state.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::events::{MSS, at};

    #[test]
    fn a_sample_is_the_delivered_volume_over_the_longer_of_send_and_ack_interval() {
        let mut s = DeliveryRateSampler::new();
        // Ten packets in 1 ms; acknowledgments return 40 ms later, one each 2 ms.
        let states: Vec<PacketRateState> = (0..10)
            .map(|n| s.on_packet_sent(at(1000), MSS, MSS * n))
            .collect();
        let min_rtt = Duration::from_millis(40);
        let mut rates = Vec::new();
        for (n, state) in states.iter().enumerate() {
            s.on_packet_acked(at(1040 + 2 * n as u64), MSS, at(1000), state);
            rates.push(s.sample(min_rtt).unwrap().delivery_rate.as_bytes_per_sec());
        }
        // All were sent with nothing delivered: n packets in 40 + 2(n − 1) ms.
        assert_eq!(rates[0], 25_000);
        assert_eq!(rates[9], 10_000 * 1000 / 58);
        // The next flight, sent at 1060, spans the ACKs of one round.
        let state = s.on_packet_sent(at(1060), MSS, Bytes::ZERO);
        s.on_packet_acked(at(1102), MSS, at(1060), &state);
        let sample = s.sample(min_rtt).unwrap();
        assert_eq!((sample.delivered, sample.prior_delivered), (MSS, MSS * 10));
        assert_eq!(
            sample.interval,
            Duration::from_millis(42),
            "idle time does not count"
        );
    }

    #[test]
    fn an_interval_below_min_rtt_gives_no_sample() {
        let mut s = DeliveryRateSampler::new();
        let state = s.on_packet_sent(at(0), MSS, Bytes::ZERO);
        s.on_packet_acked(at(10), MSS, at(0), &state);
        assert_eq!(s.sample(Duration::from_millis(11)), None);
        assert_eq!(
            s.sample(Duration::from_millis(1)),
            None,
            "nothing new was acknowledged"
        );
    }

    #[test]
    fn packets_sent_while_the_application_is_the_limit_are_marked_until_the_flight_has_passed() {
        let mut s = DeliveryRateSampler::new();
        let first = s.on_packet_sent(at(0), MSS, Bytes::ZERO);
        s.on_app_limited(MSS);
        let second = s.on_packet_sent(at(1), MSS, MSS);
        assert!(!first.app_limited && second.app_limited);
        s.on_packet_acked(at(40), MSS, at(0), &first);
        assert!(!s.sample(Duration::ZERO).unwrap().app_limited);
        assert!(s.is_app_limited());
        s.on_packet_acked(at(41), MSS, at(1), &second);
        assert!(s.sample(Duration::ZERO).unwrap().app_limited);
        assert!(
            !s.is_app_limited(),
            "what was in flight then has been delivered"
        );
    }
}
