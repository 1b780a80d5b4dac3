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

/// A flow whose windows are acknowledged packet by packet, all at once.
struct Flow {
    cc: Cubic,
    number: u64,
    now: Time,
}

impl Flow {
    fn new(hystart: HyStart) -> Self {
        Self {
            cc: Cubic::new(&config(), hystart),
            number: 0,
            now: Time::ZERO,
        }
    }

    /// One without HyStart that has had so many rounds of this RTT.
    fn after(rounds: u64, rtt: Duration) -> Self {
        let mut flow = Self::new(HyStart::Off);
        (0..rounds).for_each(|_| flow.round(rtt));
        flow
    }

    /// After rounds of these RTTs.
    fn after_rtts(hystart: HyStart, rtts: &[u64]) -> Self {
        let mut flow = Self::new(hystart);
        rtts.iter().for_each(|rtt| flow.round(ms(*rtt)));
        flow
    }

    /// A round trip later a window leaves that was sent a moment ago, and is acknowledged.
    fn round(&mut self, rtt: Duration) {
        self.now += rtt;
        let window = self.cc.cwnd().get() / MSS.get();
        let first = self.number;
        for n in 0..window {
            self.send(MSS * (n + 1));
        }
        for n in 0..window {
            self.acknowledge(first + n, rtt, MSS * (window - n - 1));
        }
    }

    fn send(&mut self, inflight: Bytes) {
        let sent = events::sent(self.now, self.number, inflight);
        self.cc.on_packet_sent(&sent);
        self.number += 1;
    }

    /// A packet of a full window was acknowledged.
    fn acknowledge(&mut self, number: u64, rtt: Duration, inflight: Bytes) {
        let packets = [packet(number, self.now - rtt)];
        self.cc.on_ack(&AckEvent {
            prior_inflight: self.cc.cwnd(),
            inflight,
            ..ack(self.now, rtt, &packets)
        });
    }

    /// The newest packet is lost.
    fn lose(&mut self) {
        let lost = [lost(self.number - 1, self.now)];
        self.cc.on_loss(&loss(self.now, &lost, self.cc.cwnd()));
    }

    fn time_out(&mut self) {
        self.lose();
        self.cc.on_timeout(&TimeoutEvent {
            now: self.now,
            kind: TimeoutKind::Rto,
            inflight: Bytes::ZERO,
        });
    }

    fn phase(&self) -> &'static str {
        self.cc.snapshot().phase
    }

    fn epoch(&self) -> Epoch {
        self.cc.curve.epoch.expect("in congestion avoidance")
    }
}

#[test]
fn the_window_follows_the_cubic_function_of_rfc_9438() {
    let rtt = ms(100);
    let mut flow = Flow::after(7, rtt);
    assert_eq!(flow.cc.cwnd(), MSS * 1280, "slow start doubles: 10 · 2^7");
    flow.lose();
    assert_eq!(flow.cc.cwnd(), MSS * 896, "β = 0.7");

    // The first round acknowledges packets of before the recovery's end; then avoidance begins.
    flow.round(rtt);
    let k = libm::cbrt((1280.0 - 896.0) / 0.4); // 9.865 s
    assert!((k - 9.865).abs() < 1e-3);
    let began = flow.epoch().began_at;
    for n in 0..150 {
        flow.round(rtt);
        if n % 30 == 29 {
            // The window aims at W(t + RTT).
            let t = (flow.now + rtt).since(began).as_secs_f64();
            let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1280.0;
            let window = flow.cc.cwnd().as_f64() / 1000.0;
            assert!((window - expected).abs() < 4.0, "{window} {expected}");
        }
    }
}

#[test]
fn idle_time_is_not_growth_even_right_after_an_epoch_began() {
    let after_idleness_of = |idle: Duration| {
        let rtt = ms(100);
        let mut flow = Flow::after(4, rtt);
        flow.lose();
        // The recovery ends, and the first acknowledgments of the epoch come, all at once.
        flow.round(rtt);
        assert_eq!(flow.epoch().began_at, flow.now);
        flow.now += idle;
        (0..4).for_each(|_| flow.round(rtt));
        flow.cc.cwnd()
    };
    let without = after_idleness_of(Duration::ZERO);
    assert_eq!(after_idleness_of(Duration::from_secs(20)), without);
}

#[test]
fn it_follows_reno_where_reno_is_faster_and_gives_room_on_repeated_loss() {
    let rtt = ms(10);
    let mut flow = Flow::after(1, rtt);
    flow.lose();
    assert_eq!(flow.cc.cwnd(), MSS * 14);
    (0..20).for_each(|_| flow.round(rtt));
    // From 14 at α = 0.529 packets a round up to the 20 of before the loss: 11.3 rounds; then one
    // packet a round. The cubic function alone would be at 14.1.
    let window = flow.cc.cwnd().as_f64() / 1000.0;
    assert!((27.5..29.0).contains(&window), "{window}");

    flow.cc.curve.w_max = 100.0;
    flow.lose();
    let w_max = flow.cc.curve.w_max;
    assert!(
        (w_max - window * 0.85).abs() < 0.01,
        "fast convergence, (1 + β)/2: {w_max}"
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
        let mut flow = Flow::new(HyStart::Rfc9406);
        let phase = |rtt: &u64| {
            flow.round(ms(*rtt));
            flow.phase()
        };
        rtts.iter().map(phase).collect::<Vec<_>>()
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
    // 10 packets, then 20: from 16 on rounds are judged, and the rise is 5 ms of 40. The ninth sample of
    // the round decides, before the window grows for it. Of 40 alone the window is too small.
    for (rtts, phase, ssthresh) in [
        (&[40, 45][..], "SlowStart", f64::INFINITY),
        (&[40, 46], "CongestionAvoidance", 28.0),
        (&[40], "SlowStart", f64::INFINITY),
    ] {
        let flow = Flow::after_rtts(HyStart::Linux, rtts);
        assert_eq!((flow.phase(), flow.cc.curve.ssthresh), (phase, ssthresh));
    }
}

#[test]
fn linux_leaves_slow_start_when_the_train_of_acknowledgments_is_as_long_as_half_the_rtt() {
    // Acknowledgments of a round that come `gap` apart: how many until slow start is over.
    let acknowledged = |gap: Duration| {
        let mut flow = Flow::after_rtts(HyStart::Linux, &[40; 3]);
        let first = flow.number;
        (0..80).for_each(|_| flow.send(MSS));
        (1..=80).find(|n| {
            flow.now += gap;
            let inflight = flow.cc.cwnd() - MSS;
            flow.acknowledge(first + n - 1, ms(40), inflight);
            !flow.cc.in_slow_start()
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
    let mut flow = Flow::after_rtts(HyStart::Linux, &[40, 40, 40, 40, 40, 60]);
    assert!(!flow.cc.in_slow_start());
    let before = flow.cc.curve.cwnd;
    flow.round(rtt);
    let share = flow.cc.curve.cwnd / before - 1.0;
    assert!((0.049..0.051).contains(&share), "{share}");

    flow.lose();
    let lost_at = flow.cc.curve.w_max;
    assert!((lost_at - before * 1.05).abs() < 1.0);
    // In the window that was in flight; then the epoch begins, whose first round follows the function
    // to where it is in 40 ms, the least RTT, not in the 400 that the RTT is now.
    flow.round(rtt);
    let began = flow.cc.curve.cwnd;
    flow.round(rtt);
    let epoch = flow.epoch();
    let t = flow.now.since(epoch.began_at).as_secs_f64() + 0.04 - epoch.k;
    let target = 0.4 * t * t * t + lost_at;
    // A packet's share of the way is part of what the next one's is taken of.
    let expected = target - (target - began) * libm::exp(-1.0);
    let cwnd = flow.cc.curve.cwnd;
    assert!((cwnd - expected).abs() < 1.0, "{cwnd} {expected}");
}

#[test]
fn what_hystart_is_depends_on_the_transport_unless_it_is_said() {
    use HyStart::{Linux, Off, Rfc9406};
    for (spec, tcp, quic) in [
        ("cubic", Linux, Rfc9406),
        ("cubic:hystart=true", Linux, Rfc9406),
        ("cubic:hystart=linux", Linux, Linux),
        ("cubic:hystart=rfc9406", Rfc9406, Rfc9406),
        ("cubic:hystart=false", Off, Off),
    ] {
        for (transport, hystart) in [(Transport::Tcp, tcp), (Transport::Quic, quic)] {
            let config = Config {
                transport,
                ..config()
            };
            let built = crate::registry::build(spec, &config).unwrap();
            let expected = Cubic::new(&config, hystart);
            assert_eq!(std::format!("{built:?}"), std::format!("{expected:?}"));
        }
    }
}

#[test]
fn after_a_timeout_the_plateau_is_where_congestion_avoidance_begins() {
    let rtt = ms(100);
    let mut flow = Flow::after(4, rtt);
    flow.time_out();
    assert_eq!((flow.cc.cwnd(), flow.cc.curve.ssthresh), (MSS, 112.0));
    while flow.cc.curve.epoch.is_none() {
        flow.round(rtt);
    }
    // RFC 9438 §4.8: K = 0 and W_max = cwnd, not the 160 packets of before the timeout.
    assert_eq!(flow.epoch().k, 0.0);
    let w_max = flow.cc.curve.w_max;
    assert!((w_max - 112.0).abs() < 20.0, "{w_max}");
}

#[test]
fn a_spurious_timeout_gives_back_all_and_a_repeated_one_holds_ssthresh() {
    let rtt = ms(100);
    let mut flow = Flow::after(4, rtt);
    let state = |cubic: &Cubic| (cubic.cwnd(), cubic.curve.ssthresh, cubic.curve.w_max);
    let before = state(&flow.cc);
    for _ in 0..3 {
        flow.now += rtt;
        flow.time_out();
        assert_eq!((flow.cc.cwnd(), flow.cc.curve.ssthresh), (MSS, 112.0));
        flow.send(MSS);
    }
    flow.cc.on_spurious_timeout(flow.now + rtt);
    assert_eq!(state(&flow.cc), before);
}

#[test]
fn a_spurious_timeout_gives_back_the_place_on_the_cubic_function() {
    let rtt = ms(100);
    let stalled_for = |stall: Duration| {
        let mut flow = Flow::after(4, rtt);
        flow.lose();
        (0..20).for_each(|_| flow.round(rtt));
        if !stall.is_zero() {
            flow.time_out();
            flow.now += stall;
            flow.cc.on_spurious_timeout(flow.now);
        }
        (0..20).for_each(|_| flow.round(rtt));
        flow.cc.cwnd()
    };
    // RFC 9438 §4.9.2: K, t_epoch and W_est are restored. The stall itself is no growth.
    let undisturbed = stalled_for(Duration::ZERO);
    assert_eq!(stalled_for(Duration::from_secs(1)), undisturbed);
}
