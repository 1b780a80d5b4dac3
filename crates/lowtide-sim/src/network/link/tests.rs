use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

use super::*;

fn ms(n: u64) -> Time {
    Time::from_nanos(n * 1_000_000)
}

fn trace(times: &[u32]) -> Server {
    let trace = Opportunities::new(times.to_vec(), MAHIMAHI_OPPORTUNITY).unwrap();
    Server::new(Arc::new(Link::Opportunities(trace)))
}

const FULL: Bytes = Bytes::new(1504);

#[test]
fn a_constant_link_carries_exactly_its_rate() {
    // 7 bytes/s do not divide a nanosecond; rounding must not add up.
    let mut s = Server::new(Arc::new(
        Link::constant(Rate::from_bytes_per_sec(7)).unwrap(),
    ));
    let mut now = Time::ZERO;
    for n in 1..=7_000_u64 {
        now = s.serve(now, Bytes::new(1), true);
        assert_eq!(now.as_nanos(), (n * 1_000_000_000).div_ceil(7));
    }
}

#[test]
fn a_stepped_link_integrates_over_steps_and_waits_out_an_outage() {
    let steps = vec![
        (ms(0), Rate::from_mbps(12)), // 1500 bytes a millisecond
        (ms(10), Rate::ZERO),
        (ms(30), Rate::from_mbps(24)),
    ];
    let repeat = AfterLast::RepeatAfter(Duration::from_millis(10));
    let schedule = RateSchedule::new(steps, repeat).unwrap();
    let link = Arc::new(Link::Rates(schedule));
    let mut s = Server::new(link.clone());
    assert_eq!(s.serve(ms(0), Bytes::new(1500), false), ms(1));
    // From 9 ms: 1500 bytes by 10 ms, then nothing until 30 ms, then 3000 bytes a millisecond.
    assert_eq!(s.serve(ms(9), Bytes::new(4500), false), ms(31));
    assert_eq!(
        s.serve(ms(39), Bytes::new(4500), false),
        ms(41),
        "runs into the next round"
    );
    assert_eq!(link.volume_between(ms(0), ms(40)), Bytes::new(45_000));
    assert_eq!(link.volume_between(ms(8), ms(31)), Bytes::new(6_000));
    assert_eq!(
        link.volume_between(ms(0), ms(4_000_000)),
        Bytes::new(45_000 * 100_000)
    );
    assert_eq!(link.mean_rate(), Rate::from_bytes_per_sec(1_125_000));
    assert_eq!(link.freshest_arrival(ms(5), Bytes::new(1500)), ms(4));
    assert_eq!(link.freshest_arrival(ms(25), Bytes::new(1500)), ms(9));
    let mut oracle = Server::new(link);
    let slot = oracle.next_slot(ms(15), Bytes::new(3000));
    assert_eq!(
        slot,
        Slot {
            arrive_by: ms(30),
            departure: ms(31)
        }
    );
}

#[test]
fn links_on_which_nothing_can_leave_are_refused() {
    assert_eq!(
        Link::constant(Rate::ZERO),
        Err(LinkError::NothingEverLeaves)
    );
    assert_eq!(
        Opportunities::new(vec![], FULL),
        Err(LinkError::NoOpportunities)
    );
    assert_eq!(
        Opportunities::new(vec![0, 0], FULL),
        Err(LinkError::EmptyRepetition)
    );
    assert_eq!(
        Opportunities::new(vec![3, 2], FULL),
        Err(LinkError::OpportunitiesDecrease(1))
    );
    // A link may end in a permanent outage, after which packets never leave.
    let steps = vec![(ms(0), Rate::from_mbps(12)), (ms(1), Rate::ZERO)];
    let link = Link::Rates(RateSchedule::new(steps, AfterLast::Hold).unwrap());
    assert_eq!(
        Server::new(Arc::new(link)).serve(ms(0), Bytes::new(1501), false),
        Time::MAX
    );
}

/// mahimahi's link queue, written from its description: goes through all milliseconds.
fn naive_mahimahi(times: &[u32], arrivals: &[(u64, u64)], until_ms: u64) -> Vec<u64> {
    let period = u64::from(*times.last().unwrap());
    let mut waiting = std::collections::VecDeque::new();
    let mut arrivals = arrivals.iter().peekable();
    let mut departures = Vec::new();
    for now in 0..until_ms {
        let in_round = |t: u64| times.iter().filter(|x| u64::from(**x) == t).count();
        let mut opportunities = in_round(now % period);
        if now % period == 0 && now > 0 {
            opportunities += in_round(period);
        }
        for _ in 0..opportunities {
            let mut left = 1504;
            while left > 0 {
                let Some(head) = waiting.front_mut() else {
                    break;
                };
                let used = left.min(*head);
                left -= used;
                *head -= used;
                if *head == 0 {
                    waiting.pop_front();
                    departures.push(now);
                }
            }
        }
        while let Some((_, bytes)) = arrivals.next_if(|(at, _)| *at == now) {
            waiting.push_back(*bytes);
        }
    }
    departures
}

proptest! {
    #[test]
    fn opportunities_serve_as_mahimahi_does(
        gaps in prop::collection::vec(0_u32..6, 1..40),
        packets in prop::collection::vec((0_u64..8, 1_u64..4000), 1..60),
    ) {
        let mut times: Vec<u32> = gaps.iter().scan(0, |t, g| { *t += g; Some(*t) }).collect();
        times.push(times.last().unwrap() + 1);
        let arrivals: Vec<(u64, u64)> =
            packets.iter().scan(0, |t, (gap, bytes)| { *t += gap; Some((*t, *bytes)) }).collect();
        let expected = naive_mahimahi(&times, &arrivals, 40_000);
        let mut server = trace(&times);
        let mut free = Time::ZERO;
        let departures: Vec<u64> = arrivals.iter().map(|(at, bytes)| {
            // Waiting when the one before left: backlogged.
            let arrival = ms(*at);
            let backlogged = arrival < free;
            free = server.serve(arrival.max(free), Bytes::new(*bytes), backlogged);
            free.as_nanos() / 1_000_000
        }).collect();
        prop_assert_eq!(departures, expected);
    }

    #[test]
    fn a_busy_link_carries_what_it_offers_and_never_more(
        gaps in prop::collection::vec(1_u64..30_000_000, 1..20),
        rates in prop::collection::vec(0_u64..2_000_000, 20),
        sizes in prop::collection::vec(1_u64..3_000, 1..300),
        repeat in any::<bool>(),
    ) {
        let mut at = 0;
        let mut steps = vec![(Time::ZERO, Rate::from_bytes_per_sec(1 + rates[0]))];
        for (gap, rate) in gaps.iter().zip(&rates) {
            at += gap;
            steps.push((Time::from_nanos(at), Rate::from_bytes_per_sec(*rate)));
        }
        steps.push((Time::from_nanos(at + 1_000), Rate::from_bytes_per_sec(1_000)));
        let after = if repeat {
            AfterLast::RepeatAfter(Duration::from_millis(3))
        } else {
            AfterLast::Hold
        };
        let link = Arc::new(Link::Rates(RateSchedule::new(steps, after).unwrap()));
        let mut server = Server::new(link.clone());
        let (mut now, mut sent) = (Time::ZERO, 0_u64);
        for size in sizes {
            now = server.serve(now, Bytes::new(size), true);
            sent += size;
            let offered = link.volume_between(Time::ZERO, now).get();
            prop_assert!(sent <= offered && offered <= sent + 2_000, "{} {}", sent, offered);
        }
    }

    #[test]
    fn the_oracles_slots_fill_a_trace(gaps in prop::collection::vec(0_u32..6, 1..40)) {
        let mut times: Vec<u32> = gaps.iter().scan(1, |t, g| { *t += g; Some(*t) }).collect();
        times.push(times.last().unwrap() + 1);
        let mut server = trace(&times);
        let mut offered = trace(&times);
        let mut last = Time::ZERO;
        for _ in 0..100 {
            let slot = server.next_slot(last, Bytes::new(1500));
            let expected = offered.serve(last, FULL, true);
            prop_assert_eq!(slot.departure, expected);
            prop_assert!(slot.arrive_by < slot.departure);
            last = slot.arrive_by;
        }
    }
}

#[test]
fn a_shaper_passes_a_burst_at_once_and_then_its_rate() {
    // 1000 bytes a millisecond, 2500 at once.
    let link = Link::shaper(Rate::from_mbps(8), Bytes::new(2_500)).unwrap();
    let mut s = Server::new(Arc::new(link));
    let packet = Bytes::new(1_000);
    let us = |n: u64| Time::from_nanos(n * 1_000);
    assert_eq!(s.serve(us(0), packet, false), us(0));
    assert_eq!(s.serve(us(0), packet, false), us(0));
    // 500 tokens are left, and then none.
    assert_eq!(s.serve(us(0), packet, false), us(500));
    assert_eq!(s.serve(us(500), packet, true), us(1_500));
    // 300 have come; 700 are missing. A packet larger than the bucket waits for all of its own.
    assert_eq!(s.serve(us(1_800), packet, false), us(2_500));
    assert_eq!(s.serve(us(2_500), packet * 4, true), us(6_500));
    // A long pause fills the bucket and no more.
    assert_eq!(s.serve(us(90_000), packet * 2, false), us(90_000));
    assert_eq!(s.serve(us(90_000), packet, false), us(90_500));
}

proptest! {
    #[test]
    fn a_shaper_without_a_burst_is_a_link_of_one_rate(
        packets in prop::collection::vec((0_u64..3_000, 1_u64..3_000), 1..200),
    ) {
        let rate = Rate::from_bits_per_sec(7_654_321);
        let mut plain = Server::new(Arc::new(Link::constant(rate).unwrap()));
        let mut shaper = Server::new(Arc::new(Link::shaper(rate, Bytes::ZERO).unwrap()));
        let mut now = Time::ZERO;
        for (pause, bytes) in packets {
            now += Duration::from_micros(pause.saturating_sub(1_500));
            let left = plain.serve(now, Bytes::new(bytes), true);
            prop_assert_eq!(shaper.serve(now, Bytes::new(bytes), true), left);
            now = left;
        }
    }
}
