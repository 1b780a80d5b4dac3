//! Sprout: what a forecast lets it send, tick by tick, and what it does when nothing arrives.

use super::events::{ack, at, loss, lost, ms, packet, sent};
use super::host::{Host, MSS};
use lowtide_cc::controller::{AckedPacket, Controller};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, registry};

fn sprout(parameters: &str) -> Box<dyn Controller> {
    let spec = format!("sprout{parameters}");
    registry::build(&spec, &Config::for_datagram(MSS)).unwrap()
}

fn send(cc: &mut dyn Controller, now: Time, number: u64, inflight: u64) {
    cc.on_packet_sent(&sent(now, number, MSS * inflight));
}

/// An acknowledgment of these, with `inflight` packets left.
fn hear(cc: &mut dyn Controller, now: Time, packets: &[AckedPacket], inflight: u64) {
    let mut ack = ack(now, ms(40), packets);
    ack.inflight = MSS * inflight;
    cc.on_ack(&ack);
}

/// After five ticks of four packets each, at 102 ms. `reported`: when an arrival at a time is said to have been.
fn with_four_a_tick(
    parameters: &str,
    reported: impl Fn(Time) -> Option<Time>,
) -> Box<dyn Controller> {
    let mut cc = sprout(parameters);
    send(&mut *cc, at(0), 0, 30);
    // The first arrival begins the ticks; the next ones show that one is over.
    for (n, now) in [1, 22, 42, 62, 82, 102].into_iter().enumerate() {
        let packets: Vec<_> = (0..4)
            .map(|k| AckedPacket {
                received_at: reported(at(now)),
                ..packet(4 * n as u64 + k, at(0))
            })
            .collect();
        hear(&mut *cc, at(now), &packets, 7);
    }
    cc
}

fn lose_all(cc: &mut dyn Controller, now: Time) {
    let all = [24, 25, 26, 27, 28, 29, 30].map(|number| lost(number, at(0)));
    cc.on_loss(&loss(now, &all, Bytes::ZERO));
}

#[test]
fn a_forecast_lets_out_what_five_ticks_deliver_less_what_is_queued() {
    let mut cc = with_four_a_tick(":forecast=ewma", |_| None);
    // F = 4, 8, … 32 packets by the end of each tick: 24 − 4 in the five after the one under way, 7 in flight.
    assert_eq!(cc.cwnd(), MSS * (7 + 13));
    // What is sent is queued on top of that.
    for n in 1..6 {
        send(&mut *cc, at(103), 24 + n, 7 + n);
    }
    assert_eq!(cc.cwnd(), MSS * 20);
    // No tick is over: still 12 are taken for queued.
    hear(&mut *cc, at(115), &[packet(24, at(0))], 11);
    assert_eq!(cc.cwnd(), MSS * (11 + 8));
    // Now one is, in which 5 arrived: 7/8 · 4 + 5/8 = 4.125 a tick, and 11 in flight.
    assert_eq!(cc.next_wakeup(), Some(at(122)));
    cc.on_wakeup(at(122));
    assert_eq!(cc.cwnd(), Bytes::new(5 * 4125));
}

#[test]
fn without_news_the_forecast_runs_out_and_then_a_packet_leaves_each_50_ms() {
    let mut cc = with_four_a_tick(":forecast=ewma", |_| None);
    // Nothing is awaited any more.
    lose_all(&mut *cc, at(103));
    let mut seen = vec![cc.cwnd()];
    for tick in 1..8 {
        let now = at(102 + 20 * tick);
        assert_eq!(cc.next_wakeup(), Some(now));
        cc.on_wakeup(now);
        seen.push(cc.cwnd());
    }
    // 20 − 7, and 4 less are queued each tick; from the third on the forecast's end comes nearer.
    let packets = [13, 17, 20, 16, 12, 8, 4, 1];
    assert_eq!(seen, packets.map(|n| MSS * n));
    // The last one was sent at 0: the next is due.
    let now = at(242);
    for number in 25..30 {
        let due = cc.next_wakeup().unwrap_or(now);
        cc.on_wakeup(due);
        assert_eq!((cc.cwnd(), cc.next_wakeup()), (MSS, None));
        send(&mut *cc, now + ms(50) * (number - 25), number, 1);
        assert_eq!(cc.cwnd(), MSS, "no more than that");
        lose_all(&mut *cc, now);
        let next = now + ms(50) * (number - 24);
        assert_eq!(cc.next_wakeup(), Some(next));
    }
}

#[test]
fn times_by_the_receivers_clock_give_the_same_window_as_those_of_acknowledgments() {
    let own = with_four_a_tick("", |_| None);
    for ahead in [0, 1_000_000_007, u64::MAX - 50_000_000] {
        let reported = |now: Time| Some(Time::from_nanos(now.as_nanos().saturating_add(ahead)));
        // A clock that is about to end stands still: nothing more is heard from it.
        let mut peers = with_four_a_tick("", reported);
        if ahead < u64::MAX / 2 {
            assert_eq!(peers.cwnd(), own.cwnd());
        }
        peers.on_wakeup(at(500));
        assert!(!peers.cwnd().is_zero());
    }
}

#[test]
fn a_silent_link_leaves_packets_each_50_ms_and_takes_up_again() {
    let mut host = Host::of("sprout", Rate::from_mbps(8), ms(40));
    host.run_for(ms(3_000));
    let busy = host.next_number();
    assert_eq!(host.phase(), "Forecast");
    let stalled_at = host.now;
    host.stall(ms(1_000));
    let (mut sent, mut number) = (Vec::new(), busy);
    while host.now < stalled_at + ms(950) {
        assert!(host.step());
        if host.next_number() > number {
            number = host.next_number();
            sent.push(host.now);
        }
    }
    assert_eq!(host.phase(), "Outage");
    let late: Vec<Duration> = sent
        .windows(2)
        .filter(|w| w[0] > stalled_at + ms(300))
        .map(|w| w[1].since(w[0]))
        .collect();
    assert!(
        late.len() >= 11 && late.iter().all(|gap| *gap == ms(50)),
        "{late:?}"
    );
    host.run_for(ms(1_500));
    assert_eq!(host.phase(), "Forecast");
    // 1000 packets a second; half of them by now.
    let sent = host.next_number() - number;
    assert!(sent > 500, "{sent}");
}

#[test]
fn a_bolder_quantile_queues_more_and_the_range_follows_a_fast_link_unless_it_is_fixed() {
    let delivered = |parameters: &str, mbps| {
        let spec = format!("sprout{parameters}");
        let mut host = Host::of(&spec, Rate::from_mbps(mbps), ms(40));
        host.run_for(ms(3_000));
        let (from, mut rtts) = (host.next_number(), 0.0);
        for _ in 0..1000 {
            assert!(host.step());
            rtts += host.last_rtt.as_millis_f64();
        }
        host.run_for(ms(1_000));
        (host.next_number() - from, rtts / 1000.0)
    };
    let delays = [":quantile=5%", ":quantile=25%", ":quantile=50%"].map(|q| delivered(q, 4).1);
    assert!(delays[0] < delays[1] && delays[1] < delays[2], "{delays:?}");
    // 12 000 packets of 1000 bytes a second.
    let (follows, _) = delivered("", 96);
    let (fixed, _) = delivered(":max=1000", 96);
    assert!(follows > 8_000 && fixed < 2_500, "{follows}, {fixed}");
}

#[test]
fn a_peer_that_stops_reporting_times_or_whose_clock_was_ahead_for_a_moment_does_not_stop_the_flow()
{
    for is_ahead in [false, true] {
        let mut host = Host::of("sprout", Rate::from_mbps(8), ms(40));
        host.timestamps = true;
        host.run_for(ms(3_000));
        if is_ahead {
            let ahead = AckedPacket {
                received_at: Some(host.now + Duration::from_secs(3600)),
                ..packet(host.next_number(), host.now)
            };
            let (now, inflight) = (host.now, host.inflight().get() / MSS.get());
            hear(&mut *host.cc, now, &[ahead], inflight);
        } else {
            host.timestamps = false;
        }
        host.run_for(ms(2_000));
        let before = host.next_number();
        host.run_for(ms(3_000));
        // 1000 packets a second.
        let sent = host.next_number() - before;
        assert!(sent > 1_500, "ahead: {is_ahead}: {sent}");
    }
}

#[test]
fn an_outage_that_loses_everything_leaves_no_flow_with_single_packets_for_good() {
    for rtt in [20, 40, 60, 100] {
        let mut host = Host::of("sprout", Rate::from_mbps(8), ms(rtt));
        let sent_in = |host: &mut Host, span| {
            let before = host.next_number();
            host.run_for(span);
            host.next_number() - before
        };
        host.run_for(ms(10_000));
        let fresh = sent_in(&mut host, ms(5_000));
        host.rtt = Duration::from_secs(3600);
        for _ in 0..10 {
            host.run_for(ms(200));
            host.time_out();
        }
        host.rtt = ms(rtt);
        host.run_for(ms(10_000));
        let sent = sent_in(&mut host, ms(5_000));
        assert!(sent * 2 > fresh, "{rtt} ms: {sent} of {fresh}");
    }
}
