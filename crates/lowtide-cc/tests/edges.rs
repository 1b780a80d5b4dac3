//! Every short sequence of events at the edges of the types: what no controller may break.
//!
//! Where the property test draws sequences at random, all of these are tried: three events deep, each a
//! combination of the smallest, a usual and the largest time, volume and rate.

#[path = "controllers/events.rs"]
#[allow(dead_code, reason = "the controllers' own tests need more of it")]
mod events;

use events::MSS;
use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, LossEvent, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, registry};

const VOLUMES: [u64; 3] = [0, 1000, u64::MAX];
const TIMES: [u64; 3] = [0, 40_000_000, u64::MAX];
const RATES: [u64; 3] = [1, 2_500_000, u64::MAX];

#[derive(Clone, Copy, Debug)]
enum Event {
    Sent(Bytes, bool),
    Acked(Bytes, Duration, Rate),
    Lost(Bytes),
    Timeout(TimeoutKind, Bytes),
    Spurious,
    Marked,
    Wakeup,
}

fn events() -> Vec<Event> {
    let mut events = vec![Event::Spurious, Event::Marked, Event::Wakeup];
    for volume in VOLUMES.map(Bytes::new) {
        events.push(Event::Lost(volume));
        events.extend([false, true].map(|limited| Event::Sent(volume, limited)));
        for kind in [TimeoutKind::Rto, TimeoutKind::PersistentCongestion] {
            events.push(Event::Timeout(kind, volume));
        }
        for rtt in TIMES.map(Duration::from_nanos) {
            for rate in RATES.map(Rate::from_bytes_per_sec) {
                events.push(Event::Acked(volume, rtt, rate));
            }
        }
    }
    events
}

fn play(cc: &mut dyn Controller, now: Time, number: u64, event: Event) {
    match event {
        Event::Sent(inflight, app_limited) => cc.on_packet_sent(&PacketSent {
            app_limited,
            ..events::sent(now, number, inflight)
        }),
        Event::Acked(bytes, rtt, rate) => {
            let sent_at = now - rtt;
            let acked = [AckedPacket {
                bytes,
                ..events::packet(number, sent_at)
            }];
            cc.on_ack(&AckEvent {
                bytes_acked: bytes,
                prior_inflight: bytes,
                inflight: Bytes::ZERO,
                rate_sample: Some(RateSample {
                    delivered: bytes,
                    interval: rtt,
                    total_delivered: bytes,
                    sent_inflight: bytes,
                    sent_at,
                    ..events::rate_sample(rate)
                }),
                ..events::ack(now, rtt, &acked)
            });
        }
        Event::Lost(bytes) => {
            let lost = [LostPacket {
                bytes,
                sent_inflight: bytes,
                lost: bytes,
                ..events::lost(number, Time::ZERO)
            }];
            cc.on_loss(&LossEvent {
                bytes_lost: bytes,
                ..events::loss(now, &lost, MSS)
            });
        }
        Event::Timeout(kind, inflight) => cc.on_timeout(&TimeoutEvent {
            now,
            kind,
            inflight,
        }),
        Event::Spurious => cc.on_spurious_timeout(now),
        Event::Marked => cc.on_ecn_ce(now, Time::ZERO, 1),
        Event::Wakeup => cc.on_wakeup(now),
    }
}

/// A window in which a packet fits, a rate that is not zero, a quantum, gains that are finite.
fn check(cc: &dyn Controller, name: &str, path: &[Event]) {
    let (cwnd, rate, quantum) = (cc.cwnd(), cc.pacing_rate(), cc.send_quantum());
    let shows = format_args!("{name}: {cwnd:?}, {rate:?}, {quantum:?} after {path:?}");
    assert!(cwnd >= MSS && !quantum.is_zero(), "{shows}");
    assert!(rate.is_none_or(|r| !r.is_zero()), "{shows}");
    let snapshot = cc.snapshot();
    let gains = [snapshot.pacing_gain, snapshot.cwnd_gain];
    for gain in gains.into_iter().flatten() {
        assert!(gain.is_finite() && gain > 0.0, "{shows}: gain {gain}");
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
