//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).
//!
//! The host owns one [`DeliveryRateSampler`] per connection and keeps the [`PacketRateState`] that
//! it gets for each packet sent, next to its own record of that packet. A sample is the data
//! delivered between the sending of a packet and its acknowledgment, over the longer of the time
//! it took to send and the time it took to acknowledge that data.

use crate::units::{Bytes, Duration, Rate, Time};

/// State of the connection at the moment a packet was sent (the draft's `P.*`). Kept by the host
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

/// One delivery-rate sample (the draft's `rs.*`).
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

/// Takes delivery-rate samples for one connection (the draft's `C.*`).
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

    /// A packet of `bytes` leaves while `inflight` other bytes are in flight.
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
    /// for every packet of an acknowledgment, then [`sample`](Self::sample) once.
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

    /// A packet of `bytes` was declared lost.
    #[inline]
    pub fn on_packet_lost(&mut self, bytes: Bytes) {
        self.lost += bytes;
    }

    /// The application has nothing to send although window and pacer would allow it, with
    /// `inflight` bytes in flight: samples of packets sent from now on may be too low, until what
    /// is in flight now has been delivered.
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
    /// acknowledgment of something else (a spurious retransmission) and would be far too high.
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
