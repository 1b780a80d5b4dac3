//! Vegas, Compound and Copa against what their papers say of them, on whole links.

use lowtide_cc::units::{Duration, Time};
use lowtide_lab::metrics::{Measured, Meter};
use lowtide_lab::setting::{Group, Setting};
use lowtide_sim::Simulation;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::queue::{QueueKind, QueueLimit};

use crate::setting::{constant, contender};

fn link(mbps: u64, rtt_ms: u64, buffer: QueueLimit, seconds: u64) -> Setting {
    let link = Setting {
        duration: Duration::from_secs(seconds),
        ..constant(mbps)
    };
    link.with_rtt(Duration::from_millis(rtt_ms))
        .with_buffer(buffer)
}

/// One flow of each of these controllers, all from the beginning.
fn run(setting: &Setting, specs: &[&str]) -> Measured {
    let groups = specs.iter().map(|spec| Group::of(contender(spec)));
    let mixed = Setting {
        groups: groups.collect(),
        ..setting.clone()
    };
    let mixed = mixed.config(1).unwrap();
    let mut meter = Meter::new(&mixed).measuring_from(setting.measure_from);
    Simulation::new(mixed).unwrap().run(&mut meter);
    meter.finish()
}

#[test]
fn vegas_and_copa_keep_a_few_packets_queued_and_the_link_busy() {
    // A packet takes 0.6 ms; the RTT of an empty queue is 40.6 ms. An acknowledgment for two
    // packets shows 41.2 ms at best, so that Vegas counts a packet less than there is.
    let setting = link(20, 40, QueueLimit::Unlimited, 30);
    for (spec, least, most) in [
        ("vegas", 2.0, 5.0),
        ("copa", 2.0, 3.5),
        ("copa:mode=default", 2.0, 3.5),
    ] {
        let m = run(&setting, &[spec]).total;
        let queued = (m["rtt_ms.mean"] - 40.6) / 0.6;
        assert!((least..=most).contains(&queued), "{spec}: {queued}");
        assert!(m["utilisation"] > 0.98, "{spec}: {}", m["utilisation"]);
    }
}

#[test]
fn compound_outgrows_reno_in_a_small_buffer_on_a_long_path_and_fills_a_deep_one_like_it() {
    // BDP 833 packets.
    let small = link(100, 100, QueueLimit::Packets(100), 60);
    let compound = run(&small, &["compound"]).total;
    let newreno = run(&small, &["newreno"]).total;
    assert!(compound["utilisation"] > newreno["utilisation"] + 0.1);
    assert!(compound["utilisation"] > 0.93, "{compound:?}");
    // A buffer that overflows before gamma is reached is what the tuning is for.
    let tiny = link(100, 100, QueueLimit::Packets(30), 60);
    let fixed = run(&tiny, &["compound"]).total;
    let tuned = run(&tiny, &["compound:tuning=true"]).total;
    assert!(tuned["utilisation"] > fixed["utilisation"] + 0.1);

    let deep = link(20, 40, QueueLimit::Bdp(5.0), 20);
    let compound = run(&deep, &["compound"]).total;
    assert!(compound["rtt_ms.p95"] > 150.0, "{}", compound["rtt_ms.p95"]);
    assert!(compound["loss_share"] > 0.0);
}

#[test]
fn copa_bears_random_loss_and_holds_its_share_against_cubic_only_with_mode_switching() {
    let setting = link(50, 40, QueueLimit::Bdp(1.0), 30);
    let share = |spec: &str| {
        let flows = run(&setting, &[spec, "cubic:hystart=false"]).flows;
        flows[0]["throughput_mbps"] / (flows[0]["throughput_mbps"] + flows[1]["throughput_mbps"])
    };
    let (switching, default) = (share("copa"), share("copa:mode=default"));
    assert!((0.35..0.65).contains(&switching), "{switching}");
    assert!(default < 0.1, "{default}");

    let lossy = setting.with_loss(LossModel::Random(0.01));
    let m = run(&lossy, &["copa"]).total;
    assert!(m["utilisation"] > 0.9, "{}", m["utilisation"]);
}

#[test]
fn prague_and_cubic_share_a_link_behind_dualpi2_and_pragues_packets_wait_for_less_than_a_millisecond()
 {
    for (mbps, rtt_ms) in [(10, 20), (40, 10), (40, 50), (120, 20)] {
        let mut setting = Setting {
            measure_from: Time::ZERO + Duration::from_secs(10),
            ..link(mbps, rtt_ms, QueueLimit::Unlimited, 40)
        };
        setting.forward.queue = QueueKind::parse("dualpi2").unwrap();
        let measured = run(&setting, &["prague", "cubic"]);
        let [prague, cubic] = &measured.flows[..] else {
            panic!("two flows");
        };
        let at = format!("{mbps} Mbit/s, {rtt_ms} ms");
        let ratio = prague["goodput_mbps"] / cubic["goodput_mbps"];
        assert!((0.5..2.0).contains(&ratio), "{at}: {ratio}");
        // Its own transmission is no wait, and one of a packet that is on the link already cannot be
        // avoided.
        let packet_ms = setting.packet_size.as_f64() * 8.0 / (mbps as f64 * 1e3);
        let wait = prague["queue_delay_ms.p99"] - packet_ms;
        assert!(wait < 1.0 + packet_ms, "{at}: {wait} ms");
        let used = measured.total["utilisation"];
        assert!(used > 0.98, "{at}: {used}");
        assert_eq!(prague["loss_share"], 0.0, "{at}");
    }
}
