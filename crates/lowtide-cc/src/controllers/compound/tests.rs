use std::vec::Vec;

use super::*;
use crate::controller::{AckedPacket, TimeoutKind};
use crate::events::{MSS, ack, loss, lost, packet, sent};

const BASE: Duration = Duration::from_millis(96);

/// In congestion avoidance with the given window in packets, part of which is delay window,
/// after a round without a queue.
fn compound(packets: u64, delay_window: u64, gamma: Gamma) -> (Compound, u64) {
    let mut cc = Compound::new(
        &Config {
            initial_window: MSS * packets,
            ..Config::for_datagram(MSS)
        },
        gamma,
    );
    let mut number = 0;
    cc.reno.lower(Bytes::ZERO);
    cc.base_rtt = BASE;
    cc.delay_window = MSS * delay_window;
    send(&mut cc, &mut number);
    cc.round.restart();
    (cc, number)
}

fn send(cc: &mut Compound, number: &mut u64) -> Vec<AckedPacket> {
    let window = cc.cwnd().get() / MSS.get();
    let first = *number;
    *number += window;
    let numbers = first..*number;
    for number in numbers.clone() {
        let inflight = MSS * (number - first + 1);
        cc.on_packet_sent(&sent(Time::ZERO, number, inflight));
    }
    numbers.map(|number| packet(number, Time::ZERO)).collect()
}

/// Sends a window and acknowledges it at once.
fn round(cc: &mut Compound, number: &mut u64, rtt: Duration) {
    let prior_inflight = cc.cwnd();
    let packets = send(cc, number);
    cc.on_ack(&AckEvent {
        bytes_acked: prior_inflight,
        prior_inflight,
        inflight: Bytes::ZERO,
        ..ack(Time::ZERO + rtt, rtt, &packets)
    });
}

fn lose(cc: &mut Compound, number: u64) {
    let lost = [lost(number, Time::ZERO)];
    cc.on_loss(&loss(Time::ZERO, &lost, Bytes::ZERO));
}

#[test]
fn without_a_queue_the_window_grows_by_an_eighth_of_its_power_of_three_quarters() {
    let (mut cc, mut number) = compound(10_000, 0, Gamma::default());
    round(&mut cc, &mut number, BASE);
    // 10 000^0.75 / 8 = 125, of which Reno's packet is one; 10 001 with it counted first.
    let grown = cc.cwnd().as_f64() / 1000.0 - 10_000.0;
    assert!((grown - 125.01).abs() < 0.01, "{grown}");
    assert_eq!(cc.loss_window().get(), 10_001_000);

    // Up to 16 packets, 16^0.75 / 8 = 1, it is Reno.
    let (mut cc, mut number) = compound(15, 0, Gamma::default());
    round(&mut cc, &mut number, BASE);
    assert_eq!((cc.cwnd(), cc.delay_window), (MSS * 16, Bytes::ZERO));
}

#[test]
fn the_delay_window_gives_back_what_is_queued_from_gamma_on() {
    // At 100 ms 4 % of the window are queued: of 740 packets 29.6, of 1000 packets 40.04.
    let rtt = Duration::from_millis(100);
    let (mut cc, mut number) = compound(740, 100, Gamma::default());
    round(&mut cc, &mut number, rtt);
    assert!(cc.delay_window > MSS * 100, "29.6 are below gamma");

    let (mut cc, mut number) = compound(1000, 100, Gamma::default());
    round(&mut cc, &mut number, rtt);
    let left = cc.delay_window.as_f64() / 1000.0;
    assert!((left - 59.96).abs() < 0.01, "{left}");
    assert_eq!(cc.loss_window(), MSS * 901);
    round(&mut cc, &mut number, rtt);
    round(&mut cc, &mut number, rtt);
    // What remains is Reno's: a packet a round.
    assert_eq!((cc.delay_window, cc.cwnd()), (Bytes::ZERO, MSS * 903));
    assert!(!cc.reno.in_slow_start());
}

#[test]
fn a_loss_halves_both_windows_and_a_timeout_ends_the_delay_window_unless_spurious() {
    let (mut cc, number) = compound(1000, 400, Gamma::default());
    lose(&mut cc, number - 1);
    assert_eq!((cc.cwnd(), cc.delay_window), (MSS * 500, MSS * 200));

    let (mut cc, number) = compound(1000, 400, Gamma::default());
    lose(&mut cc, number - 1);
    cc.on_timeout(&TimeoutEvent {
        now: Time::ZERO,
        kind: TimeoutKind::Rto,
        inflight: Bytes::ZERO,
    });
    assert_eq!((cc.cwnd(), cc.delay_window), (MSS, Bytes::ZERO));
    cc.on_spurious_timeout(Time::ZERO);
    assert_eq!((cc.cwnd(), cc.delay_window), (MSS * 1000, MSS * 400));
    assert_eq!(cc.base_rtt, BASE);
}

#[test]
fn tuning_moves_gamma_towards_three_quarters_of_renos_queue_at_each_loss() {
    // 4 % of Reno's 601 packets: 24.04, of which three quarters are 18.03.
    let rtt = Duration::from_millis(100);
    let (mut cc, mut number) = compound(1000, 400, Gamma::new(30, true));
    round(&mut cc, &mut number, rtt);
    lose(&mut cc, number - 1);
    let expected = 0.2 * 30.0 + 0.8 * 18.03;
    let gamma = cc.gamma.packets();
    assert!((gamma - expected).abs() < 0.01, "{gamma}");
    // Nothing queued: down to the lowest.
    for _ in 0..2 {
        round(&mut cc, &mut number, BASE);
        round(&mut cc, &mut number, BASE);
        lose(&mut cc, number - 1);
    }
    assert_eq!(cc.gamma.packets(), 5.0);

    let (mut cc, mut number) = compound(1000, 400, Gamma::default());
    round(&mut cc, &mut number, rtt);
    lose(&mut cc, number - 1);
    assert_eq!(cc.gamma.packets(), 30.0, "fixed by default");
}
