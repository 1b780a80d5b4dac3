//! The parts against values worked by hand.

use alloc::vec::Vec;

use super::service::Arrival;
use super::*;

const MS: Duration = Duration::from_millis(1);
const T: Duration = Duration::from_millis(40);
const PACKET: Bytes = Bytes::new(1000);

fn at(ms: u64) -> Time {
    Time::ZERO + MS * ms
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// Packets sent at these times (ms) arrive at these.
fn arrivals(times: &[(u64, u64)]) -> Vec<Arrival> {
    let mut service = Service::default();
    times
        .iter()
        .map(|&(sent, arrived)| service.on_arrival(at(sent), at(arrived), PACKET, T, 0.35, 0.2))
        .collect()
}

#[test]
fn a_link_is_idle_from_an_arrival_until_the_next_packet_could_have_arrived() {
    // Sent 10 ms apart, unqueued: all of the gap is idle. Then one that reaches the link before its
    // predecessor has left it: busy. Then one that could have arrived 3 ms after that.
    let seen = arrivals(&[(0, 40), (10, 50), (9, 52), (15, 57), (23, 65)]);
    let idle: Vec<_> = seen.iter().map(|arrival| arrival.idle).collect();
    assert_eq!(
        idle,
        [Duration::ZERO, MS * 10, Duration::ZERO, MS * 3, MS * 6]
    );
    assert_eq!(seen[2].queueing, MS * 3);
}

#[test]
fn behind_others_packets_a_link_is_not_idle() {
    // The second could have arrived 10 ms after the first, but waits 9 ms, more than a fifth of T.
    let seen = arrivals(&[(0, 40), (10, 59)]);
    assert!(seen[1].idle.is_zero());
}

#[test]
fn on_the_busy_clock_a_flow_that_uses_half_of_its_link_sees_all_of_it() {
    // Twenty packets at once every 40 ms, over a link of a packet a millisecond.
    let mut service = Service::default();
    let mut served = 0.0;
    for burst in 0..100u64 {
        for i in 0..20 {
            let sent = at(40 * burst);
            let arrival = service.on_arrival(sent, sent + T + MS * i, PACKET, T, 0.35, 10.0);
            if burst >= 50 {
                served += arrival.served;
            }
        }
    }
    // 40 packets in 40 ms, and a little more: the time of the burst's first packet is part of T.
    let mean = served / 1000.0 / 1000.0;
    assert!((40.0..44.0).contains(&mean), "{mean}");
}

#[test]
fn a_batch_that_empties_the_queue_wastes_what_others_carried_more() {
    let mut batches = Batches::default();
    let memory = 1e12;
    let mut batch = |packets: u64, idle| {
        let mut short = 0.0;
        for i in 0..packets {
            short += batches.on_arrival(1000.0, i == 0, idle, memory);
        }
        short
    };
    close(batch(8, false), 0.0);
    // The first batch is told full or not when the next begins: with a queue, full with 8.
    close(batch(3, false), 0.0);
    // The 3 are over: the link was idle behind them, so that they fell short by 5.
    close(batch(8, true), 5000.0);
}

#[test]
fn the_margin_rests_where_the_wanted_share_stays_unused() {
    let tuning = Tuning::DEFAULT;
    let step = |unused: f64| {
        let mut margin = Margin::default();
        margin.on_arrival(&tuning, 0.0, 1e4, 1e5);
        let before = margin.share();
        margin.on_arrival(&tuning, 1000.0, unused, 1e5);
        margin.share() - before
    };
    // ε/(1 − ε) of what arrives.
    let balance = 1000.0 * tuning.idle / (1.0 - tuning.idle);
    assert!(step(balance).abs() < 1e-12);
    assert!(step(balance * 1.1) > 0.0 && step(balance * 0.9) < 0.0);
    // κ (unused − ε (arrived + unused)) / W
    close(step(500.0), 0.07 * (500.0 - 0.05 * 1500.0) / 1e5);
}

#[test]
fn losses_below_the_tolerated_share_leave_the_margin_alone() {
    let tuning = Tuning::DEFAULT;
    let after = |lost: f64, queued: bool| {
        let mut margin = Margin::default();
        for _ in 0..2000 {
            margin.on_delivered(1e4 * (1.0 - lost), 1e5);
            margin.on_loss(&tuning, 1e4 * lost, queued, 1e5);
        }
        margin
    };
    close(after(0.015, true).share(), 0.0);
    close(after(0.05, false).share(), 0.0);
    close(after(0.05, true).share(), tuning.least);
    close(after(0.2, false).share(), tuning.least);
    assert!(after(0.2, false).is_policed() && !after(0.05, true).is_policed());
}

#[test]
fn without_losses_the_margin_does_not_go_below_zero() {
    let mut margin = Margin::default();
    margin.on_arrival(&Tuning::DEFAULT, 1000.0, 10.0, 1e5);
    for _ in 0..100_000 {
        margin.on_arrival(&Tuning::DEFAULT, 1000.0, 0.0, 1e5);
    }
    close(margin.share(), 0.0);
}

#[test]
fn the_forecast_is_a_mean_over_bytes() {
    let mut forecast = Forecast::new();
    forecast.on_arrival(&Tuning::DEFAULT, 1000.0, 5e4, f64::INFINITY, 1e5);
    close(forecast.bytes(), 5e4);
    // Falls over a window: 1000/(1000 + 100 000) of the way.
    forecast.on_arrival(&Tuning::DEFAULT, 1000.0, 0.0, f64::INFINITY, 1e5);
    close(forecast.bytes(), 5e4 * (1.0 - 1.0 / 101.0));
    // Rises over half of one, to what is believed.
    let before = forecast.bytes();
    forecast.on_arrival(&Tuning::DEFAULT, 1000.0, 1e9, 6e4, 1e5);
    close(forecast.bytes(), before + (6e4 - before) / 51.0);
    // A window of 60 kB that meets T/2 of queue on a calm link: 40 kB of it do not queue.
    forecast.on_round(6e4, T, T.div(2));
    close(forecast.when(1.0), 4e4);
    close(forecast.when(0.0), forecast.bytes());
}

#[test]
fn the_minimum_lasts_for_one_to_two_spans_and_on_calm_links_the_mean_counts() {
    let mut path = Path::default();
    path.on_rtt(at(0), T);
    for s in 1..=10 {
        path.on_rtt(at(s * 1000), T + MS * 10);
    }
    assert_eq!(path.min_rtt(0.0, 1.25, 0.0), Some(T));
    for s in 11..=20 {
        path.on_rtt(at(s * 1000), T + MS * 10);
    }
    assert_eq!(path.min_rtt(0.0, 1.25, 0.0), Some(T + MS * 10));

    // Rounds of RTTs between 40 and 48 ms, 44 on average, among others with a queue; two packets of the
    // flow's own take 2 ms.
    let mut path = Path::default();
    for round in 0..200 {
        for i in 0..9 {
            path.on_rtt(at(0), T + MS * (i + round % 7));
        }
        path.on_round();
    }
    assert_eq!(path.min_rtt(0.0, 1.25, 0.0), Some(T));
    assert_eq!(path.min_rtt(1.0, 1.25, 0.0), Some(T + MS * 5));
    assert_eq!(path.min_rtt(0.5, 1.0, 0.0), Some(T + MS * 2));
    assert_eq!(path.min_rtt(1.0, 1.25, 0.05), Some(T + MS * 3));
}

#[test]
fn losses_bound_the_growth_of_the_forecast() {
    let mut margin = Margin::default();
    assert_eq!(margin.arriving(&Tuning::DEFAULT), 1.0);
    margin.on_loss(&Tuning::DEFAULT, 1e4, false, 9.75e4);
    assert!((margin.arriving(&Tuning::DEFAULT) - 0.95).abs() < 1e-9);
    margin.on_loss(&Tuning::DEFAULT, 1e9, false, 1e5);
    assert_eq!(margin.arriving(&Tuning::DEFAULT), 0.3);
}

#[test]
fn timestamps_tell_an_arrival_by_the_peers_own_least_delay() {
    let mut clock = PeerClock::default();
    // The peer's clock is ten seconds behind. Its first packet met no queue.
    let offset = |ms: u64| Time::from_nanos(at(ms).as_nanos().wrapping_sub(10_000_000_000));
    assert_eq!(clock.arrival(at(40), at(0), offset(20), T), at(40));
    // Sent at 10, arrived after 3 ms of queueing, acknowledged 20 ms late: as if at 53.
    assert_eq!(clock.arrival(at(73), at(10), offset(33), T), at(53));
}

#[test]
fn the_least_rtt_of_late_is_that_of_two_rounds() {
    let mut path = Path::default();
    path.on_rtt(at(0), T);
    path.on_round();
    path.on_rtt(at(50), T + MS * 8);
    assert_eq!(path.lately(), T);
    path.on_round();
    path.on_rtt(at(100), T + MS * 9);
    assert_eq!(path.lately(), T + MS * 8);
}

#[test]
fn startup_ends_after_a_stretch_that_queued_and_not_after_one_packet() {
    let mut startup = Startup::default();
    for _ in 0..9 {
        startup.on_arrival(1000.0, MS * 6, T, false);
    }
    assert!(!startup.has_filled(4e4, 1000.0));
    startup.on_arrival(1000.0, MS * 4, T, false);
    for _ in 0..11 {
        startup.on_arrival(1000.0, MS * 6, T, false);
    }
    assert!(startup.has_filled(4e4, 1000.0));
    assert!(!startup.has_filled(1e5, 1000.0), "an eighth of the window");
}

#[test]
fn a_queue_that_does_not_move_while_the_window_falls_is_the_paths() {
    let mut concession = Concession::default();
    let mut round = |ms: u64, cwnd: f64, queueing: u64| {
        concession.on_round(at(ms), at(ms - 50), cwnd, MS * queueing, T)
    };
    assert_eq!(round(100, 1e5, 20), None);
    assert_eq!(round(200, 6e4, 20), None);
    assert_eq!(round(300, 3.9e4, 20), None, "sent with the larger window");
    assert_eq!(round(400, 3.9e4, 20), Some(MS * 20));

    // One that falls with the window is the flow's own.
    assert_eq!(round(500, 1e5, 20), None);
    assert_eq!(round(600, 6e4, 14), None);
    assert_eq!(round(700, 3.9e4, 12), None);
    assert_eq!(round(800, 3.9e4, 12), None);
}

/// ebb after a round trip, with a tenth of its packets lost; then the given acknowledgments of one
/// instant: bytes lost before each (one event each), packets acknowledged, flight before and after.
fn share_lost_after(acks: &[(&[u64], u64, u64, u64)]) -> f64 {
    let mut ebb = Ebb::new(&Config::for_datagram(PACKET), Tuning::DEFAULT);
    let mut number = 0;
    let mut play = |ebb: &mut Ebb, ms: u64, acks: &[(&[u64], u64, u64, u64)]| {
        for &(losses, acked, prior, inflight) in acks {
            for lost in losses {
                let packets = [crate::controller::LostPacket {
                    number,
                    bytes: PACKET * *lost,
                    sent_at: at(ms - 40),
                    sent_inflight: PACKET,
                    lost: PACKET,
                    app_limited: false,
                }];
                ebb.on_loss(&LossEvent {
                    now: at(ms),
                    packets: &packets,
                    bytes_lost: PACKET * *lost,
                    inflight: PACKET * inflight,
                });
            }
            let packets = [crate::controller::AckedPacket {
                number,
                bytes: PACKET * acked,
                sent_at: at(ms - 40),
                received_at: None,
            }];
            number += 1;
            ebb.on_ack(&AckEvent {
                now: at(ms),
                packets: &packets,
                bytes_acked: PACKET * acked,
                bytes_lost: Bytes::ZERO,
                rtt: Some(T),
                prior_inflight: PACKET * prior,
                inflight: PACKET * inflight,
                rate_sample: None,
            });
        }
    };
    play(&mut ebb, 40, &[(&[], 8, 10, 2)]);
    play(&mut ebb, 50, &[(&[1], 9, 10, 0)]);
    play(&mut ebb, 60, acks);
    (1.0 - ebb.margin.arriving(&ebb.tuning)) / ebb.tuning.loss_price
}

#[test]
fn what_arrives_though_given_up_is_told_from_losses_of_the_same_instant() {
    // Ten in flight, two lost, eight acknowledged: nothing of it had been given up before, however
    // many events tell of the losses.
    let honest = share_lost_after(&[(&[2], 8, 10, 0)]);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} is not {b}");
    near(share_lost_after(&[(&[1, 1], 8, 10, 0)]), honest);
    // One more is acknowledged than was in flight.
    let spurious = share_lost_after(&[(&[2], 9, 10, 0)]);
    assert!(spurious < honest - 0.004, "{spurious} {honest}");
    let in_two = share_lost_after(&[(&[1, 1], 9, 10, 0)]);
    near(in_two, spurious);
    // A second acknowledgment of the instant has no part in the first one's loss.
    let bunch = share_lost_after(&[(&[2], 4, 10, 4), (&[], 4, 4, 0)]);
    near(bunch, honest);
}
