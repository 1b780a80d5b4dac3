//! RBBR: what the receiver samples and sends, and what the sender makes of it.

use super::events::{at, ms, sent};
use super::host::{Host, MSS};
use lowtide_cc::controller::{Feedback, PeerSignal};
use lowtide_cc::controllers::rbbr::{Filter, Gaps, Receiver, ReceiverConfig, Schedule};
use lowtide_cc::units::{Duration, Rate};

/// Each sample is the estimate, and goes with each acknowledgment.
const CONFIG: ReceiverConfig = ReceiverConfig {
    interval: Duration::from_millis(10),
    gaps: Gaps::Stretch,
    filter: Filter::Unfiltered,
    schedule: Schedule::EveryAcks(1),
};

/// That of a sender which the network limits.
fn receiver(config: &ReceiverConfig) -> Receiver {
    let mut receiver = Receiver::new(config);
    receiver.on_signal(PeerSignal::Regular);
    receiver
}

/// A packet of 1000 bytes each `gap` ms.
fn feed(receiver: &mut Receiver, from: u64, to: u64, gap: u64) {
    for t in (from..to).step_by(gap as usize) {
        receiver.on_packet(at(t), MSS);
    }
}

fn bytes_per_sec(n: u64) -> Option<Rate> {
    Some(Rate::from_bytes_per_sec(n))
}

#[test]
fn a_sample_is_what_arrived_in_an_interval_over_the_time_that_it_took() {
    let mut r = receiver(&CONFIG);
    feed(&mut r, 0, 9, 2);
    assert_eq!(r.feedback_for_ack(at(9)), None, "no interval is over");
    // The packet at 0 opens the interval, the one at 10 closes it: 5 packets in 10 ms.
    r.on_packet(at(10), MSS);
    assert_eq!(r.feedback_for_ack(at(10)), bytes_per_sec(500_000));
    // Nothing for 30 ms: one packet in the time that really passed.
    r.on_packet(at(40), MSS);
    assert_eq!(r.estimate(), bytes_per_sec(33_333));
}

#[test]
fn where_gaps_count_as_zeros_each_whole_interval_without_arrivals_is_one() {
    let mut r = receiver(&ReceiverConfig {
        gaps: Gaps::Zeros,
        filter: Filter::Ewma { alpha: 0.5 },
        ..CONFIG
    });
    feed(&mut r, 0, 11, 2);
    assert_eq!(r.estimate(), bytes_per_sec(500_000));
    // 35 ms of silence: three zeros, then a packet in an interval.
    r.on_packet(at(45), MSS);
    assert_eq!(r.estimate(), bytes_per_sec((500_000 / 8 + 100_000) / 2));
}

#[test]
fn no_sample_spans_a_time_in_which_the_sender_was_the_limit() {
    let mut r = receiver(&CONFIG);
    feed(&mut r, 0, 11, 2);
    assert_eq!(r.estimate(), bytes_per_sec(500_000));
    r.on_signal(PeerSignal::Suspend);
    feed(&mut r, 12, 200, 50);
    assert!(r.is_suspended());
    assert_eq!(
        r.feedback_for_ack(at(200)),
        bytes_per_sec(500_000),
        "frozen"
    );
    r.on_signal(PeerSignal::Regular);
    r.on_packet(at(211), MSS);
    assert_eq!(r.estimate(), bytes_per_sec(500_000), "an interval begins");
    feed(&mut r, 212, 222, 1);
    assert_eq!(r.estimate(), bytes_per_sec(1_000_000));
    // A sender starts in Startup: a receiver that has heard nothing does not sample.
    let mut silent = Receiver::new(&CONFIG);
    feed(&mut silent, 0, 100, 1);
    assert_eq!(silent.estimate(), None);
}

#[test]
fn feedback_goes_with_every_acknowledgment_every_third_or_periodically() {
    let sent = |schedule| {
        let mut r = receiver(&ReceiverConfig { schedule, ..CONFIG });
        feed(&mut r, 0, 11, 2);
        let due = |t: &u64| r.feedback_for_ack(at(*t)).is_some();
        (20..32).filter(due).collect::<Vec<u64>>()
    };
    assert_eq!(sent(Schedule::EveryAcks(1)).len(), 12);
    assert_eq!(sent(Schedule::EveryAcks(3)), [22, 25, 28, 31]);
    assert_eq!(sent(Schedule::Periodic(ms(5))), [20, 25, 30]);
}

const LINK: Rate = Rate::from_mbps(20);

/// A flow in ProbeBW that has had no feedback.
fn in_probe_bw(spec: &str) -> Host {
    let mut host = Host::of(spec, LINK, ms(40));
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
    host.run_until(|h| h.phase() == "ProbeBW");
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Regular));
    host
}

fn feed_back(host: &mut Host, carrier: u64, rate: Rate) {
    let now = host.now;
    host.cc.on_feedback(&Feedback { now, carrier, rate });
}

fn estimate(host: &Host) -> Rate {
    host.cc.snapshot().bandwidth.unwrap()
}

#[test]
fn from_probe_bw_on_the_newest_feedback_is_the_bandwidth() {
    let mut host = in_probe_bw("rbbr");
    let own = estimate(&host);
    assert!(
        own > LINK.mul_f64(0.9),
        "its own filter, before feedback comes"
    );
    feed_back(&mut host, 5, Rate::from_mbps(12));
    assert_eq!(estimate(&host), Rate::from_mbps(12));
    feed_back(&mut host, 4, Rate::from_mbps(15));
    feed_back(&mut host, 5, Rate::from_mbps(16));
    assert_eq!(
        estimate(&host),
        Rate::from_mbps(12),
        "late and repeated frames"
    );
    feed_back(&mut host, 90, Rate::from_mbps(14));
    assert_eq!(
        estimate(&host),
        Rate::from_mbps(14),
        "lost frames leave a gap"
    );
}

#[test]
fn in_startup_feedback_does_not_count() {
    let mut host = Host::of("rbbr", LINK, ms(40));
    host.run_for(ms(100));
    assert_eq!(host.phase(), "Startup");
    let own = estimate(&host);
    feed_back(&mut host, 1, Rate::from_bytes_per_sec(1));
    assert_eq!(estimate(&host), own);
}

#[test]
fn without_feedback_for_ten_rounds_the_sender_trusts_itself_again() {
    let mut host = in_probe_bw("rbbr");
    feed_back(&mut host, 1, Rate::from_mbps(12));
    host.run_for(ms(300));
    assert_eq!(estimate(&host), Rate::from_mbps(12));
    host.run_for(ms(600));
    assert_ne!(estimate(&host), Rate::from_mbps(12));
}

#[test]
fn feedback_lasts_as_long_as_its_schedule_says_and_two_lost_reports_longer() {
    // Ten rounds are at most 0.6 s. Three thousand packets of 1000 bytes take 1.6 s at 1.25 × 12 Mbit/s,
    // less 0.1 s for those that were in flight before, and 2 s at 12 Mbit/s.
    for (spec, holds_for, gone_after) in [
        ("rbbr:period=1s", ms(2_900), ms(3_500)),
        ("rbbr:acks=1000", ms(1_400), ms(2_500)),
    ] {
        let mut host = in_probe_bw(spec);
        feed_back(&mut host, 1, Rate::from_mbps(12));
        host.run_for(holds_for);
        assert_eq!(estimate(&host), Rate::from_mbps(12), "{spec}");
        host.run_for(gone_after - holds_for);
        assert_ne!(estimate(&host), Rate::from_mbps(12), "{spec}");
    }
}

#[test]
fn forged_feedback_neither_stalls_nor_explodes_the_flow() {
    for forged in [0, 1, 1_000, 10_000_000_000, u64::MAX] {
        let mut host = in_probe_bw("rbbr");
        let until = host.now + Duration::from_secs(5);
        let (mut carrier, delivered_from) = (0, host.next_number());
        while host.now < until {
            assert!(host.step(), "{forged}: the flow stalls");
            carrier += 1;
            feed_back(&mut host, carrier, Rate::from_bytes_per_sec(forged));
            let rate = host.cc.pacing_rate().unwrap();
            assert!(rate <= LINK.mul_f64(1.26), "{forged}: paces at {rate}");
        }
        // At the very least the smallest window moves: 4 packets each 40 ms.
        let sent = host.next_number() - delivered_from;
        assert!(
            sent >= 4 * 5_000 / 40 - 20,
            "{forged}: {sent} packets in 5 s"
        );
    }
}

#[test]
fn probe_rtt_and_an_idle_application_suspend_the_receiver() {
    let mut host = in_probe_bw("rbbr");
    host.run_until(|h| h.phase() == "ProbeRTT");
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
    host.run_until(|h| h.phase() == "ProbeBW");
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Regular));
    host.data = Some(3);
    host.run_until(|h| h.data == Some(0));
    host.step();
    host.data = Some(3);
    host.run_until(|h| h.data == Some(0));
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
}

#[test]
fn while_a_loss_holds_the_window_the_receiver_is_suspended() {
    let mut host = in_probe_bw("rbbr");
    host.lose.push(host.next_number());
    host.run_until(|h| h.losses == 1);
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
    // Packet conservation lasts a round: 40 ms, and what the probe of Startup left in the queue.
    let since = host.now;
    host.run_until(|h| h.cc.peer_signal() == Some(PeerSignal::Regular));
    let lasted = host.now.since(since);
    assert!(lasted >= ms(40) && lasted < ms(80), "{lasted}");

    // From a timeout on, a window of one packet grows again.
    host.time_out();
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
    host.run_until(|h| h.cc.peer_signal() == Some(PeerSignal::Regular));
    let bdp = LINK.volume_in(ms(40));
    assert!(host.cc.cwnd() >= bdp, "{} of {bdp}", host.cc.cwnd());
}

#[test]
fn a_spurious_timeout_resumes_the_receiver_at_once() {
    let mut host = in_probe_bw("rbbr");
    host.time_out();
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Suspend));
    host.cc.on_spurious_timeout(host.now);
    assert_eq!(host.cc.peer_signal(), Some(PeerSignal::Regular));
}

#[test]
fn a_probe_beyond_the_window_suspends_the_receiver() {
    // PTO and tail loss probes end a silence that a full window made, not the path.
    let mut host = in_probe_bw("rbbr");
    let (now, cwnd, number) = (host.now, host.cc.cwnd(), host.next_number());
    let mut send = |number, inflight| {
        host.cc.on_packet_sent(&sent(now, number, inflight));
        host.cc.peer_signal()
    };
    assert_eq!(send(number, cwnd + MSS), Some(PeerSignal::Suspend));
    assert_eq!(send(number + 1, cwnd), Some(PeerSignal::Regular));
}
