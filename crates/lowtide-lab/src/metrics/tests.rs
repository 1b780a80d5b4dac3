use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::link::{Link, Opportunities};
use lowtide_sim::probe::{Delivery, DropCause, Sent};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{FlowConfig, PipeConfig, Probe, SenderKind, SimConfig};

use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

fn config(link: Link, duration: Duration, flows: usize) -> SimConfig {
    let flow = FlowConfig::bulk(SenderKind::Oracle);
    SimConfig {
        forward: PipeConfig::link_with_delay(Arc::new(link), QueueLimit::Unlimited, ms(20)),
        reverse: PipeConfig::delay_only(ms(20)),
        flows: vec![flow; flows],
        duration,
        packet_size: Bytes::new(1000),
        ack_size: Bytes::new(60),
        seed: 0,
    }
}

fn deliver(meter: &mut Meter, flow: usize, sent: Time, now: Time, first_copy: bool) {
    meter.on_deliver(&Delivery {
        detour: Duration::ZERO,
        flow,
        now,
        sent_at: sent,
        bytes: Bytes::new(1000),
        first_copy,
        estimator: None,
    });
}

#[track_caller]
fn near(metrics: &Metrics, key: &str, expected: f64, tolerance: f64) {
    let value = metrics[key];
    assert!((value - expected).abs() < tolerance, "{key}: {value}");
}

#[test]
fn rates_shares_and_delays_are_what_their_definitions_say() {
    // 8 Mbit/s: 1000 bytes a millisecond; 1 s; 20 ms from link to receiver.
    let link = Link::constant(Rate::from_mbps(8)).unwrap();
    let mut meter = Meter::new(&config(link, Duration::from_secs(1), 1));
    meter.on_flow_start(0, Time::ZERO, Duration::ZERO, ms(20));
    for n in 0..500 {
        meter.on_send(&Sent {
            flow: 0,
            now: at(n),
            number: n,
            bytes: Bytes::new(1000),
            retransmission: n >= 450,
        });
    }
    meter.on_drop(0, at(10), Bytes::new(1000), DropCause::QueueFull);
    // 490 packets arrive, 1 % of them second copies; every tenth waits 30 ms in the queue.
    for n in 0..490 {
        let delay = if n % 10 == 0 { ms(51) } else { ms(21) };
        deliver(&mut meter, 0, at(n), at(n) + delay, n % 98 != 0);
    }
    let m = meter.finish().total;
    near(&m, "throughput_mbps", 3.92, 1e-9);
    near(&m, "goodput_mbps", 3.88, 1e-9);
    // 490 of the 980 kB that can arrive.
    near(&m, "utilisation", 0.5, 1e-9);
    near(&m, "retransmitted_share", 0.1, 1e-9);
    near(&m, "loss_share", 0.002, 1e-9);
    near(&m, "queue_delay_ms.mean", 3.0, 1e-6);
    near(&m, "queue_delay_ms.p50", 0.0, 0.01);
    near(&m, "queue_delay_ms.p95", 30.0, 0.05);
    near(&m, "queue_delay_ms.max", 30.0, 1e-9);
    // Packets 0 and 98 are copies: packet 101 is the hundredth first copy.
    assert_eq!(m["transfer_ms.100kb"], 101.0 + 21.0);
    assert!(m["transfer_ms.3mb"].is_nan(), "490 kB in all");
    assert!(m["rtt_ms.mean"].is_nan(), "no acknowledgment, no RTT");
    assert_eq!(m["jain"], 1.0);
}

#[test]
fn delay_that_the_link_imposes_is_not_self_inflicted() {
    // Opportunities each 10 ms, none from 500 to 900 ms.
    let times: Vec<u32> = (1..=50).chain(90..=100).map(|n| n * 10).collect();
    let trace = Opportunities::new(times.clone(), Bytes::new(1000)).unwrap();
    let config = config(Link::Opportunities(trace), Duration::from_secs(1), 1);
    let p95 = |queued: u64| {
        let mut meter = Meter::new(&config);
        meter.on_flow_start(0, Time::ZERO, Duration::ZERO, ms(20));
        for t in times.iter().map(|t| u64::from(*t)).filter(|t| *t <= 980) {
            // The packet that leaves at t came `queued` opportunities before it was needed.
            let sent = at(t) - Duration::from_nanos(1) - ms(10 * queued);
            deliver(&mut meter, 0, sent, at(t + 20), true);
        }
        meter.finish().total["self_inflicted_ms.p95"]
    };
    assert_eq!(p95(0), 0.0, "outage included");
    assert!((p95(3) - 30.0).abs() < 0.1, "{}", p95(3));
}

#[test]
fn fairness_is_jains_index_over_windows_in_which_flows_overlap() {
    assert_eq!(jain([2.0, 2.0].into_iter()), 1.0);
    assert_eq!(jain([4.0, 0.0].into_iter()), 0.5);
    let link = Link::constant(Rate::from_mbps(8)).unwrap();
    let mut meter = Meter::new(&config(link, Duration::from_secs(4), 2));
    meter.on_flow_start(0, Time::ZERO, Duration::ZERO, ms(20));
    meter.on_flow_start(1, at(1000), Duration::ZERO, ms(20));
    // Alone for a second; then 3 : 1 for a second, then equal shares.
    for n in 0..3500 {
        let second_flows = match n / 1000 {
            0 => false,
            1 => n % 4 == 0,
            _ => n % 2 == 0,
        };
        deliver(&mut meter, usize::from(second_flows), at(n), at(n), true);
    }
    // (1 + 1/3)² / (2 · (1 + 1/9)) = 0.8 and 1.
    let measured = meter.finish();
    near(&measured.total, "jain", 0.9, 1e-9);
    assert_eq!(measured.flows[1]["jain"], 1.0);
    // 2500 and 1000 packets, each flow in its four seconds.
    near(&measured.total, "jain_overall", 12.25 / 14.5, 1e-9);
}

#[test]
fn a_flow_that_falls_silent_pays_until_its_end() {
    let times: Vec<u32> = (1..=100).map(|n| n * 10).collect();
    let trace = Opportunities::new(times, Bytes::new(1000)).unwrap();
    let config = config(Link::Opportunities(trace), Duration::from_secs(1), 1);
    let mut meter = Meter::new(&config);
    meter.on_flow_start(0, Time::ZERO, Duration::ZERO, ms(20));
    for t in (10..=100).step_by(10) {
        let sent = at(t) - Duration::from_nanos(1);
        deliver(&mut meter, 0, sent, at(t + 20), true);
    }
    // From 120 ms on nothing comes. Just before 1000 ms the packet of 970 ms could have come (that
    // of 980 ms arrives at 1000 ms), and the freshest is that of 100 ms.
    let total = meter.finish().total;
    near(&total, "self_inflicted_ms.p95", 870.0, 1.0);
    assert_eq!(meter.finish().total, total, "once only");
}

#[test]
fn a_flows_life_ends_when_it_is_complete() {
    let link = Link::constant(Rate::from_mbps(8)).unwrap();
    let mut meter = Meter::new(&config(link, Duration::from_secs(4), 2));
    meter.on_flow_start(0, Time::ZERO, Duration::ZERO, ms(20));
    meter.on_flow_start(1, at(1000), Duration::ZERO, ms(20));
    // One after the other: 500 packets in half a second, 2000 in two.
    for n in 0..500 {
        deliver(&mut meter, 0, at(n), at(n + 21), true);
    }
    meter.on_flow_complete(0, at(800));
    for n in 1000..3000 {
        deliver(&mut meter, 1, at(n), at(n + 21), true);
    }
    let measured = meter.finish();
    near(&measured.flows[0], "throughput_mbps", 5.0, 1e-9);
    near(&measured.flows[0], "utilisation", 500.0 / 780.0, 1e-9);
    let jain = measured.total["jain"];
    assert!(jain.is_nan(), "they never shared the link");
}
