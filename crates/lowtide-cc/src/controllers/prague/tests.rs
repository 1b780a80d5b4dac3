use std::vec::Vec;

use super::*;
use crate::events::{MSS, ack, loss, lost, packet, sent};

/// A flow whose windows are acknowledged at once, a round trip later.
struct Flow {
    cc: Prague,
    now: Time,
    rtt: Duration,
    next: u64,
}

impl Flow {
    /// In congestion avoidance with a window of so many packets.
    fn new(packets: u64, rtt_ms: u64, falls_back: bool) -> Self {
        let config = Config {
            initial_window: MSS * packets,
            ..Config::for_datagram(MSS)
        };
        let mut cc = Prague::new(&config, falls_back);
        cc.reno.lower(Bytes::ZERO);
        Self {
            cc,
            now: Time::ZERO,
            rtt: Duration::from_millis(rtt_ms),
            next: 0,
        }
    }

    /// Sends a window; it is acknowledged, with this many packets marked.
    fn round(&mut self, marked: u64) {
        let (prior_inflight, sent_at) = (self.cc.cwnd(), self.now);
        let mut packets = Vec::new();
        for n in 0..prior_inflight.get() / MSS.get() {
            let number = self.next + n;
            let sent = sent(sent_at, number, MSS * (n + 1));
            self.cc.on_packet_sent(&sent);
            packets.push(packet(number, sent_at));
        }
        self.next += packets.len() as u64;
        self.now = sent_at + self.rtt;
        if marked > 0 {
            self.cc.on_ecn_ce(self.now, sent_at, marked);
        }
        self.cc.on_ack(&AckEvent {
            prior_inflight,
            inflight: Bytes::ZERO,
            ..ack(self.now, self.rtt, &packets)
        });
    }

    fn window(&self) -> f64 {
        self.cc.cwnd().as_f64() / MSS.as_f64()
    }
}

#[test]
fn alpha_moves_by_a_sixteenth_to_the_share_of_each_round_and_marks_take_half_of_it() {
    let mut flow = Flow::new(100, 50, false);
    let mut alpha = 1.0;
    let mut window = 100.0_f64;
    for _ in 0..40 {
        let (packets, marked) = (window.floor(), 10.0);
        flow.round(marked as u64);
        alpha += (marked / packets - alpha) / 16.0;
        assert!((flow.cc.marks.alpha - alpha).abs() < 1e-12);
        // A round as long as a virtual one: a reduction in each, then growth for what was not marked.
        let reduced = window * (1.0 - alpha / 2.0);
        window = reduced + (packets - marked) / reduced;
        let now = flow.window();
        assert!((now - window).abs() < 0.01, "{now} {window}");
        if window < 20.0 {
            return;
        }
    }
    panic!("it does not come down");
}

#[test]
fn the_first_mark_halves_the_window_however_late_it_comes() {
    let mut flow = Flow::new(100, 50, false);
    for _ in 0..20 {
        flow.round(0);
    }
    let before = flow.window();
    flow.round(1);
    let now = flow.window();
    assert!((now / before - 0.5).abs() < 0.05, "{now} {before}");
}

#[test]
fn growth_is_a_packet_a_round_and_on_short_round_trips_as_of_a_flow_of_25_ms() {
    let grown = |rtt_ms| {
        let mut flow = Flow::new(100, rtt_ms, false);
        flow.round(0);
        flow.window() - 100.0
    };
    assert!((grown(50) - 1.0).abs() < 0.01);
    assert!((grown(25) - 1.0).abs() < 0.01);
    // (5 / 25)².
    assert!((grown(5) - 0.04).abs() < 0.002);
}

#[test]
fn marks_of_a_virtual_round_reduce_once_and_a_loss_in_it_takes_half_of_what_was_before() {
    // Five rounds of 5 ms are one virtual round.
    let mut flow = Flow::new(100, 5, false);
    flow.round(1);
    let reduced = flow.window();
    assert!((45.0..60.0).contains(&reduced), "{reduced}");
    for _ in 0..4 {
        flow.round(1);
        assert!(flow.window() >= reduced);
    }
    flow.round(1);
    let again = flow.window();
    assert!(again < reduced * 0.6, "{again}");
    let lost = [lost(flow.next - 1, flow.now)];
    flow.cc.on_loss(&loss(flow.now, &lost, MSS));
    let now = flow.window();
    assert!((now - reduced / 2.0).abs() < 0.5, "{now} {reduced}");
}

#[test]
fn marks_that_come_with_a_queue_of_several_milliseconds_are_answered_as_renos() {
    let share_after = |queue_ms: u64, falls_back| {
        let mut flow = Flow::new(500, 20, falls_back);
        for _ in 0..50 {
            flow.round(0);
        }
        flow.rtt = Duration::from_millis(20 + queue_ms);
        for _ in 0..30 {
            flow.round(1);
        }
        flow.cc.classic.map_or(0.0, |c| c.share())
    };
    assert_eq!(share_after(1, true), 0.0);
    assert_eq!(share_after(15, true), 1.0);
    assert_eq!(share_after(15, false), 0.0);
    // One mark in a window of a hundred halves it then; alpha is next to nothing.
    let mut flow = Flow::new(100, 40, true);
    flow.round(1);
    for _ in 0..100 {
        flow.round(0);
    }
    flow.cc.classic = Some(ClassicMarks::new());
    flow.rtt = Duration::from_millis(60);
    let before = loop {
        let before = flow.window();
        flow.round(1);
        if flow.cc.classic.is_some_and(|c| c.share() == 1.0) {
            break before;
        }
    };
    let now = flow.window();
    assert!((now / before - 0.5).abs() < 0.1, "{now} {before}");
}
