//! `docs/ebb-spec.md` says what ebb does: an implementation from its text alone agrees with ours after
//! every event, to the byte.

mod drawn;
mod reference;
mod run;
mod side_by_side;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::SimConfig;
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel, MovingDelay};
use lowtide_sim::link::{AfterLast, Link, RateSchedule};
use lowtide_sim::queue::{QueueKind, QueueLimit};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::generate;
use lowtide_sim::transport::TransportConfig;

use self::run::{ONE_WAY, Run, at, constant, report_arrivals};
use self::side_by_side::Tales;

#[test]
fn on_a_constant_link() {
    let seen = Run::over(constant(20), QueueLimit::Unlimited, 60).agrees("constant");
    assert!(seen.drains > 1);
}

#[test]
fn on_a_mobile_link() {
    for named in generate::named() {
        if named.name == "lte" || named.name.starts_with("4g") {
            let link = named.model().generate(Duration::from_secs(60), 1).unwrap();
            let run = Run::over(Link::Rates(link), QueueLimit::Unlimited, 60);
            run.agrees(named.name);
        }
    }
}

#[test]
fn under_random_loss_before_a_small_buffer() {
    let run = Run::over(constant(10), QueueLimit::Bdp(0.5), 60);
    let seen = run
        .with(|config| config.forward.loss = LossModel::Random(0.01))
        .agrees("loss");
    assert!(seen.losses > 100);
}

#[test]
fn behind_queues_that_mark() {
    for queue in ["codel:target=1ms,interval=20ms", "dualpi2"] {
        let run = Run::over(constant(20), QueueLimit::Unlimited, 60);
        let seen = run
            .beside("cubic", at(5), Some(at(30)))
            .with(|config| config.forward.queue = QueueKind::parse(queue).unwrap())
            .agrees(queue);
        assert!(seen.marks > 0, "{queue}: {seen:?}");
    }
}

#[test]
fn behind_jitter_and_bunches() {
    let run = Run::over(constant(10), QueueLimit::Bdp(2.0), 30);
    let jitter = Jitter {
        max: Duration::from_millis(10),
        reorder: true,
    };
    run.with(|config| config.forward.jitter = Some(jitter))
        .agrees("jitter");
    let run = Run::over(constant(10), QueueLimit::Bdp(2.0), 30);
    let aggregation = Aggregation::every(Duration::from_millis(30));
    run.with(|config| config.reverse.aggregation = Some(aggregation))
        .agrees("bunches");
}

#[test]
fn beside_cubic_and_when_it_has_left() {
    let run = Run::over(constant(20), QueueLimit::Bdp(2.0), 60);
    let seen = run.beside("cubic", at(1), Some(at(40))).agrees("cubic");
    assert!(seen.competitions > 0 && !seen.competes, "{seen:?}");
}

/// The way there takes longer, or less, from these times on.
fn lengthen(config: &mut SimConfig, steps: &[(Time, Duration)]) {
    let delay = MovingDelay::stepped(config.forward.delay, steps).unwrap();
    config.forward.moving = Some(Arc::new(delay));
}

/// The path grows longer while the minimum is held; nothing is lost any more.
#[test]
fn when_nothing_shows_others_any_more() {
    let run = Run::over(constant(20), QueueLimit::Bdp(2.0), 60);
    let seen = run
        .beside("cubic", at(1), Some(at(25)))
        .with(|config| {
            lengthen(config, &[(at(25), ONE_WAY * 2)]);
        })
        .agrees("unopposed");
    assert!(seen.competitions > 0 && !seen.competes, "{seen:?}");
}

#[test]
fn beside_cubic_over_tcp_with_timeouts() {
    let step = |ms, mbps| {
        (
            Time::ZERO + Duration::from_millis(ms),
            Rate::from_mbps(mbps),
        )
    };
    let steps = vec![step(0, 20), step(20_000, 0), step(22_000, 20)];
    let link = RateSchedule::new(steps, AfterLast::RepeatAfter(Duration::from_secs(5))).unwrap();
    let packets = |acks: u64| {
        acks.is_multiple_of(5_000)
            .then(|| Bytes::new(1_000 + acks % 700))
    };
    let tales = Tales {
        packets,
        ..Tales::NONE
    };
    let run = Run::told(tales, Link::Rates(link), QueueLimit::Bdp(2.0), 60);
    let seen = run
        .beside("cubic", at(2), None)
        .with(|config| config.flows[0].transport = TransportConfig::tcp())
        .agrees("cubic over tcp");
    assert!(seen.competitions > 0 && seen.timeouts > 0, "{seen:?}");
}

#[test]
fn beside_its_like() {
    let run = Run::over(constant(20), QueueLimit::Bdp(2.0), 30);
    run.beside("ebb", at(5), None).agrees("ebb");
}

#[test]
fn when_the_path_grows_longer_and_shorter() {
    let run = Run::over(constant(20), QueueLimit::Unlimited, 60);
    let seen = run
        .with(|config| {
            let step = |to, ms| (at(to), Duration::from_millis(ms));
            lengthen(config, &[step(15, 60), step(45, 20)]);
        })
        .agrees("steps");
    assert!(seen.concessions > 0, "{seen:?}");
}

#[test]
fn with_receive_timestamps() {
    let link = generate::named()[0].model();
    let link = link.generate(Duration::from_secs(60), 2).unwrap();
    let run = Run::over(Link::Rates(link), QueueLimit::Unlimited, 60);
    let seen = run.with(report_arrivals).agrees("timestamps");
    assert!(seen.arrivals_known > 1_000);
}

#[test]
fn with_receive_timestamps_when_acknowledgments_stall() {
    let step = |ms, mbps| {
        (
            Time::ZERO + Duration::from_millis(ms),
            Rate::from_mbps(mbps),
        )
    };
    let steps = vec![step(0, 10), step(1_000, 0)];
    let stalls = RateSchedule::new(steps, AfterLast::RepeatAfter(Duration::from_millis(300)));
    let stalls = Link::Rates(stalls.unwrap());
    let run = Run::over(constant(10), QueueLimit::Bdp(2.0), 40).with(report_arrivals);
    run.with(|config| config.reverse.link = Arc::new(stalls))
        .agrees("stalls");
}

#[test]
fn with_timestamps_that_lie_and_packets_that_change() {
    for (name, clock) in [
        (
            "slow",
            (|at| Time::ZERO + at.since(Time::ZERO).mul_f64(0.999)) as fn(Time) -> Time,
        ),
        ("backwards", |at| Time::from_nanos(u64::MAX - at.as_nanos())),
        ("jumping", |at: Time| {
            Time::from_nanos(at.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }),
    ] {
        let packets = |acks: u64| {
            let sizes = [1_200, 9_000, 1, 1_500];
            let turn = (acks / 1_000) as usize % sizes.len();
            acks.is_multiple_of(1_000).then(|| Bytes::new(sizes[turn]))
        };
        let tales = Tales { clock, packets };
        let run = Run::told(tales, constant(20), QueueLimit::Bdp(1.0), 30);
        run.with(report_arrivals).agrees(name);
    }
}

#[test]
fn of_sources_that_send_less_than_they_may() {
    for source in [
        SourceConfig::Video {
            rate: Rate::from_mbps(6),
            fps: 30,
            spread: 0.3,
        },
        SourceConfig::OnOff {
            on: Duration::from_secs(3),
            off: Duration::from_secs(2),
            rate: Rate::from_mbps(30),
        },
    ] {
        let run = Run::over(constant(20), QueueLimit::Unlimited, 40);
        let seen = run
            .with(|config| config.flows[0].source = source)
            .agrees("source");
        assert!(seen.app_limited > 100);
    }
}

#[test]
fn over_outages_with_timeouts_of_tcp() {
    let step = |ms, mbps| {
        (
            Time::ZERO + Duration::from_millis(ms),
            Rate::from_mbps(mbps),
        )
    };
    let steps = vec![step(0, 20), step(4_000, 0), step(5_500, 20), step(9_000, 2)];
    let link = RateSchedule::new(steps, AfterLast::RepeatAfter(Duration::from_secs(3))).unwrap();
    let run = Run::over(Link::Rates(link), QueueLimit::Bdp(4.0), 40);
    let seen = run
        .with(|config| config.flows[0].transport = TransportConfig::tcp())
        .agrees("outages");
    assert!(seen.timeouts > 0 && seen.undone > 0, "{seen:?}");
}

/// The thresholds that the others do not come near.
#[test]
fn on_networks_drawn_at_random() {
    let (mut events, mut competitions, mut concessions) = (0, 0, 0);
    for seed in 0..drawn::NETWORKS {
        let seen = drawn::network(seed).agrees(&format!("network {seed}"));
        events += seen.events;
        competitions += seen.competitions;
        concessions += seen.concessions;
    }
    println!("{events} events");
    assert!(
        competitions >= 5 && concessions >= 5,
        "{competitions}, {concessions}"
    );
}
