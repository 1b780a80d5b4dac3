//! What a recording says of a link: over the simulator's network, in virtual time.

mod virtual_link;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_record::{Plan, Way, files};
use lowtide_sim::PipeConfig;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::{AfterLast, Link, MAHIMAHI_OPPORTUNITY, RateSchedule};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::trace::{delay, generate, mahimahi, series};
use virtual_link::{Clock, plan, record};

const ONE_WAY: Duration = Duration::from_millis(20);

fn pipe(link: Link) -> PipeConfig {
    PipeConfig::link_with_delay(Arc::new(link), QueueLimit::Unlimited, ONE_WAY)
}

/// Mbit/s from these seconds on.
fn steps(steps: &[(u64, u64)]) -> Link {
    let steps = steps.iter();
    let steps =
        steps.map(|(s, mbps)| (Time::from_nanos(s * 1_000_000_000), Rate::from_mbps(*mbps)));
    Link::Rates(RateSchedule::new(steps.collect(), AfterLast::Hold).unwrap())
}

fn free() -> PipeConfig {
    PipeConfig::delay_only(ONE_WAY)
}

/// The mean rate between two times of a recording, Mbit/s.
fn mean(way: &Way, from_s: u64, to_s: u64) -> f64 {
    let (from, to) = (Duration::from_secs(from_s), Duration::from_secs(to_s));
    let came = way.came.iter().filter(|c| (from..to).contains(&c.at));
    Rate::from_volume(came.map(|c| c.bytes).sum(), to - from).as_mbps()
}

#[test]
fn a_cellular_link_is_recorded_and_its_files_are_read_again() {
    let named = generate::named().iter().find(|n| n.name == "4g-mobility");
    let model = named.unwrap().model().with_mean(Rate::from_mbps(20));
    let schedule = model.generate(Duration::from_secs(60), 3).unwrap();
    let link = Link::Rates(schedule);
    let recording = record(plan(10), pipe(link.clone()), free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    assert!(way.idle_share() < 0.05, "{}", way.idle_share());
    assert_eq!(way.lost, 0);
    let from = Time::ZERO + recording.began - ONE_WAY;
    let bin = Duration::from_millis(100);
    let volumes = way.volumes(bin);
    let close = (0..volumes.len() - 1).filter(|n| {
        let at = from + bin * *n as u64;
        let truth = link.volume_between(at, at + bin).as_f64();
        (volumes[*n].as_f64() - truth).abs() <= (0.03 * truth).max(1500.0)
    });
    assert!(close.count() * 100 >= (volumes.len() - 1) * 95);
    // Base delay: half of 40 ms and what two packets take.
    assert!((20.0..25.0).contains(&way.base_delay.as_millis_f64()));

    let text = files::opportunities(way, "down");
    let trace = mahimahi::parse(&text, MAHIMAHI_OPPORTUNITY).unwrap();
    let rate = Link::Opportunities(trace).mean_rate().as_mbps();
    let recorded = way.mean().as_mbps();
    assert!((rate / recorded - 1.0).abs() < 0.01, "{rate} {recorded}");
    let text = files::rates(way, "down");
    let rate = Link::Rates(series::parse(&text).unwrap())
        .mean_rate()
        .as_mbps();
    assert!((rate / recorded - 1.0).abs() < 0.01, "{rate} {recorded}");
    delay::parse(&files::base_delay(way)).unwrap();
    delay::parse(&files::quiet_delay(&recording).unwrap()).unwrap();
}

#[test]
fn both_ways_at_once_each_have_their_rate() {
    let asked = Plan {
        up: true,
        ..plan(8)
    };
    let (down, up) = (pipe(steps(&[(0, 30)])), pipe(steps(&[(0, 4)])));
    let recording = record(asked, down, up, Clock::default()).unwrap();
    let rates = [&recording.down, &recording.up].map(|way| way.as_ref().unwrap().mean().as_mbps());
    assert!((rates[0] / 30.0 - 1.0).abs() < 0.03, "{rates:?}");
    assert!((rates[1] / 4.0 - 1.0).abs() < 0.03, "{rates:?}");
    let up = recording.up.as_ref().unwrap();
    assert!(up.idle_share() < 0.03, "{:?}", up.idle);
}

#[test]
fn an_outage_is_found_and_the_rate_before_and_after_it() {
    // Recording begins a bit more than a second later.
    let link = steps(&[(0, 20), (4, 0), (7, 20)]);
    let recording = record(plan(10), pipe(link), free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    let gap = way.longest_gap().as_secs_f64();
    assert!((2.99..3.02).contains(&gap), "{gap}");
    assert!((mean(way, 0, 2) / 20.0 - 1.0).abs() < 0.03);
    assert!((mean(way, 6, 8) / 20.0 - 1.0).abs() < 0.03);
    assert!(way.idle_share() < 0.01, "{:?}", way.idle);
}

#[test]
fn where_the_recorder_sent_less_than_the_link_carries_the_files_say_so() {
    let asked = Plan {
        max_rate: Rate::from_mbps(5),
        ..plan(5)
    };
    let link = pipe(steps(&[(0, 20)]));
    let recording = record(asked, link, free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    assert!(way.idle_share() > 0.9, "{}", way.idle_share());
    for text in [files::opportunities(way, "down"), files::rates(way, "down")] {
        assert!(
            String::from_utf8(text)
                .unwrap()
                .contains("# not backlogged: 0.0")
        );
    }
}

#[test]
fn a_lossy_link_is_kept_backlogged_and_a_short_queue_is_not_flooded() {
    let mut lossy = pipe(steps(&[(0, 20)]));
    lossy.loss = LossModel::Random(0.02);
    let recording = record(plan(8), lossy, free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    assert!(
        (way.mean().as_mbps() / 19.6 - 1.0).abs() < 0.02,
        "{}",
        way.mean()
    );
    assert!(way.idle_share() < 0.02);
    let lost = f64::from(way.lost) / f64::from(way.sent);
    assert!((0.015..0.025).contains(&lost), "{lost}");

    let mut short = pipe(steps(&[(0, 20)]));
    short.buffer = QueueLimit::Bytes(Bytes::new(50_000));
    let recording = record(plan(8), short, free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    let lost = f64::from(way.lost) / f64::from(way.sent);
    assert!(lost < 0.15, "{lost}");
    assert!(way.mean().as_mbps() > 19.0, "{}", way.mean());
}

#[test]
fn clocks_that_differ_and_part_change_nothing_but_what_is_said_of_them() {
    let clock = Clock {
        ahead: Duration::from_secs(3_000_000),
        ppm: 150.0,
    };
    let link = || pipe(steps(&[(0, 20)]));
    let same = record(plan(20), link(), free(), Clock::default()).unwrap();
    let other = record(plan(20), link(), free(), clock).unwrap();
    assert!(!same.clocks.is_corrected, "{:?}", same.clocks);
    assert!(other.clocks.is_corrected, "{:?}", other.clocks);
    // The client's is the slower one.
    assert!(
        (other.clocks.drift_ppm + 150.0).abs() < 15.0,
        "{:?}",
        other.clocks
    );
    let [same, other] = [same, other].map(|r| r.down.unwrap());
    assert!((same.mean().as_mbps() - other.mean().as_mbps()).abs() < 0.05);
    for (same, other) in same
        .queue_percentiles()
        .iter()
        .zip(other.queue_percentiles())
    {
        let apart = same.as_millis_f64() - other.as_millis_f64();
        assert!(apart.abs() < 40.0, "{same} {other}");
    }
}

#[test]
fn volume_and_time_end_a_recording() {
    let asked = Plan {
        max_volume: Bytes::new(2_000_000),
        ..plan(20)
    };
    let link = || pipe(steps(&[(0, 20)]));
    let recording = record(asked, link(), free(), Clock::default()).unwrap();
    let way = recording.down.as_ref().unwrap();
    let sent = u64::from(way.sent) * 1400;
    assert!((1_990_000..=2_000_000).contains(&sent), "{sent}");
    let most = asked.most().get();
    assert!(sent < most && most < 3_000_000, "{most}");
}
