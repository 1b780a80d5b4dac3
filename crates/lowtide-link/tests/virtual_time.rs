//! One direction of the link against the simulator, without clock and sockets.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Ecn, registry};
use lowtide_link::{Incoming, PathConfig, Shaper};
use lowtide_sim::impairment::{Jitter, LossModel};
use lowtide_sim::link::{AfterLast, Link, Opportunities, RateSchedule};
use lowtide_sim::probe::{Delivery, Sent};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{Direction, FlowConfig, PipeConfig, Probe, SenderKind, SimConfig, Simulation};

const SIZE: Bytes = Bytes::new(1500);

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

/// A link one way, and nothing the other.
fn shaper(down: PipeConfig, seed: u64) -> Shaper<()> {
    let path = PathConfig {
        base_rtt: down.delay * 2,
        down,
        up: PipeConfig::delay_only(Duration::ZERO),
        seed,
        ports: None,
    };
    Shaper::new(&path, Direction::Forward, ())
}

fn incoming(packet: &[u8], size: Bytes) -> Incoming<'_, ()> {
    Incoming {
        packet,
        size,
        ecn: Ecn::NotEct,
        flow: 0,
        destination: (),
    }
}

/// What comes out until `now`: what each packet says, and when it was due.
fn released(shaper: &mut Shaper<()>, now: Time) -> Vec<(Vec<u8>, Time)> {
    let mut out = Vec::new();
    while shaper.release(now, |r| {
        out.push((r.packet.to_vec(), r.due));
        Some(now)
    }) {}
    out
}

#[test]
fn packets_leave_one_after_another_in_order_and_what_does_not_fit_is_dropped() {
    // 1500 bytes take 1 ms; then 10 ms of delay.
    let link = Arc::new(Link::constant(Rate::from_mbps(12)).unwrap());
    let delay = Duration::from_millis(10);
    let config = PipeConfig::link_with_delay(link, QueueLimit::Packets(3), delay);
    let mut shaper = shaper(config, 1);
    for n in 0..5 {
        shaper.offer(Time::ZERO, incoming(&[n], SIZE));
    }
    assert_eq!(shaper.next_release(), Some(ms(11)));
    assert_eq!(released(&mut shaper, ms(10)), []);
    let first = released(&mut shaper, ms(11));
    assert_eq!(first, [(vec![0], ms(11))]);
    // Looked at late, the rest is still due when the model says; the fifth found no room.
    let rest = released(&mut shaper, ms(500));
    assert_eq!(
        rest,
        [(vec![1], ms(12)), (vec![2], ms(13)), (vec![3], ms(14))]
    );
    assert_eq!(shaper.next_release(), None);
    // And a late look at the link does not make it late for the next packet.
    shaper.offer(ms(500), incoming(&[9], SIZE));
    assert_eq!(released(&mut shaper, ms(600)), [(vec![9], ms(511))]);
}

#[test]
fn a_queue_without_limit_still_has_bounded_memory() {
    let never = RateSchedule::new(
        vec![
            (Time::ZERO, Rate::ZERO),
            (ms(1_000_000), Rate::from_mbps(1)),
        ],
        AfterLast::Hold,
    );
    let link = Arc::new(Link::Rates(never.unwrap()));
    let config = PipeConfig::link_with_delay(link, QueueLimit::Unlimited, Duration::ZERO);
    let mut shaper = shaper(config, 1);
    let packet = vec![0; 60_000];
    for n in 0..10_000 {
        shaper.offer(Time::from_nanos(n), incoming(&packet, Bytes::new(60_000)));
    }
    // 256 MB hold 4464 of them; all that was kept comes out eventually.
    let kept = released(&mut shaper, ms(1_000_000_000)).len();
    assert!((4_000..4_500).contains(&kept), "{kept}");
    // And there is room again.
    shaper.offer(ms(1_000_000_001), incoming(&packet, Bytes::new(60_000)));
    assert_eq!(released(&mut shaper, ms(2_000_000_000)).len(), 1);
}

#[test]
fn absurd_packets_and_times_do_no_harm() {
    let link = Arc::new(Link::constant(Rate::from_mbps(1)).unwrap());
    let config = PipeConfig::link_with_delay(link, QueueLimit::Packets(2), Duration::MAX);
    let mut shaper = shaper(config, 1);
    for (now, size) in [(5, 0), (5, u64::MAX), (6, 1), (u64::MAX, 7), (u64::MAX, 0)] {
        shaper.offer(Time::from_nanos(now), incoming(&[], Bytes::new(size)));
        let _ = shaper.next_release();
        let _ = released(&mut shaper, Time::from_nanos(now));
    }
}

/// What a flow sends, and when it arrives.
#[derive(Default)]
struct Log {
    sent: Vec<(Time, u64)>,
    delivered: Vec<(u64, Time)>,
}

impl Probe for Log {
    fn on_send(&mut self, sent: &Sent) {
        self.sent.push((sent.now, self.sent.len() as u64));
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        let at = delivery.sent_at;
        self.delivered.push((at.as_nanos(), delivery.now));
    }
}

/// The packets that a simulated flow sends, sent through the emulated link, arrive at the very same
/// nanoseconds: it is the same queue, link, loss and jitter.
#[test]
fn a_flow_of_the_simulator_arrives_at_the_same_nanoseconds() {
    let bursts = (1..500).flat_map(|n| [n * 7, n * 7, n * 7 + 3]).collect();
    let trace = Opportunities::new(bursts, Bytes::new(1504)).unwrap();
    for link in [
        Link::constant(Rate::from_mbps(10)).unwrap(),
        Link::Opportunities(trace),
    ] {
        let rtt = Duration::from_millis(40);
        let mut forward =
            PipeConfig::link_with_delay(Arc::new(link), QueueLimit::Packets(30), rtt.div(2));
        forward.loss = LossModel::Random(0.01);
        forward.jitter = Some(Jitter {
            max: Duration::from_millis(3),
            reorder: true,
        });
        let seed = 7;
        let flow = FlowConfig {
            transport: TransportConfig::tcp(),
            ..FlowConfig::bulk(SenderKind::of(&registry::parse("cubic").unwrap()))
        };
        let config = SimConfig {
            forward: forward.clone(),
            reverse: PipeConfig::delay_only(rtt.div(2)),
            flows: vec![flow],
            duration: Duration::from_secs(5),
            packet_size: SIZE,
            ack_size: Bytes::new(60),
            seed,
        };
        let mut log = Log::default();
        Simulation::new(config).unwrap().run(&mut log);
        assert!(log.delivered.len() > 1_000, "{}", log.delivered.len());

        let mut shaper = shaper(forward, seed);
        let mut arrived = Vec::new();
        let end = Time::ZERO + Duration::from_secs(5);
        for (at, _) in &log.sent {
            arrived.extend(released(&mut shaper, *at));
            shaper.offer(*at, incoming(&at.as_nanos().to_le_bytes(), SIZE));
        }
        arrived.extend(released(&mut shaper, end));
        let arrived: Vec<(u64, Time)> = arrived
            .iter()
            .map(|(packet, due)| (u64::from_le_bytes(packet[..].try_into().unwrap()), *due))
            .collect();
        assert_eq!(arrived, log.delivered);
    }
}
