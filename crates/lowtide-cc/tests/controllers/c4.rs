//! C4: each transition, and what signals do to rate and window.

use super::events::{at, ms};
use super::host::Host;
use lowtide_cc::units::Rate;

const RATE: Rate = Rate::from_mbps(16);

fn host(spec: &str) -> Host {
    Host::of(spec, RATE, ms(50))
}

#[test]
fn initial_ends_without_growth_and_small_pushes_follow_four_eras_of_cruise() {
    let mut host = host("c4");
    let seen = host.phases(ms(3_000));
    let gains: Vec<_> = seen.iter().map(|p| (p.0, p.1.unwrap())).collect();
    let cycle = [
        ("Recovery", 15.0 / 16.0),
        ("Cruise", 1.0),
        ("Push", 17.0 / 16.0),
    ];
    assert_eq!(gains[0], ("Initial", 2.0));
    for (n, phase) in gains[1..].iter().enumerate() {
        assert_eq!(*phase, cycle[n % 3], "{gains:?}");
    }
    // Recovery and Push last an era, Cruise four, each of a round trip and a packet or two.
    for pair in seen[4..].windows(2) {
        let eras = if pair[0].0 == "Cruise" { 4.0 } else { 1.0 };
        let lasted = pair[1].2.since(pair[0].2).as_millis_f64() / (50.0 * eras);
        assert!((1.0..1.2).contains(&lasted), "{}: {lasted}", pair[0].0);
    }
    host.run_until(|h| h.phase() == "Cruise");
    let s = host.cc.snapshot();
    let rate = s.bandwidth.unwrap();
    assert!(
        (0.97..1.03).contains(&(rate.as_f64() / RATE.as_f64())),
        "{rate}"
    );
    assert_eq!(host.cc.pacing_rate(), Some(rate));
    host.run_until(|h| h.phase() == "Push");
    let push = host.cc.pacing_rate().unwrap().as_f64() / rate.as_f64();
    assert!((push - 17.0 / 16.0).abs() < 1e-4, "{push}");
}

#[test]
fn pushes_that_find_more_are_large_and_follow_each_other() {
    let mut host = host("c4");
    host.run_for(ms(2_000));
    host.rate = RATE.mul_f64(4.0);
    let seen = host.phases(ms(3_000));
    let large = seen.iter().filter(|p| p.0 == "Push" && p.1 == Some(1.25));
    assert!(large.count() >= 4, "{seen:?}");
    let cruises = seen
        .windows(2)
        .filter(|p| p[0].0 == "Cruise" && p[1].1 == Some(1.25));
    for pair in cruises {
        assert!(pair[1].2.since(pair[0].2) < ms(75), "one era");
    }
    assert!(
        seen.iter().all(|(phase, ..)| *phase != "Initial"),
        "{seen:?}"
    );
    // With the text's rule.
    let mut host = self::host("c4:restart=3");
    host.run_for(ms(2_000));
    host.rate = RATE.mul_f64(4.0);
    host.run_until(|h| h.phase() == "Initial");
    assert!(host.now < at(4_000), "{}", host.now);
}

#[test]
fn a_loss_lowers_rate_and_longest_rtt_by_a_quarter_at_two_megabytes_a_second() {
    let mut host = host("c4");
    host.run_until(|h| h.phase() == "Cruise");
    let (before, window) = (host.cc.snapshot().bandwidth.unwrap(), host.cc.cwnd());
    let lost = host.next_number();
    host.lose = vec![lost];
    host.run_until(|h| h.losses > 0);
    assert_eq!(host.phase(), "Recovery");
    // (1 + s)/8 with s = (963 + 61/9)/1024: 0.2434.
    let left = host.cc.snapshot().bandwidth.unwrap().as_f64() / before.as_f64();
    assert!((left - 0.7566).abs() < 0.002, "{left}");
    // 15/16 of the rate that is left, times the longest RTT, lowered as much.
    let window = host.cc.cwnd().as_f64() / window.as_f64();
    assert!((window - 0.7566 * 0.7566 * 0.9375).abs() < 0.01, "{window}");
    // What arrives in the recovery was sent before.
    let frozen = host.cc.snapshot().bandwidth;
    while host.phase() == "Recovery" {
        assert_eq!(host.cc.snapshot().bandwidth, frozen);
        assert!(host.step());
    }
    // A slow flow takes half of all packets for chance.
    let mut slow = self::host("c4");
    slow.rate = Rate::from_bytes_per_sec(40_000);
    slow.run_for(ms(6_000));
    slow.run_until(|h| h.phase() == "Cruise");
    let before = slow.cc.snapshot().bandwidth;
    slow.lose = vec![slow.next_number()];
    slow.run_until(|h| h.losses > 0);
    assert_eq!(slow.cc.snapshot().bandwidth, before);
}

#[test]
fn a_long_rtt_ends_a_push_and_lowers_the_rate_only_by_the_texts_rule() {
    let lowest = |spec| {
        let mut host = host(spec);
        host.run_for(ms(2_000));
        host.rate = RATE.mul_f64(0.5);
        let mut lowest = f64::INFINITY;
        let until = host.now + ms(3_000);
        while host.now < until {
            assert!(host.step());
            lowest = lowest.min(host.cc.snapshot().bandwidth.unwrap().as_mbps());
        }
        lowest
    };
    let (code, text) = (lowest("c4"), lowest("c4:delay=always"));
    assert!(code > 15.5 && text < 12.0, "{code}, {text}");
}

#[test]
fn an_rtt_that_varies_much_leads_back_to_initial_once() {
    let mut host = host("c4");
    host.run_for(ms(1_000));
    assert_ne!(host.phase(), "Initial");
    let mut visits = 0;
    for n in 0..40_u64 {
        host.rtt = ms(if n % 2 == 0 { 150 } else { 50 });
        for _ in 0..300 {
            let before = host.phase();
            assert!(host.step());
            visits += u32::from(before != "Initial" && host.phase() == "Initial");
        }
    }
    assert_eq!(visits, 1);
}
