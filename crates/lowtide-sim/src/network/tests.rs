use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Rate};

use super::impairment::{Jitter, LossModel};
use super::link::{AfterLast, Link, RateSchedule};
use super::queue::QueueLimit;
use super::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(ms: f64) -> Time {
    Time::from_nanos((ms * 1e6) as u64)
}

/// 1500 bytes take 1 ms, then 10 ms.
fn pipe(limit: QueueLimit) -> PipeConfig {
    let link = Arc::new(Link::constant(Rate::from_mbps(12)).unwrap());
    PipeConfig::link_with_delay(link, limit, ms(10))
}

fn network(forward: PipeConfig, reverse: PipeConfig, access: &[AccessConfig]) -> Network<u32> {
    Network::new(&NetworkConfig {
        base_rtt: forward.delay + reverse.delay,
        forward,
        reverse,
        access: access.to_vec(),
        seed: 1,
    })
}

fn packet(flow: u32, payload: u32) -> Packet<u32> {
    Packet {
        flow,
        bytes: Bytes::new(1500),
        ecn: Ecn::NotEct,
        payload,
    }
}

/// What happened in a network.
#[derive(Debug, Default, PartialEq)]
struct Log {
    departures: Vec<Departure>,
    drops: Vec<(Time, Direction, DropCause, u32)>,
}

impl Tap<u32> for Log {
    fn on_departure(&mut self, departure: &Departure) {
        self.departures.push(*departure);
    }

    fn on_drop(&mut self, d: Dropped<u32>) {
        self.drops
            .push((d.at, d.direction, d.cause, d.packet.payload));
    }
}

/// All that arrives until the end: when, where, what.
fn arrivals(network: &mut Network<u32>, log: &mut Log) -> Vec<(Time, Direction, u32)> {
    let next = || network.advance(Time::MAX, log);
    std::iter::from_fn(next)
        .map(|a| (a.at, a.direction, a.packet.payload))
        .collect()
}

const FREE: AccessConfig = AccessConfig {
    sender_rate: None,
    sender_delay: Duration::ZERO,
    receiver_rate: None,
    receiver_delay: Duration::ZERO,
};

#[test]
fn a_limited_link_serves_queues_and_drops_alike_in_both_directions() {
    for direction in Direction::BOTH {
        let limited = || pipe(QueueLimit::Packets(2));
        let mut network = network(limited(), limited(), &[FREE]);
        let mut log = Log::default();
        for n in 0..4 {
            network.send(Time::ZERO, direction, packet(0, n), &mut log);
        }
        assert_eq!(
            log.drops,
            [(Time::ZERO, direction, DropCause::QueueFull, 3)]
        );
        assert_eq!(network.next_event(), Some(at(1.0)));
        assert_eq!(network.next_arrival(), Some(at(11.0)));
        assert_eq!(network.advance(at(10.9), &mut log), None);
        assert_eq!(network.next_event(), Some(at(11.0)));
        let arrived = arrivals(&mut network, &mut log);
        let expected = [(11.0, 0), (12.0, 1), (13.0, 2)].map(|(t, n)| (at(t), direction, n));
        assert_eq!(arrived, expected);
        let departures: Vec<_> = log.departures.iter().map(|d| (d.at, d.sojourn)).collect();
        let expected = [1, 2, 3].map(|n| (at(n as f64), ms(n)));
        assert_eq!(departures, expected);
        let queued: Vec<_> = log.departures.iter().map(|d| d.queued.get()).collect();
        assert_eq!(queued, [1_500, 0, 0]);
        assert_eq!((network.next_event(), network.next_arrival()), (None, None));
    }
}

#[test]
fn access_links_come_before_and_behind_the_shared_path() {
    let access = AccessConfig {
        sender_rate: Some(Rate::from_mbps(24)),
        sender_delay: ms(2),
        receiver_rate: Some(Rate::from_mbps(6)),
        receiver_delay: ms(3),
    };
    let both = || pipe(QueueLimit::Unlimited);
    let mut network = network(both(), both(), &[access]);
    let mut log = Log::default();
    for direction in Direction::BOTH {
        for n in 0..2 {
            network.send(Time::ZERO, direction, packet(0, n), &mut log);
        }
    }
    // To the receiver: 0.5 ms of transmission at the sender's rate and 2 ms, 1 ms on the link and
    // 10 ms, 2 ms at the receiver's rate and 3 ms. To the sender: 3 ms, 1 and 10 ms, 2 ms.
    let expected = [
        (16.0, Direction::Reverse, 0),
        (17.0, Direction::Reverse, 1),
        (18.5, Direction::Forward, 0),
        (20.5, Direction::Forward, 1),
    ];
    let expected = expected.map(|(t, direction, n)| (at(t), direction, n));
    assert_eq!(arrivals(&mut network, &mut log), expected);
}

#[test]
fn at_the_same_instant_a_link_makes_room_before_packets_enter() {
    let far = AccessConfig {
        sender_delay: ms(1),
        ..FREE
    };
    let one = || pipe(QueueLimit::Packets(1));
    let mut network = network(one(), one(), &[FREE, far, far]);
    let mut log = Log::default();
    // Two reach the link at once; the others in the very moment in which it has sent the first, in
    // the order in which they were sent, regardless of flow.
    for (flow, n) in [(2, 2), (1, 3), (0, 0), (0, 1)] {
        network.send(Time::ZERO, Direction::Forward, packet(flow, n), &mut log);
    }
    let arrived: Vec<_> = arrivals(&mut network, &mut log)
        .iter()
        .map(|(_, _, n)| *n)
        .collect();
    assert_eq!(arrived, [0, 1, 2]);
    let full = (at(1.0), Direction::Forward, DropCause::QueueFull, 3);
    assert_eq!(log.drops, [full]);
}

#[test]
fn an_unlimited_link_takes_no_time_and_never_has_a_queue() {
    let mut free = PipeConfig::delay_only(ms(5));
    free.buffer = QueueLimit::Packets(0);
    let mut network = network(free, pipe(QueueLimit::Unlimited), &[FREE]);
    let mut log = Log::default();
    for n in 0..3 {
        network.send(at(1.0), Direction::Forward, packet(0, n), &mut log);
    }
    assert_eq!(log.departures.len(), 3);
    let waited = log
        .departures
        .iter()
        .any(|d| !(d.queued.is_zero() && d.sojourn.is_zero()));
    assert!(!waited && log.drops.is_empty());
    let expected = [0, 1, 2].map(|n| (at(6.0), Direction::Forward, n));
    assert_eq!(arrivals(&mut network, &mut log), expected);
}

#[test]
fn nothing_happens_any_more_on_a_link_that_is_down_for_ever() {
    let steps = vec![(Time::ZERO, Rate::from_mbps(12)), (at(1.0), Rate::ZERO)];
    let link = Link::Rates(RateSchedule::new(steps, AfterLast::Hold).unwrap());
    let config = PipeConfig::link_with_delay(Arc::new(link), QueueLimit::Unlimited, ms(10));
    let mut network = network(config, pipe(QueueLimit::Unlimited), &[FREE]);
    let mut log = Log::default();
    for n in 0..3 {
        network.send(Time::ZERO, Direction::Forward, packet(0, n), &mut log);
    }
    let first = (at(11.0), Direction::Forward, 0);
    assert_eq!(arrivals(&mut network, &mut log), [first]);
    assert_eq!((network.next_event(), network.next_arrival()), (None, None));
}

/// A thousand packets each way at `spacing`, with loss and jitter; `rhythm` lets time pass between.
fn impaired(
    directions: &[Direction],
    mut rhythm: impl FnMut(&mut Network<u32>, Time, &mut Log, &mut Vec<Arrival<u32>>),
) -> (Vec<Arrival<u32>>, Log) {
    let mut config = pipe(QueueLimit::Packets(5));
    config.loss = LossModel::Random(0.1);
    config.jitter = Some(Jitter {
        max: ms(4),
        reorder: true,
    });
    let mut network = network(config.clone(), config, &[FREE]);
    let (mut log, mut arrived) = (Log::default(), Vec::new());
    for n in 0..1_000 {
        let now = Time::ZERO + Duration::from_micros(1_013) * u64::from(n);
        rhythm(&mut network, now, &mut log, &mut arrived);
        for direction in directions {
            network.send(now, *direction, packet(0, n), &mut log);
        }
    }
    arrived.extend(std::iter::from_fn(|| network.advance(Time::MAX, &mut log)));
    (arrived, log)
}

#[test]
fn losses_and_delays_depend_on_neither_the_hosts_rhythm_nor_the_other_direction() {
    let at_once = |network: &mut Network<u32>, now, log: &mut Log, arrived: &mut Vec<_>| {
        arrived.extend(std::iter::from_fn(|| network.advance(now, log)));
    };
    // As a host that wakes for each single event.
    let step_by_step = |network: &mut Network<u32>, now, log: &mut Log, arrived: &mut Vec<_>| {
        while let Some(next) = network.next_event().filter(|next| *next <= now) {
            arrived.extend(network.advance(next, log));
        }
    };
    let (arrived, log) = impaired(&Direction::BOTH, at_once);
    let stepped = impaired(&Direction::BOTH, step_by_step);
    assert_eq!((&arrived, &log), (&stepped.0, &stepped.1));
    for direction in Direction::BOTH {
        let (alone, log_alone) = impaired(&[direction], at_once);
        let together = arrived.iter().filter(|a| a.direction == direction);
        assert_eq!(alone, together.copied().collect::<Vec<_>>());
        let drops = log.drops.iter().filter(|d| d.1 == direction);
        assert_eq!(log_alone.drops, drops.copied().collect::<Vec<_>>());
        // Mean 100, standard deviation 9.5.
        let lost = log_alone.drops.len();
        assert!((60..140).contains(&lost), "{lost}");
    }
    let lost = |direction| {
        let of_direction = log.drops.iter().filter(move |d| d.1 == direction);
        of_direction.map(|d| d.3).collect::<Vec<_>>()
    };
    assert_ne!(
        lost(Direction::Forward),
        lost(Direction::Reverse),
        "each direction has its own randomness"
    );
}
