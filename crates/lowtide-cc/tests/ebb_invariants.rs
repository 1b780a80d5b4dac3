//! What ebb keeps after any events that a host may produce.

use lowtide_cc::controller::{
    AckEvent, AckedPacket, LossEvent, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Transport, registry};
use proptest::prelude::*;

/// An event: kind, time since the one before, and two numbers that it takes what it needs from.
type Event = (u8, u32, u32, u32);

/// Up to 65 µs, 1 ms, 17 ms or 270 ms.
fn span(number: u32) -> Duration {
    Duration::from_nanos(u64::from(number & 0xFFFF) << (number >> 30 << 2))
}

/// Plays the events with all bytes as many times as many, and returns the windows. `check` sees each
/// window, and the size of a packet.
fn play(events: &[Event], times: u64, check: impl Fn(Bytes, Bytes)) -> Vec<Bytes> {
    let mut packet = Bytes::new(1200 * times);
    let config = Config {
        max_datagram: packet,
        initial_window: packet * 10,
        now: Time::ZERO,
        seed: 1,
        transport: Transport::default(),
    };
    let mut ebb = registry::build("ebb", &config).unwrap();
    let (mut now, mut sent, mut inflight) = (Time::ZERO, 0, Bytes::ZERO);
    let mut windows = Vec::new();
    for &(kind, gap, a, b) in events {
        now += span(gap);
        let bytes = (packet * u64::from(1 + a % 3)).min(inflight);
        let rtt = Duration::from_millis(20) + span(b);
        let sent_at = Time::ZERO + (now.since(Time::ZERO) - rtt);
        match kind {
            0..160 => {
                sent += 1;
                inflight += packet;
                ebb.on_packet_sent(&PacketSent {
                    now,
                    number: sent,
                    bytes: packet,
                    inflight,
                    app_limited: a % 4 == 0,
                });
            }
            _ if kind >= 160 && kind != 166 && bytes.is_zero() => {}
            160..164 => {
                inflight -= bytes;
                let packets = [LostPacket {
                    number: sent,
                    bytes,
                    sent_at,
                    sent_inflight: inflight,
                    lost: bytes,
                    app_limited: false,
                }];
                ebb.on_loss(&LossEvent {
                    now,
                    packets: &packets,
                    bytes_lost: bytes,
                    inflight,
                });
            }
            164 => ebb.on_timeout(&TimeoutEvent {
                now,
                kind: TimeoutKind::Rto,
                inflight,
            }),
            165 => ebb.on_spurious_timeout(now),
            166 => {
                packet = Bytes::new(u64::from(1 + a % 9000) * times);
                ebb.on_mtu_change(packet);
            }
            _ => {
                let prior_inflight = inflight;
                inflight -= bytes;
                let packets = [AckedPacket {
                    number: sent,
                    bytes,
                    sent_at,
                    received_at: (a % 3 == 0).then(|| sent_at + span(a)),
                }];
                ebb.on_ack(&AckEvent {
                    now,
                    packets: &packets,
                    bytes_acked: bytes,
                    bytes_lost: Bytes::ZERO,
                    rtt: Some(rtt),
                    prior_inflight,
                    inflight,
                    rate_sample: Some(RateSample {
                        delivery_rate: Rate::from_bytes_per_sec((100_000 + u64::from(a)) * times),
                        delivered: bytes,
                        interval: rtt,
                        prior_delivered: Bytes::ZERO,
                        total_delivered: bytes,
                        lost: Bytes::ZERO,
                        total_lost: Bytes::ZERO,
                        sent_inflight: prior_inflight,
                        sent_at,
                        app_limited: b % 4 == 0,
                    }),
                });
            }
        }
        check(ebb.cwnd(), packet);
        let rate = ebb.pacing_rate().expect("it paces");
        assert!(!rate.is_zero() && rate < Rate::MAX, "{rate}");
        windows.push(ebb.cwnd());
    }
    windows
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(any::<Event>(), 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_window_holds_four_packets_at_least(events in events()) {
        play(&events, 1, |cwnd, packet| assert!(cwnd >= packet * 4, "{cwnd} for {packet}"));
    }

    #[test]
    fn the_same_events_make_the_same_windows(events in events()) {
        assert_eq!(play(&events, 1, |_, _| ()), play(&events, 1, |_, _| ()));
    }

    #[test]
    fn twice_the_bytes_make_twice_the_window(events in events()) {
        // Windows are whole bytes. In packets of 1200 of them, a rounded one turns a decision in one
        // of some ten thousand histories; in packets a thousand times as large, in far fewer.
        let (once, twice) = (play(&events, 1000, |_, _| ()), play(&events, 2000, |_, _| ()));
        for (once, twice) in once.iter().zip(&twice) {
            // CUBIC's part in the window rounds, too.
            let rounding = 2.0 + 1e-3 * once.as_f64();
            let error = twice.as_f64() - 2.0 * once.as_f64();
            assert!(error.abs() <= rounding, "{twice} and {once}");
        }
    }
}
