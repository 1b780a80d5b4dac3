use std::vec::Vec;

use super::*;
use crate::controller::Transport;
use crate::events::{self, MSS, ack, at, loss, lost, ms, packet};

fn config() -> Config {
    Config {
        initial_window: MSS * 10,
        ..Config::for_datagram(MSS)
    }
}

/// Acknowledges one full window of packets sent a moment ago, packet by packet.
fn round(cubic: &mut dyn Controller, number: &mut u64, now: Time, rtt: Duration) {
    let window = cubic.cwnd().get() / MSS.get();
    let first = *number;
    *number += window;
    for n in first..*number {
        send(cubic, n, MSS * (n - first + 1), now);
    }
    for n in first..*number {
        acknowledge_with(cubic, n, now, rtt, MSS * (*number - n - 1));
    }
}

fn send(cubic: &mut dyn Controller, number: u64, inflight: Bytes, now: Time) {
    cubic.on_packet_sent(&events::sent(now, number, inflight));
}

/// A packet of a full window was acknowledged.
fn acknowledge(cubic: &mut dyn Controller, number: u64, now: Time, rtt: Duration) {
    let inflight = cubic.cwnd() - MSS;
    acknowledge_with(cubic, number, now, rtt, inflight);
}

fn acknowledge_with(
    cubic: &mut dyn Controller,
    number: u64,
    now: Time,
    rtt: Duration,
    inflight: Bytes,
) {
    let packets = [packet(number, now - rtt)];
    cubic.on_ack(&AckEvent {
        prior_inflight: cubic.cwnd(),
        inflight,
        ..ack(now, rtt, &packets)
    });
}

fn lose(cubic: &mut Cubic, number: u64, now: Time) {
    let inflight = cubic.cwnd();
    cubic.on_loss(&loss(now, &[lost(number, now)], inflight));
}

/// A flow that has had so many rounds of this RTT, and the number of its next packet.
fn after(rounds: u64, rtt: Duration) -> (Cubic, u64) {
    let mut cubic = Cubic::new(&config(), HyStart::Off);
    let mut number = 0;
    for n in 1..=rounds {
        round(&mut cubic, &mut number, Time::ZERO + rtt * n, rtt);
    }
    (cubic, number)
}

#[test]
fn the_window_follows_the_cubic_function_of_rfc_9438() {
    let mut cubic = Cubic::new(&config(), HyStart::Off);
    let rtt = ms(100);
    let (mut number, mut now) = (0, Time::ZERO);
    let mut next_round = |cubic: &mut Cubic, number: &mut u64| {
        now += rtt;
        round(cubic, number, now, rtt);
        now
    };
    for _ in 0..7 {
        next_round(&mut cubic, &mut number);
    }
    assert_eq!(cubic.cwnd(), MSS * 1280, "slow start doubles: 10 · 2^7");
    lose(&mut cubic, number - 1, Time::ZERO + rtt * 7);
    assert_eq!(cubic.cwnd(), MSS * 896, "β = 0.7");

    // The first round acknowledges packets of before the recovery's end; then avoidance begins.
    next_round(&mut cubic, &mut number);
    let k = libm::cbrt((1280.0 - 896.0) / 0.4); // 9.865 s
    assert!((k - 9.865).abs() < 1e-3);
    let began = now_of(&cubic);
    let mut seen = Vec::new();
    for n in 0..150 {
        let at = next_round(&mut cubic, &mut number);
        if n % 30 == 29 {
            seen.push((at, cubic.cwnd().as_f64() / 1000.0));
        }
    }
    for (at, window) in seen {
        // The window aims at W(t + RTT).
        let t = (at + rtt).since(began).as_secs_f64();
        let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1280.0;
        assert!((window - expected).abs() < 4.0, "{window} {expected}");
    }
}

fn now_of(cubic: &Cubic) -> Time {
    cubic.epoch.expect("in congestion avoidance").began_at
}

#[test]
fn idle_time_is_not_growth_even_right_after_an_epoch_began() {
    let after_idleness_of = |idle: Duration| {
        let rtt = ms(100);
        let (mut cubic, mut number) = after(4, rtt);
        lose(&mut cubic, number - 1, Time::ZERO + rtt * 4);
        // The recovery ends, and the first acknowledgments of the epoch come, all at once.
        round(&mut cubic, &mut number, Time::ZERO + rtt * 5, rtt);
        assert_eq!(now_of(&cubic), Time::ZERO + rtt * 5);
        for n in 6..10 {
            let now = Time::ZERO + rtt * n + idle;
            round(&mut cubic, &mut number, now, rtt);
        }
        cubic.cwnd()
    };
    let without = after_idleness_of(Duration::ZERO);
    assert_eq!(after_idleness_of(Duration::from_secs(20)), without);
}

#[test]
fn it_follows_reno_where_reno_is_faster_and_gives_room_on_repeated_loss() {
    let rtt = ms(10);
    let (mut cubic, mut number) = after(1, rtt);
    lose(&mut cubic, number - 1, Time::ZERO + rtt);
    assert_eq!(cubic.cwnd(), MSS * 14);
    for n in 2..22 {
        round(&mut cubic, &mut number, Time::ZERO + rtt * n, rtt);
    }
    // From 14 at α = 0.529 packets a round up to the 20 of before the loss: 11.3 rounds; then one
    // packet a round. The cubic function alone would be at 14.1.
    let window = cubic.cwnd().as_f64() / 1000.0;
    assert!((27.5..29.0).contains(&window), "{window}");

    let before = cubic.cwnd().as_f64() / 1000.0;
    cubic.w_max = 100.0;
    lose(&mut cubic, number - 1, Time::ZERO + rtt * 30);
    assert!(
        (cubic.w_max - before * 0.85).abs() < 0.01,
        "fast convergence: (1 + β)/2"
    );
}

#[test]
fn an_application_limited_window_does_not_grow() {
    let mut cubic = Cubic::new(&config(), HyStart::Off);
    for n in 1..100 {
        cubic.on_ack(&AckEvent {
            prior_inflight: MSS,
            inflight: Bytes::ZERO,
            ..ack(at(n), ms(10), &[packet(0, Time::ZERO)])
        });
    }
    assert_eq!(cubic.cwnd(), MSS * 10);
}

#[test]
fn hystart_slows_down_when_the_rtt_rises_and_goes_on_when_it_falls_again() {
    let phases = |rtts: &[u64]| {
        let mut cubic = Cubic::new(&config(), HyStart::Rfc9406);
        let (mut number, mut now) = (0, Time::ZERO);
        let mut phases = Vec::new();
        for rtt in rtts {
            now += ms(*rtt);
            round(&mut cubic, &mut number, now, ms(*rtt));
            phases.push(cubic.snapshot().phase);
        }
        phases
    };
    let (slow, conservative, avoidance) =
        ("SlowStart", "ConservativeSlowStart", "CongestionAvoidance");
    // 40 → 44 ms is below the threshold of 40/8 = 5 ms, 46 ms above.
    assert_eq!(phases(&[40, 40, 44, 50]), [slow, slow, slow, conservative]);
    assert_eq!(
        phases(&[40, 46, 46, 40])[1..],
        [conservative, conservative, slow]
    );
    let steady = phases(&[40, 46, 46, 46, 46, 46, 46, 46]);
    assert_eq!(steady[5..], [conservative, avoidance, avoidance]);
}

#[test]
fn linux_leaves_slow_start_when_the_least_rtt_of_a_round_has_risen_by_an_eighth() {
    let after = |rtts: &[u64]| {
        let mut cubic = Cubic::new(&config(), HyStart::Linux);
        let (mut number, mut now) = (0, Time::ZERO);
        for rtt in rtts {
            now += ms(*rtt);
            round(&mut cubic, &mut number, now, ms(*rtt));
        }
        (cubic.snapshot().phase, cubic.ssthresh)
    };
    // 10 packets, then 20: from 16 on rounds are judged, and the rise is 5 ms of 40.
    assert_eq!(after(&[40, 45]), ("SlowStart", f64::INFINITY));
    // The ninth sample of the round decides, before the window grows for it.
    assert_eq!(after(&[40, 46]), ("CongestionAvoidance", 28.0));
    // Too small a window.
    assert_eq!(after(&[40]), ("SlowStart", f64::INFINITY));
}

#[test]
fn linux_leaves_slow_start_when_the_train_of_acknowledgments_is_as_long_as_half_the_rtt() {
    let rtt = ms(40);
    // Acknowledgments of a round that come `gap` apart: how many until slow start is over.
    let acknowledged = |gap: Duration| {
        let mut cubic = Cubic::new(&config(), HyStart::Linux);
        let (mut number, mut now) = (0, Time::ZERO);
        for _ in 0..3 {
            now += rtt;
            round(&mut cubic, &mut number, now, rtt);
        }
        for n in number..number + 80 {
            send(&mut cubic, n, MSS, now);
        }
        (1..=80).find(|_| {
            now += gap;
            acknowledge(&mut cubic, number, now, rtt);
            number += 1;
            !cubic.in_slow_start()
        })
    };
    // Half of 40 ms and of the 1 ms that offloads may take: 20.5 ms. The first begins the round.
    assert_eq!(acknowledged(ms(1)), Some(22));
    assert_eq!(acknowledged(ms(2)), Some(12));
    assert_eq!(acknowledged(Duration::from_micros(2001)), None);
}

#[test]
fn linux_grows_by_a_twentieth_a_round_until_the_first_loss_and_then_by_the_cubic_function() {
    let rtt = ms(400);
    let mut cubic = Cubic::new(&config(), HyStart::Linux);
    let (mut number, mut now) = (0, Time::ZERO);
    let mut next = |cubic: &mut Cubic, rtt: Duration| {
        now += rtt;
        let before = cubic.cwnd;
        round(cubic, &mut number, now, rtt);
        (cubic.cwnd / before - 1.0, number, now)
    };
    for rtt in [40, 40, 40, 40, 40, 60].map(ms) {
        next(&mut cubic, rtt);
    }
    assert!(!cubic.in_slow_start());
    let before = cubic.cwnd;
    let (share, number, now) = next(&mut cubic, rtt);
    assert!((0.049..0.051).contains(&share), "{share}");

    lose(&mut cubic, number - 1, now);
    let lost_at = cubic.w_max;
    assert!((lost_at - before * 1.05).abs() < 1.0);
    // In the window that was in flight; then the epoch begins, whose first round follows the function
    // to where it is in 40 ms, the least RTT, not in the 400 that the RTT is now.
    next(&mut cubic, rtt);
    let began = cubic.cwnd;
    let (_, _, now) = next(&mut cubic, rtt);
    let epoch = cubic.epoch.expect("in congestion avoidance");
    let t = now.since(epoch.began_at).as_secs_f64() + 0.04 - epoch.k;
    let target = 0.4 * t * t * t + lost_at;
    // A packet's share of the way is part of what the next one's is taken of.
    let expected = target - (target - began) * libm::exp(-1.0);
    let cwnd = cubic.cwnd;
    assert!((cwnd - expected).abs() < 1.0, "{cwnd} {expected}");
}

#[test]
fn what_hystart_is_depends_on_the_transport_unless_it_is_said() {
    let phase = |spec: &str, transport: Transport| {
        let config = Config {
            transport,
            ..config()
        };
        let mut cubic = crate::registry::build(spec, &config).unwrap();
        let mut number = 0;
        let mut now = Time::ZERO;
        for rtt in [40, 46].map(ms) {
            now += rtt;
            round(&mut *cubic, &mut number, now, rtt);
        }
        cubic.snapshot().phase
    };
    let (linux, plus_plus) = ("CongestionAvoidance", "ConservativeSlowStart");
    for (spec, tcp, quic) in [
        ("cubic", linux, plus_plus),
        ("cubic:hystart=true", linux, plus_plus),
        ("cubic:hystart=linux", linux, linux),
        ("cubic:hystart=rfc9406", plus_plus, plus_plus),
        ("cubic:hystart=false", "SlowStart", "SlowStart"),
    ] {
        assert_eq!(phase(spec, Transport::Tcp), tcp, "{spec}");
        assert_eq!(phase(spec, Transport::Quic), quic, "{spec}");
    }
}

fn time_out(cubic: &mut Cubic, number: u64, now: Time) {
    lose(cubic, number, now);
    cubic.on_timeout(&TimeoutEvent {
        now,
        kind: TimeoutKind::Rto,
        inflight: Bytes::ZERO,
    });
}

#[test]
fn after_a_timeout_the_plateau_is_where_congestion_avoidance_begins() {
    let rtt = ms(100);
    let (mut cubic, mut number) = after(4, rtt);
    let mut now = Time::ZERO + rtt * 4;
    time_out(&mut cubic, number - 1, now);
    assert_eq!((cubic.cwnd(), cubic.ssthresh), (MSS, 112.0));
    while cubic.epoch.is_none() {
        now += rtt;
        round(&mut cubic, &mut number, now, rtt);
    }
    // RFC 9438 §4.8: K = 0 and W_max = cwnd, not the 160 packets of before the timeout.
    assert_eq!(cubic.epoch.map(|e| e.k), Some(0.0));
    assert!((cubic.w_max - 112.0).abs() < 20.0, "{}", cubic.w_max);
}

#[test]
fn a_spurious_timeout_gives_back_all_and_a_repeated_one_holds_ssthresh() {
    let rtt = ms(100);
    let (mut cubic, mut number) = after(4, rtt);
    let before = (cubic.cwnd(), cubic.ssthresh, cubic.w_max);
    for n in 5..8 {
        let now = Time::ZERO + rtt * n;
        time_out(&mut cubic, number - 1, now);
        assert_eq!((cubic.cwnd(), cubic.ssthresh), (MSS, 112.0));
        send(&mut cubic, number, MSS, now);
        number += 1;
    }
    cubic.on_spurious_timeout(Time::ZERO + rtt * 9);
    assert_eq!((cubic.cwnd(), cubic.ssthresh, cubic.w_max), before);
}

#[test]
fn a_spurious_timeout_gives_back_the_place_on_the_cubic_function() {
    let rtt = ms(100);
    let stalled_for = |stall: Duration| {
        let (mut cubic, mut number) = after(4, rtt);
        lose(&mut cubic, number - 1, Time::ZERO + rtt * 4);
        for n in 5..25 {
            round(&mut cubic, &mut number, Time::ZERO + rtt * n, rtt);
        }
        if !stall.is_zero() {
            time_out(&mut cubic, number - 1, Time::ZERO + rtt * 25);
            cubic.on_spurious_timeout(Time::ZERO + rtt * 25 + stall);
        }
        for n in 25..45 {
            round(&mut cubic, &mut number, Time::ZERO + rtt * n + stall, rtt);
        }
        cubic.cwnd()
    };
    // RFC 9438 §4.9.2: K, t_epoch and W_est are restored. The stall itself is no growth.
    let undisturbed = stalled_for(Duration::ZERO);
    assert_eq!(stalled_for(Duration::from_secs(1)), undisturbed);
}
