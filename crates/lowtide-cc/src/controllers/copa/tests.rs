use super::*;
use crate::events::{MSS, ack, loss, lost, packet, sent};

const MS: Duration = Duration::from_millis(1);

fn config(packets: u64) -> Config {
    Config {
        initial_window: MSS * packets,
        ..Config::for_datagram(MSS)
    }
}

/// A flow that keeps its window in flight and gets an acknowledgment when the test says so.
struct Flow {
    cc: Copa,
    now: Time,
    number: u64,
}

impl Flow {
    /// Past slow start, with the given window in packets and a minimum RTT of 100 ms.
    fn new(packets: u64, mode_switching: bool) -> Self {
        let options = Options {
            mode_switching,
            ..Options::DEFAULT
        };
        let mut flow = Self {
            cc: Copa::new(&config(packets), options),
            now: Time::ZERO + MS * 1000,
            number: 0,
        };
        flow.cc.slow_start = false;
        flow.cc.rtts.take_sample(Time::ZERO, MS * 100, 0);
        flow
    }

    /// One packet is sent and acknowledged; a round trip each, because nothing else is.
    fn ack(&mut self, rtt: Duration) -> f64 {
        self.now += rtt;
        let number = self.number;
        self.number += 1;
        let prior_inflight = self.cc.cwnd();
        let sent_at = self.now - rtt;
        self.cc
            .on_packet_sent(&sent(sent_at, number, prior_inflight));
        let before = self.cc.cwnd;
        self.cc.on_ack(&AckEvent {
            prior_inflight,
            inflight: prior_inflight - MSS,
            ..ack(self.now, rtt, &[packet(number, sent_at)])
        });
        self.cc.cwnd - before
    }

    fn lose(&mut self) {
        let lost = [lost(self.number.saturating_sub(1), self.now)];
        self.cc.on_loss(&loss(self.now, &lost, Bytes::ZERO));
    }
}

#[test]
fn the_window_steps_towards_the_target_rate_by_v_over_delta_cwnd_a_packet() {
    // d_q = 25 ms: the target rate is 1 / (0.5 · 25 ms) = 80 packets/s, and at an RTT of 125 ms
    // that is a window of 10.
    for (window, step) in [(8, 0.25), (9, 2.0 / 9.0), (11, -2.0 / 11.0), (16, -0.125)] {
        let mut flow = Flow::new(window, false);
        let moved = flow.ack(MS * 125);
        assert!((moved - step).abs() < 1e-9, "{window}: {moved}");
    }
    let mut flow = Flow::new(8, false);
    flow.ack(MS * 125);
    // 2 · 8.25 packets / 125 ms.
    assert_eq!(
        flow.cc.pacing_rate(),
        Some(Rate::from_bytes_per_sec(132_000))
    );
    // Losses mean nothing in default mode.
    let before = flow.cc.cwnd();
    flow.lose();
    assert_eq!(flow.cc.cwnd(), before);
}

#[test]
fn velocity_doubles_once_the_direction_has_stayed_for_three_rounds_and_a_turn_ends_it() {
    let mut velocity = Velocity::new(100.0);
    let mut v = |cwnd: f64| {
        velocity.on_round(cwnd);
        velocity.v
    };
    let seen = [102.0, 104.0, 106.0, 108.0, 112.0, 120.0].map(&mut v);
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    assert_eq!(
        [118.0, 116.0, 114.0, 112.0].map(&mut v),
        [1.0, 1.0, 1.0, 2.0]
    );
    assert_eq!(v(112.0), 1.0, "no direction at all");

    let mut velocity = Velocity::new(100.0);
    for cwnd in [102.0, 104.0, 106.0, 108.0] {
        velocity.on_round(cwnd);
    }
    assert!(!velocity.turn(Direction::Up, 109.0));
    assert_eq!(velocity.v, 2.0);
    assert!(velocity.turn(Direction::Down, 109.0), "within the round");
    assert_eq!(velocity.v, 1.0);
}

#[test]
fn a_queue_that_stays_for_five_rounds_switches_the_mode_and_an_empty_one_back() {
    let mut flow = Flow::new(1000, true);
    let phase = |flow: &Flow| flow.cc.snapshot().phase;
    flow.ack(MS * 100);
    for _ in 0..5 {
        flow.ack(MS * 150);
        assert_eq!((phase(&flow), flow.cc.delta()), ("Default", 0.5));
    }
    flow.ack(MS * 150);
    assert_eq!((phase(&flow), flow.cc.delta()), ("Competitive", 1.0 / 3.0));
    for _ in 0..5 {
        flow.ack(MS * 150);
    }
    assert_eq!(flow.cc.delta(), 1.0 / 8.0, "1/δ grows by 1 a round");
    let window = flow.cc.cwnd();
    flow.lose();
    assert_eq!(flow.cc.delta(), 1.0 / 4.0, "a loss halves 1/δ");
    assert_eq!(flow.cc.cwnd(), window, "and not the window");
    flow.lose();
    assert_eq!(flow.cc.delta(), 1.0 / 4.0, "once a flight");
    // A queueing delay of 10 % of the 50 ms by which the RTT varies is nearly none.
    flow.ack(MS * 106);
    assert_eq!(phase(&flow), "Competitive");
    flow.ack(MS * 105);
    assert_eq!((phase(&flow), flow.cc.delta()), ("Default", 0.5));
}

#[test]
fn the_standing_rtt_is_the_smallest_of_half_a_smoothed_rtt_and_the_minimum_of_ten_seconds() {
    let mut rtts = Rtts::new();
    let at = |ms: u64| Time::ZERO + MS * ms;
    rtts.take_sample(at(0), MS * 100, 0);
    rtts.take_sample(at(40), MS * 120, 0);
    assert_eq!(
        (rtts.standing(), rtts.queueing()),
        (MS * 100, Duration::ZERO)
    );
    // Smoothed: 100 + 20/8 = 102.5, then about 104 ms; its half leaves the first sample behind.
    rtts.take_sample(at(60), MS * 130, 1);
    assert_eq!((rtts.standing(), rtts.queueing()), (MS * 120, MS * 20));
    assert_eq!(rtts.variation(), MS * 30);
    rtts.take_sample(at(6_000), MS * 110, 7);
    assert_eq!(rtts.min(), MS * 100);
    rtts.take_sample(at(10_001), MS * 140, 9);
    assert_eq!((rtts.min(), rtts.standing()), (MS * 110, MS * 140));
    assert_eq!(rtts.variation(), MS * 30);
}
