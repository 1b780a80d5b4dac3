//! Events by hand, to drive a part of a controller. Packets have 1000 bytes.

use lowtide_cc::controller::{AckEvent, AckedPacket, LossEvent, LostPacket, PacketSent};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

pub(crate) const MSS: Bytes = Bytes::new(1000);

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A packet was sent; it is in flight.
pub(crate) fn sent(now: Time, number: u64, inflight: Bytes) -> PacketSent {
    PacketSent {
        now,
        number,
        bytes: MSS,
        inflight,
        app_limited: false,
    }
}

pub(crate) fn lost(number: u64, sent_at: Time) -> LostPacket {
    LostPacket {
        number,
        bytes: MSS,
        sent_at,
        sent_inflight: MSS,
        lost: MSS,
        app_limited: false,
    }
}

/// These packets were found lost; so much is left in flight.
pub(crate) fn loss(now: Time, packets: &[LostPacket], inflight: Bytes) -> LossEvent<'_> {
    LossEvent {
        now,
        packets,
        bytes_lost: MSS * packets.len() as u64,
        inflight,
    }
}

/// An acknowledgment at `now` of these packets, with its RTT and without losses.
pub(crate) fn ack(now: Time, rtt: Duration, packets: &[AckedPacket]) -> AckEvent<'_> {
    AckEvent {
        now,
        packets,
        bytes_acked: MSS * packets.len() as u64,
        bytes_lost: Bytes::ZERO,
        rtt: Some(rtt),
        prior_inflight: MSS * 10,
        inflight: MSS * 9,
        rate_sample: None,
    }
}

pub(crate) fn packet(number: u64, sent_at: Time) -> AckedPacket {
    AckedPacket {
        number,
        bytes: MSS,
        sent_at,
        received_at: None,
    }
}

/// A sample of one packet, not application-limited.
pub(crate) fn rate_sample(delivery_rate: Rate) -> RateSample {
    RateSample {
        delivery_rate,
        delivered: MSS,
        interval: ms(1),
        prior_delivered: Bytes::ZERO,
        total_delivered: MSS,
        lost: Bytes::ZERO,
        total_lost: Bytes::ZERO,
        sent_inflight: MSS,
        sent_at: at(0),
        app_limited: false,
    }
}
