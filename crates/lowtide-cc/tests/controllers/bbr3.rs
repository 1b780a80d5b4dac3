//! BBRv3's transitions and rules, provoked and observed. The cases are those of Appendix A of
//! draft-ietf-ccwg-bbr-06 where one is named.

use super::events::ms;
use super::host::{Host, MSS};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

const RATE: Rate = Rate::from_mbps(16); // 2 packets a millisecond
const RTT: Duration = Duration::from_millis(50);
/// 100 packets.
const BDP: Bytes = Bytes::new(100_000);

fn host() -> Host {
    Host::seeded(1, "bbr3", RATE, RTT)
}

fn in_phase(phase: &str) -> Host {
    let mut host = host();
    host.run_until(|h| h.phase() == phase);
    host
}

fn bandwidth(host: &Host) -> f64 {
    host.cc.snapshot().bandwidth.unwrap().as_f64() / host.rate.as_f64()
}

#[test]
fn startup_ends_when_the_rate_stops_growing_and_drain_leaves_no_queue() {
    // A.1, A.3.
    let mut host = in_phase("Drain");
    assert!((0.98..1.02).contains(&bandwidth(&host)));
    let startup_took = host.now.as_secs_f64();
    assert!(startup_took < 0.8, "{startup_took}");
    // The window holds the queue to one BDP, and what one round's acknowledgments bunch.
    assert!(host.inflight() > BDP.mul_f64(1.8) && host.inflight() < BDP.mul_f64(2.3));
    let s = host.cc.snapshot();
    assert_eq!((s.pacing_gain, s.cwnd_gain), (Some(0.5), Some(2.0)));
    let began = host.now;
    host.run_until(|h| h.phase() != "Drain");
    assert!(host.inflight() <= BDP + MSS, "{}", host.inflight());
    assert!(host.now.since(began) < RTT * 3);
}

#[test]
fn drain_ends_after_three_rounds_where_the_queue_stays() {
    // A.4: the rate falls so far that what Drain sends is still more.
    let mut host = host();
    host.run_until(|h| h.cc.snapshot().bandwidth.is_some() && bandwidth(h) > 0.98);
    host.rate = RATE.mul_f64(0.1);
    host.run_until(|h| h.phase() == "Drain");
    host.run_until(|h| h.phase() != "Drain");
    assert!(host.inflight() > BDP.mul_f64(1.5), "{}", host.inflight());
}

/// Losses of `gaps` single packets in the round after 30 packets, up to the end of Startup.
fn startup_with_losses(gaps: u64) -> Host {
    let mut host = host();
    host.run_until(|h| h.next_number() > 30);
    host.lose = (0..gaps).map(|n| 31 + 2 * n).collect();
    host.run_until(|h| h.phase() != "Startup");
    host
}

#[test]
fn losses_end_startup_when_they_are_many_and_in_six_places() {
    // A.2.
    let mut host = startup_with_losses(6);
    assert_eq!(host.phase(), "Drain");
    let found = bandwidth(&host);
    assert!(found < 0.5, "{found}");
    // What was delivered in that round is enough.
    host.run_until(|h| h.phase() == "ProbeBW_REFILL");
    host.run_for(RTT.div(2));
    let most = BDP.mul_f64(bandwidth(&host) * 1.5);
    assert!(host.cc.cwnd() < most, "{} {most}", host.cc.cwnd());
    let found = bandwidth(&startup_with_losses(5));
    assert!(found > 0.98, "five may be one burst: {found}");
}

#[test]
fn while_the_pipe_has_not_been_full_low_samples_do_not_slow_the_pacing() {
    let mut host = host();
    for _ in 0..20 {
        host.data = Some(2);
        while host.step() {}
        host.now += ms(100);
    }
    assert_eq!(host.phase(), "Startup");
    let initial = Rate::from_volume(MSS * 10, RTT).mul_f64(2.77);
    let pacing = host.cc.pacing_rate().unwrap();
    assert!(pacing > initial.mul_f64(0.97), "{pacing} {initial}");
}

#[test]
fn probe_bw_goes_down_cruise_refill_up_every_two_to_three_seconds() {
    // A.5, A.8.
    let mut host = in_phase("ProbeBW_CRUISE");
    let seen = host.phases(Duration::from_secs(60));
    let gain_of = |phase: &str| match phase {
        "ProbeBW_DOWN" => 0.9,
        "ProbeBW_UP" => 1.25,
        _ => 1.0,
    };
    assert!(
        seen.iter()
            .all(|(phase, gain, _)| *gain == Some(gain_of(phase)))
    );
    let mut cycles = 0;
    for w in seen.windows(6) {
        let names: Vec<&str> = w.iter().map(|(name, ..)| *name).collect();
        let lasted = |n: usize| w[n + 1].2.since(w[n].2);
        if names[1] == "ProbeBW_REFILL" && names[0] == "ProbeBW_CRUISE" {
            assert_eq!(names[2], "ProbeBW_UP");
            let refill = lasted(1);
            assert!(
                refill >= RTT && refill < RTT + ms(10),
                "one round: {refill}"
            );
            // Three rounds without growth, longer ones as the queue grows.
            assert!(lasted(2) > RTT * 3 && lasted(2) < RTT * 5, "{}", lasted(2));
            assert_eq!(names[3], "ProbeBW_DOWN");
        }
        if names[0] == "ProbeBW_DOWN" && names[1..3] == ["ProbeBW_CRUISE", "ProbeBW_REFILL"] {
            let wait = w[2].2.since(w[0].2);
            assert!(wait >= Duration::from_secs(2) && wait <= Duration::from_millis(3060));
            cycles += 1;
        }
    }
    assert!(cycles >= 4, "{seen:?}");
}

#[test]
fn down_goes_on_to_refill_when_the_queue_will_not_go() {
    // A.9. The link becomes so slow that the queue stays for seconds.
    // ProbeRTT must not come in between.
    let mut host = in_phase("ProbeRTT");
    host.run_until(|h| h.phase() == "ProbeBW_UP");
    host.run_until(|h| h.phase() == "ProbeBW_DOWN");
    host.rate = RATE.mul_f64(0.05);
    let began = host.now;
    host.run_until(|h| h.phase() != "ProbeBW_DOWN");
    assert_eq!(host.phase(), "ProbeBW_REFILL");
    let took = host.now.since(began).as_secs_f64();
    assert!((2.0..3.6).contains(&took), "{took}");
}

#[test]
fn a_probe_that_loses_too_much_bounds_the_window_and_the_next_one_is_careful() {
    // A.21. The path holds 150 packets.
    let mut host = in_phase("ProbeBW_CRUISE");
    host.buffer = Some(BDP.mul_f64(0.5));
    host.run_until(|h| h.losses > 0);
    host.run_until(|h| h.phase() != "ProbeBW_UP");
    assert_eq!(host.phase(), "ProbeBW_DOWN");
    // What the probe lost besides is found within a round.
    host.run_for(RTT * 2);
    let after_probe = host.losses;
    host.run_until(|h| h.phase() == "ProbeBW_CRUISE");
    let holds = BDP.mul_f64(1.5);
    let headroom = host.cc.cwnd().as_f64() / holds.as_f64();
    assert!(headroom < 0.87, "15 % stay free: {headroom}");
    host.run_until(|h| h.phase() == "ProbeBW_UP");
    let bound = host.cc.cwnd();
    // Where 2 % were lost.
    assert!(bound > holds && bound < holds.mul_f64(1.04), "{bound}");
    let (up, began) = (host.now, host.losses);
    assert_eq!(began, after_probe, "no loss beside probes");
    host.run_until(|h| h.phase() != "ProbeBW_UP");
    // It turns back where the last one failed, sees no loss in a round, and dares to stay.
    assert!(host.now.since(up) < RTT * 3);
    assert!(host.inflight() + MSS * 2 >= bound, "{}", host.inflight());
    let seen = host.phases(RTT * 4);
    let names: Vec<&str> = seen.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names[0], "ProbeBW_DOWN");
    assert!(
        names.contains(&"ProbeBW_REFILL"),
        "without the usual wait: {names:?}"
    );
}

#[test]
fn down_lasts_until_fifteen_percent_of_the_bound_are_free() {
    // The path holds 110 packets: 0.85 of that is less than the BDP.
    let mut host = in_phase("ProbeBW_CRUISE");
    host.buffer = Some(BDP.mul_f64(0.1));
    host.run_until(|h| h.losses > 0);
    host.run_until(|h| h.phase() == "ProbeBW_DOWN");
    host.run_until(|h| h.phase() == "ProbeBW_CRUISE");
    assert!(host.inflight() <= MSS * 96, "{}", host.inflight());
}

#[test]
fn a_bound_is_outgrown_within_a_few_probes_when_the_path_holds_more() {
    let mut host = in_phase("ProbeBW_CRUISE");
    host.buffer = Some(BDP.mul_f64(0.5));
    host.run_until(|h| h.losses > 0);
    host.run_until(|h| h.phase() == "ProbeBW_CRUISE");
    host.buffer = None;
    host.rate = RATE.mul_f64(4.0);
    let began = host.now;
    host.run_until(|h| bandwidth(h) > 0.95);
    let took = host.now.since(began).as_secs_f64();
    assert!(took < 6.0, "{took}");
}

#[test]
fn losses_of_an_application_limited_probe_end_it_and_bound_nothing() {
    // A.6, as the pseudocode has it.
    let mut host = in_phase("ProbeBW_UP");
    for _ in 0..30 {
        host.data = Some(10);
        while host.step() {}
        host.now += ms(5);
    }
    assert_eq!(host.phase(), "ProbeBW_UP");
    let from = host.next_number();
    host.lose = vec![from + 3, from + 4];
    host.data = Some(10);
    while host.step() {}
    assert_ne!(host.phase(), "ProbeBW_UP");
    host.data = None;
    host.run_until(|h| h.phase() == "ProbeBW_REFILL");
    host.run_until(|h| h.phase() == "ProbeBW_UP");
    assert!(host.cc.cwnd() > BDP.mul_f64(1.9), "{}", host.cc.cwnd());
}

#[test]
fn losses_while_cruising_lower_rate_and_window_to_what_was_delivered_until_refill() {
    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_for(RTT * 4);
    let before = host.cc.cwnd();
    let from = host.next_number();
    // Two rounds: the best sample of the first is from before the losses.
    host.lose = (0..50).map(|n| from + 4 * n).collect();
    host.run_for(RTT * 5);
    assert_eq!(host.phase(), "ProbeBW_CRUISE");
    let bounded = bandwidth(&host);
    assert!((0.7..0.9).contains(&bounded), "{bounded}");
    assert!(host.cc.cwnd() < before.mul_f64(0.75), "{}", host.cc.cwnd());
    host.run_until(|h| h.phase() == "ProbeBW_REFILL");
    host.step();
    assert!(bandwidth(&host) > 0.98);
    host.run_until(|h| h.phase() == "ProbeBW_UP");
    assert!(host.cc.cwnd() > before.mul_f64(0.8), "{}", host.cc.cwnd());
}

#[test]
fn a_cut_for_loss_is_at_most_thirty_percent_a_round() {
    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_for(RTT * 4);
    let from = host.next_number();
    // Two rounds of which one packet in ten arrives.
    host.lose = (0..200).filter(|n| n % 10 != 9).map(|n| from + n).collect();
    host.run_for(RTT + ms(20));
    let mut least = 1.0_f64;
    while host.now < Time::ZERO + Duration::from_secs(2) && host.phase() == "ProbeBW_CRUISE" {
        let before = bandwidth(&host);
        host.step();
        assert!(bandwidth(&host) >= before * 0.699);
        least = least.min(bandwidth(&host));
    }
    assert!(least < 0.75, "{least}");
}

#[test]
fn probe_rtt_comes_after_five_seconds_and_halves_the_flight() {
    // A.10.
    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_until(|h| h.phase() == "ProbeRTT");
    let at = host.now.as_secs_f64();
    assert!((5.0..5.2).contains(&at), "{at}");
    assert_eq!(host.cc.snapshot().cwnd_gain, Some(0.5));
    let half = host.cc.cwnd().as_f64() / BDP.as_f64();
    assert!((0.48..0.53).contains(&half), "{half}");
    host.run_until(|h| h.inflight() <= h.cc.cwnd());
    let low_since = host.now;
    let estimate = bandwidth(&host);
    host.run_until(|h| h.phase() == "ProbeBW_CRUISE");
    let stayed = host.now.since(low_since);
    assert!(stayed >= ms(200) && stayed < ms(300), "{stayed}");
    assert!(host.cc.cwnd() > BDP.mul_f64(1.9));
    host.run_for(RTT * 20);
    assert!(bandwidth(&host) >= estimate * 0.99);
    host.run_until(|h| h.phase() == "ProbeRTT");
    assert!((10.2..10.7).contains(&host.now.as_secs_f64()));
}

#[test]
fn a_longer_path_is_believed_after_ten_seconds() {
    let mut host = in_phase("ProbeBW_CRUISE");
    host.rtt = ms(80);
    let began = host.now;
    host.run_until(|h| h.cc.snapshot().min_rtt.unwrap() >= ms(80));
    let took = host.now.since(began).as_secs_f64();
    assert!((9.0..16.0).contains(&took), "{took}");
}

#[test]
fn probe_rtt_in_startup_goes_back_to_startup() {
    // A.20: rounds of a second.
    let mut host = Host::seeded(1, "bbr3", RATE, Duration::from_secs(1));
    host.run_until(|h| h.phase() == "ProbeRTT");
    host.run_until(|h| h.phase() != "ProbeRTT");
    assert_eq!(host.phase(), "Startup");
    host.run_until(|h| h.phase() == "Drain");
    assert!(bandwidth(&host) > 0.98);
}

#[test]
fn after_idleness_it_paces_at_the_estimate_and_needs_no_probe_rtt() {
    // A.11, A.22.
    let mut host = in_phase("ProbeBW_CRUISE");
    for _ in 0..30 {
        host.data = Some(20);
        while host.step() {
            assert_ne!(host.phase(), "ProbeRTT", "at {}", host.now);
        }
        host.now += ms(400);
    }
    assert!(bandwidth(&host) > 0.98, "{}", bandwidth(&host));
    while host.phase() != "ProbeBW_UP" {
        host.data = Some(20);
        while host.step() {}
        host.now += ms(100);
    }
    assert!(bandwidth(&host) > 0.98, "{}", bandwidth(&host));
    let mut paced = 0.0;
    host.data = Some(1);
    if host.step() {
        paced = host.cc.pacing_rate().unwrap().as_f64() / RATE.as_f64();
    }
    assert!((0.97..1.0).contains(&paced), "{paced}");
}

#[test]
fn an_application_limited_probe_without_loss_goes_on() {
    // A.7.
    let mut host = in_phase("ProbeBW_UP");
    for _ in 0..100 {
        host.data = Some(10);
        while host.step() {}
        host.now += ms(5);
    }
    assert_eq!(host.phase(), "ProbeBW_UP");
}

#[test]
fn a_timeout_leaves_one_packet_and_its_recovery_restores_what_the_model_allows() {
    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_for(RTT * 4);
    let before = host.cc.cwnd();
    host.time_out();
    assert_eq!(host.cc.cwnd(), MSS);
    host.run_until(|h| !h.cc.snapshot().in_recovery);
    assert!(host.cc.cwnd() >= before.mul_f64(0.69), "{}", host.cc.cwnd());

    // A.19.
    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_for(RTT * 4);
    host.time_out();
    host.run_for(ms(300));
    assert!(host.cc.cwnd() < before.mul_f64(0.8), "{}", host.cc.cwnd());
    host.cc.on_spurious_timeout(host.now);
    host.run_for(ms(5));
    assert!(host.cc.cwnd() >= before, "a spurious one is undone");
}

#[test]
fn a_probe_ended_by_losses_is_taken_up_again_when_all_of_them_arrive_after_all() {
    // A.18.
    let lossy_probe = || {
        let mut host = in_phase("ProbeBW_UP");
        let from = host.next_number();
        host.lose = (from..from + 10).collect();
        host.run_until(|h| h.phase() != "ProbeBW_UP");
        assert_eq!(host.phase(), "ProbeBW_DOWN");
        host
    };
    let mut host = lossy_probe();
    let bounded = host.cc.cwnd();
    assert!(bounded < BDP.mul_f64(1.9), "{bounded}");
    host.deliver_given_up();
    assert_eq!(host.phase(), "ProbeBW_REFILL");
    host.run_until(|h| h.phase() == "ProbeBW_UP");
    assert!(host.cc.cwnd() > BDP.mul_f64(2.0), "{}", host.cc.cwnd());

    // One that does not arrive, and the losses were real.
    let mut host = lossy_probe();
    host.forget_one_given_up();
    host.deliver_given_up();
    assert_ne!(host.phase(), "ProbeBW_REFILL");
}

#[test]
fn losses_that_ended_startup_and_arrive_after_all_let_it_go_on() {
    let mut host = host();
    host.run_until(|h| h.next_number() > 30);
    host.lose = (0..6).map(|n| 31 + 2 * n).collect();
    host.run_until(|h| h.phase() == "Drain");
    host.deliver_given_up();
    assert_eq!(host.phase(), "Startup");
    host.run_until(|h| h.phase() == "Drain");
    assert!(bandwidth(&host) > 0.98);
}

#[test]
fn ten_times_the_bandwidth_is_found_in_one_probe() {
    // A.15.
    let mut host = in_phase("ProbeBW_REFILL");
    host.rate = RATE.mul_f64(10.0);
    let began = host.now;
    host.run_until(|h| bandwidth(h) > 0.95);
    assert_eq!(host.phase(), "ProbeBW_UP");
    let rounds = host.now.since(began).as_secs_f64() / RTT.as_secs_f64();
    assert!(rounds < 20.0, "{rounds}");
}

#[test]
fn a_tenth_of_the_bandwidth_is_believed_after_two_cycles() {
    // A.16.
    let mut host = in_phase("ProbeBW_CRUISE");
    host.buffer = Some(BDP.mul_f64(0.5));
    host.rate = RATE.mul_f64(0.1);
    host.run_for(Duration::from_secs(1));
    assert!(
        bandwidth(&host) < 8.0,
        "losses show at once that it is less"
    );
    host.run_for(Duration::from_secs(14));
    assert!(bandwidth(&host) < 1.1, "{}", bandwidth(&host));
}

#[test]
fn an_estimate_far_too_high_stays_where_every_cycle_is_cut_short_by_probe_rtt() {
    // A deep queue instead of losses: a round then lasts so long that UP never ends.
    let estimate_after_a_minute = |spec: &str| {
        let mut host = Host::seeded(1, spec, RATE, RTT);
        host.run_until(|h| h.phase() == "ProbeBW_CRUISE");
        host.rate = RATE.mul_f64(0.05);
        host.run_for(Duration::from_secs(60));
        bandwidth(&host)
    };
    assert!(estimate_after_a_minute("bbr3") > 10.0);
    assert!(estimate_after_a_minute("bbr3:probe-rtt-ends-cycle=true") < 1.5);
}

#[test]
fn marks_count_as_losses_without_a_threshold() {
    let mark = |host: &mut Host| host.cc.on_ecn_ce(host.now, host.now, 1);
    let mut host = host();
    host.run_until(|h| h.next_number() > 30);
    mark(&mut host);
    host.run_until(|h| h.phase() == "Drain");
    assert!(bandwidth(&host) < 0.9, "{}", bandwidth(&host));

    let mut host = in_phase("ProbeBW_UP");
    mark(&mut host);
    assert_eq!(host.phase(), "ProbeBW_DOWN");

    let mut host = in_phase("ProbeBW_CRUISE");
    host.run_for(RTT * 4);
    let before = host.cc.cwnd();
    mark(&mut host);
    host.run_for(RTT * 2);
    assert!(host.cc.cwnd() < before.mul_f64(0.75), "{}", host.cc.cwnd());
}

#[test]
fn four_packets_keep_a_pipe_of_less_than_one_busy() {
    // A.14: 64 kbit/s, 10 ms: 80 bytes.
    let mut host = Host::seeded(1, "bbr3:offload=1", Rate::from_bits_per_sec(64_000), ms(10));
    host.run_for(Duration::from_secs(30));
    assert!(host.cc.cwnd() >= MSS * 4 && host.cc.cwnd() <= MSS * 10);
    let pacing = host.cc.pacing_rate().unwrap().as_f64() / host.rate.as_f64();
    assert!((0.85..1.3).contains(&pacing), "{pacing}");
    assert_eq!(host.cc.send_quantum(), MSS * 2);
}
