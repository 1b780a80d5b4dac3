//! Every short sequence of events at the edges of the types: what no controller may break.
//!
//! Where the property test draws sequences at random, all of these are tried: three events deep, each a
//! combination of the smallest, a usual and the largest time, volume and rate.

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, LossEvent, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, registry};

const MSS: Bytes = Bytes::new(1200);
const VOLUMES: [u64; 3] = [0, 1200, u64::MAX];
const TIMES: [u64; 3] = [0, 40_000_000, u64::MAX];
const RATES: [u64; 3] = [1, 2_500_000, u64::MAX];

#[derive(Clone, Copy, Debug)]
enum Event {
    Sent { inflight: u64, app_limited: bool },
    Acked { rtt: u64, volume: u64, rate: u64 },
    Lost { volume: u64 },
    Timeout { kind: TimeoutKind, volume: u64 },
    Spurious,
    Marked,
    Wakeup,
}

fn events() -> Vec<Event> {
    let mut events = vec![Event::Spurious, Event::Marked, Event::Wakeup];
    for volume in VOLUMES {
        events.push(Event::Lost { volume });
        for app_limited in [false, true] {
            let inflight = volume;
            events.push(Event::Sent {
                inflight,
                app_limited,
            });
        }
        for kind in [TimeoutKind::Rto, TimeoutKind::PersistentCongestion] {
            events.push(Event::Timeout { kind, volume });
        }
        for rtt in TIMES {
            for rate in RATES {
                events.push(Event::Acked { rtt, volume, rate });
            }
        }
    }
    events
}

fn play(cc: &mut dyn Controller, now: Time, number: u64, event: Event) {
    match event {
        Event::Sent {
            inflight,
            app_limited,
        } => cc.on_packet_sent(&PacketSent {
            now,
            number,
            bytes: MSS,
            inflight: Bytes::new(inflight),
            app_limited,
        }),
        Event::Acked { rtt, volume, rate } => acked(cc, now, number, [rtt, volume, rate]),
        Event::Lost { volume } => {
            let bytes = Bytes::new(volume);
            let packet = LostPacket {
                number,
                bytes,
                sent_at: Time::ZERO,
                sent_inflight: bytes,
                lost: bytes,
                app_limited: false,
            };
            cc.on_loss(&LossEvent {
                now,
                packets: &[packet],
                bytes_lost: bytes,
                inflight: MSS,
            });
        }
        Event::Timeout { kind, volume } => {
            let inflight = Bytes::new(volume);
            cc.on_timeout(&TimeoutEvent {
                now,
                kind,
                inflight,
            });
        }
        Event::Spurious => cc.on_spurious_timeout(now),
        Event::Marked => cc.on_ecn_ce(now, Time::ZERO, 1),
        Event::Wakeup => cc.on_wakeup(now),
    }
}

fn acked(cc: &mut dyn Controller, now: Time, number: u64, [rtt, volume, rate]: [u64; 3]) {
    let (rtt, bytes) = (Duration::from_nanos(rtt), Bytes::new(volume));
    let sent_at = Time::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()));
    cc.on_ack(&AckEvent {
        now,
        packets: &[AckedPacket {
            number,
            bytes,
            sent_at,
            received_at: None,
        }],
        bytes_acked: bytes,
        bytes_lost: Bytes::ZERO,
        rtt: Some(rtt),
        prior_inflight: bytes,
        inflight: Bytes::ZERO,
        rate_sample: Some(RateSample {
            delivery_rate: Rate::from_bytes_per_sec(rate),
            delivered: bytes,
            interval: rtt,
            prior_delivered: Bytes::ZERO,
            total_delivered: bytes,
            lost: Bytes::ZERO,
            total_lost: Bytes::ZERO,
            sent_inflight: bytes,
            sent_at,
            app_limited: false,
        }),
    });
}

/// A window in which a packet fits, a rate that is not zero, a quantum, gains that are finite.
fn check(cc: &dyn Controller, name: &str, path: &[Event]) {
    let cwnd = cc.cwnd();
    assert!(cwnd >= MSS, "{name}: {cwnd:?} after {path:?}");
    let rate = cc.pacing_rate();
    assert!(
        rate.is_none_or(|r| !r.is_zero()),
        "{name}: no rate after {path:?}"
    );
    assert!(
        !cc.send_quantum().is_zero(),
        "{name}: no quantum after {path:?}"
    );
    let snapshot = cc.snapshot();
    for gain in [snapshot.pacing_gain, snapshot.cwnd_gain]
        .into_iter()
        .flatten()
    {
        assert!(
            gain.is_finite() && gain > 0.0,
            "{name}: gain {gain} after {path:?}"
        );
    }
}

#[test]
fn no_three_events_at_the_edges_of_the_types_break_a_controller() {
    let (events, config) = (events(), Config::for_datagram(MSS));
    for entry in registry::all() {
        for sequence in 0..events.len().pow(3) {
            let path = [0, 1, 2].map(|i| events[sequence / events.len().pow(i) % events.len()]);
            let mut cc = registry::build(entry.name, &config).expect("in the registry");
            // The clock reaches its end with the third event.
            for (step, nanos) in TIMES.into_iter().enumerate() {
                let number = step as u64 + 1;
                play(&mut *cc, Time::from_nanos(nanos), number, path[step]);
                check(&*cc, entry.name, &path[..=step]);
            }
        }
    }
}
