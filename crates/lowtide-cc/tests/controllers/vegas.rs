//! Vegas over the small host, and by hand where the host's acknowledgments are too regular.

use super::events::{ack, loss, lost, ms, packet, sent};
use super::host::{Host, MSS};
use lowtide_cc::controller::{AckEvent, AckedPacket, Controller};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, registry};

fn host(spec: &str) -> Host {
    Host::of(spec, Rate::from_mbps(16), ms(50))
}

#[test]
fn slow_start_doubles_every_other_round_and_ends_without_passing_the_bdp() {
    // So fast that a round takes one RTT.
    let mut fast = Host::of("vegas", Rate::from_mbps(8_000), ms(50));
    let mut windows = Vec::new();
    while windows.len() < 7 {
        let window = fast.cc.cwnd().as_f64();
        assert!(fast.step());
        // Between two bursts.
        if fast.now.as_secs_f64() > 0.05 * (windows.len() + 1) as f64 + 0.025 {
            windows.push(window);
        }
    }
    for three in windows.windows(3) {
        let growth = three[2] / three[0];
        assert!((1.9..2.1).contains(&growth), "{windows:?}");
    }

    // 2 packets a millisecond: 101 packets in flight keep the link busy.
    let mut host = host("vegas");
    host.run_until(|h| h.phase() == "CongestionAvoidance");
    // The host does not pace: its bursts queue for a moment, and slow start ends early.
    let packets = host.cc.cwnd().get() / 1000;
    assert!((40..=106).contains(&packets), "{packets}");
}

#[test]
fn it_keeps_between_alpha_and_beta_packets_queued_and_then_stays() {
    for (spec, least, most) in [("vegas", 2, 4), ("vegas:alpha=10,beta=12", 10, 12)] {
        let mut host = host(spec);
        host.run_for(Duration::from_secs(10));
        let window = host.cc.cwnd();
        let queued = window.get() / 1000 - 101;
        assert!((least..=most).contains(&queued), "{spec}: {queued}");
        host.run_for(Duration::from_secs(5));
        assert_eq!(host.cc.cwnd(), window, "{spec}");
    }
}

#[test]
fn a_loss_halves_the_window() {
    let mut host = host("vegas");
    host.run_for(Duration::from_secs(5));
    let before = host.cc.cwnd();
    host.lose = vec![host.next_number()];
    host.run_until(|h| h.phase() == "Recovery");
    assert_eq!(host.cc.cwnd(), before.mul_f64(0.5));
}

#[test]
fn a_timeout_begins_slow_start_again_and_is_undone_when_spurious() {
    let mut host = host("vegas");
    host.run_for(Duration::from_secs(5));
    let before = host.cc.cwnd();
    host.time_out();
    assert_eq!((host.cc.cwnd(), host.phase()), (MSS, "SlowStart"));
    host.cc.on_spurious_timeout(host.now);
    assert_eq!(host.cc.cwnd(), before);

    host.time_out();
    host.run_until(|h| h.phase() == "CongestionAvoidance");
    host.run_for(Duration::from_secs(10));
    assert!(host.cc.cwnd() + MSS * 2 > before && before + MSS * 2 > host.cc.cwnd());
}

/// Sends a window and acknowledges it with this RTT in the given number of acknowledgments.
fn round(cc: &mut dyn Controller, number: &mut u64, now: &mut Time, rtt: Duration, acks: usize) {
    let window = cc.cwnd();
    let numbers = *number..*number + window.get() / MSS.get();
    let packets: Vec<AckedPacket> = numbers.map(|n| packet(n, *now)).collect();
    for (n, p) in packets.iter().enumerate() {
        // Never idle: an older packet is still on its way.
        cc.on_packet_sent(&sent(*now, p.number, MSS * (n as u64 + 2)));
    }
    *number += packets.len() as u64;
    *now += rtt;
    for packets in packets.chunks(packets.len().div_ceil(acks)) {
        cc.on_ack(&AckEvent {
            prior_inflight: window,
            inflight: Bytes::ZERO,
            ..ack(*now, rtt, packets)
        });
    }
}

fn vegas() -> Box<dyn Controller> {
    registry::build("vegas", &Config::for_datagram(MSS)).unwrap()
}

#[test]
fn slow_start_ends_at_what_the_path_holds_without_a_queue_and_a_packet() {
    let mut cc = vegas();
    let (mut number, mut now) = (0, Time::ZERO);
    round(&mut *cc, &mut number, &mut now, ms(50), 10);
    let mut before = cc.cwnd();
    while cc.snapshot().phase == "SlowStart" {
        before = cc.cwnd();
        round(&mut *cc, &mut number, &mut now, ms(60), 10);
    }
    // A sixth of the window is queued.
    let expected = before.mul_f64(50.0 / 60.0) + MSS;
    assert_eq!(cc.cwnd().get() / 10, expected.get() / 10);
}

#[test]
fn a_round_with_too_few_rtt_samples_is_renos() {
    for (acks, change) in [(2, 1), (5, -1)] {
        let mut cc = vegas();
        let (mut number, mut now) = (0, Time::ZERO);
        round(&mut *cc, &mut number, &mut now, ms(50), 10);
        let lost = [lost(number - 1, now)];
        cc.on_loss(&loss(now, &lost, Bytes::ZERO));
        // The first round ends the recovery, the second is seen whole.
        for _ in 0..2 {
            round(&mut *cc, &mut number, &mut now, ms(500), acks);
        }
        let before = cc.cwnd().get() as i64;
        // At ten times the RTT nine tenths of the window are queued.
        round(&mut *cc, &mut number, &mut now, ms(500), acks);
        let after = cc.cwnd().get() as i64;
        assert_eq!((after - before) / 1000, change, "{acks} acknowledgments");
    }
}
