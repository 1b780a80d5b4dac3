//! The cases that users come with.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Time};
use lowtide_lab::compare::{self, Options, Role};
use lowtide_lab::contender::Contender;
use lowtide_lab::metrics::Meter;
use lowtide_lab::setting::{LinkSource, Seeds, Setting};
use lowtide_sim::impairment::{Jitter, LossModel};
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{Outcome, SenderKind, Simulation};

use crate::setting::{compare, compare_seeds, constant, contender, named, of, ratio, recorded};

#[test]
fn a_source_faster_than_the_link_fills_cubics_queue_and_not_bbrs() {
    let result = compare(&named("media"), &["bbr", "cubic:hystart=false"]);
    let (bbr, cubic) = (of(&result, "bbr"), of(&result, "cubic:hystart=false"));
    assert!(bbr["throughput_mbps"] > 4.7, "{bbr:?}");
    // Linux's allowance of three send quanta leaves six packets, 15 ms, standing at this rate.
    assert!((100.0..130.0).contains(&bbr["rtt_ms.mean"]), "{bbr:?}");
    assert!(cubic["throughput_mbps"] > 4.7, "{cubic:?}");
    assert!((450.0..620.0).contains(&cubic["rtt_ms.p50"]), "{cubic:?}");
}

#[test]
fn a_video_slower_than_the_link_is_paced_and_loses_nothing() {
    let result = compare(&named("video"), &["bbr", "cubic", "newreno"]);
    for name in ["bbr", "cubic", "newreno"] {
        let m = of(&result, name);
        assert!((1.9..2.1).contains(&m["goodput_mbps"]), "{name} {m:?}");
        let lost = [m["loss_share"], m["retransmitted_share"]];
        assert_eq!(lost, [0.0, 0.0], "{name}");
        // A frame of 8.3 kB alone takes 13 ms of a 5 Mbit/s link.
        assert!(m["rtt_ms.p95"] < 140.0, "{name} {m:?}");
        let frame = m["frame_delay_ms.p50"];
        assert!((63.0..80.0).contains(&frame), "{name} {m:?}");
    }
}

#[test]
fn the_oracle_uses_every_opportunity_without_a_queue_on_every_kind_of_link() {
    let mut settings = vec![named("4g")];
    settings.push(constant(50).with_flows(3));
    settings.push(constant(50).over(TransportConfig::tcp()));
    // Enough flows that each waits longer for its next slot than for a retransmission timer.
    settings.push(named("4g").with_flows(100));
    for setting in settings {
        let result = compare(&setting, &[]);
        let oracle = of(&result, "oracle");
        assert!(oracle["utilisation"] > 0.995, "{oracle:?}");
        // Where the link is slow, the transmission of a single packet takes milliseconds.
        let (p50, p95) = (oracle["queue_delay_ms.p50"], oracle["queue_delay_ms.p95"]);
        assert!(p50 < 1.0 && p95 < 5.0, "{oracle:?}");
        assert_eq!(oracle["loss_share"], 0.0);
    }
}

#[test]
fn the_oracle_lets_its_slot_pass_when_the_application_stops() {
    let mut setting = constant(10);
    setting.duration = Duration::from_secs(4);
    setting.groups[0].source = source::parse("steps:0s:bulk,1s:off,2s:bulk,3s:off").unwrap();
    let result = compare(&setting, &["cubic"]);
    let oracle = of(&result, "oracle");
    // Of the three seconds until all it had is acknowledged.
    assert!((0.65..0.68).contains(&oracle["utilisation"]), "{oracle:?}");
    assert!(oracle["queue_delay_ms.max"] < 2.0, "{oracle:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut setting = named("4g");
    setting.duration = Duration::from_secs(5);
    setting.forward.loss = LossModel::Random(0.01);
    setting.forward.jitter = Some(Jitter {
        max: Duration::from_millis(3),
        reorder: true,
    });
    let one = compare_seeds(&setting, &["bbr", "cubic", "newreno"], 3, 1);
    let four = compare_seeds(&setting, &["bbr", "cubic", "newreno"], 3, 4);
    assert_eq!(one.simulated_packets, four.simulated_packets);
    for (a, b) in one.entries.iter().zip(&four.entries) {
        assert_eq!((a.mean, a.ci95), (b.mean, b.ci95));
    }
    let mut plain = named("4g");
    plain.duration = setting.duration;
    let seeds = &compare_seeds(&plain, &["bbr"], 2, 1).entries[1].seeds;
    assert_ne!(seeds[0], seeds[1], "seeds differ");
}

#[test]
fn random_loss_of_one_percent_leaves_bbr_its_throughput_and_takes_it_from_newreno() {
    let setting = constant(20).with_buffer(QueueLimit::Bdp(2.0));
    let setting = setting.with_loss(LossModel::Random(0.01));
    for transport in [TransportConfig::quic(), TransportConfig::tcp()] {
        let setting = setting.clone().over(transport);
        let result = compare(&setting, &["bbr", "newreno"]);
        let (bbr, newreno) = (of(&result, "bbr"), of(&result, "newreno"));
        assert!(bbr["utilisation"] > 0.85, "{transport:?} {bbr:?}");
        assert!(newreno["utilisation"] < 0.5, "{transport:?} {newreno:?}");
        // What is lost is sent again, once.
        let resent = bbr["retransmitted_share"];
        assert!((0.005..0.02).contains(&resent), "{transport:?} {bbr:?}");
        let needless = bbr["throughput_mbps"] - bbr["goodput_mbps"];
        assert!(needless < 0.1, "{transport:?} {bbr:?}");
    }
}

#[test]
fn after_an_outage_of_three_seconds_a_flow_comes_back() {
    let schedule = lowtide_sim::trace::schedule::parse("0s:20mbit,5s:0mbit,8s:20mbit").unwrap();
    let link = Arc::new(Link::Rates(schedule));
    for transport in [TransportConfig::quic(), TransportConfig::tcp()] {
        let setting = Setting {
            duration: Duration::from_secs(20),
            ..Setting::on_link("outage", LinkSource::Fixed(link.clone()))
        };
        let setting = setting.over(transport);
        let result = compare(&setting, &["bbr", "bbr-noagg", "cubic", "newreno"]);
        for entry in &result.entries[1..5] {
            let used = entry.mean["goodput_mbps"] / (20.0 * 17.0 / 20.0);
            assert!(used > 0.85, "{} {transport:?} {:?}", entry.name, entry.mean);
        }
    }
}

#[test]
fn on_a_real_lte_link_cubic_fills_the_queue_and_bbr_keeps_throughput_at_a_fraction_of_the_delay() {
    let Some(link) = recorded() else {
        return;
    };
    let setting = Setting {
        duration: Duration::from_secs(120),
        ..link
    };
    let result = compare(&setting, &["bbr", "bbr-noagg", "cubic:hystart=false"]);
    let names = ["bbr", "bbr-noagg", "oracle"];
    for (name, utilisation) in names.into_iter().zip([0.94, 0.92, 0.99]) {
        let m = of(&result, name);
        assert!(m["utilisation"] > utilisation, "{name}: {m:?}");
    }
    let rtt = |name| ratio(&result, [name, "bbr"], "rtt_ms.mean");
    assert!(rtt("bbr-noagg") < 1.0, "compensation costs delay");
    assert!(rtt("cubic:hystart=false") > 20.0);
    assert!(of(&result, "oracle")["self_inflicted_ms.p95"] < 1.0);
}

#[test]
fn a_controller_that_panics_ends_its_own_runs_and_no_other() {
    let mut setting = named("4g");
    setting.duration = Duration::from_secs(1);
    let faulty = Contender::Controller {
        name: "faulty".to_string(),
        identity: String::new(),
        sender: SenderKind::Controlled {
            controller: Arc::new(|_| panic!("no such thing")),
            estimator: None,
        },
        needs_timestamps: false,
        surroundings: None,
    };
    // Seeds wrap around; none is left out.
    setting.seeds = Seeds {
        first: u64::MAX,
        count: 2,
    };
    let contenders = [faulty, contender("bbr")];
    let options = Options::default();
    let result = compare::compare(&setting, &contenders, options, &|| ()).unwrap();
    let roles: Vec<Role> = result.entries.iter().map(|e| e.role).collect();
    assert_eq!(roles, [Role::Limit, Role::Contender, Role::Floor]);
    assert!(result.entries.iter().all(|e| e.seeds.len() == 2));
    let failed: Vec<(&str, u64)> = result.failed.iter().map(|f| (&*f.name, f.seed)).collect();
    assert_eq!(failed, [("faulty", u64::MAX), ("faulty", 0)]);
    assert!(result.failed[0].reason.contains("no such thing"));
}

#[test]
fn a_run_in_parts_is_the_run_in_a_whole() {
    let mut moving = named("4g");
    moving.duration = Duration::from_secs(4);
    moving.forward.loss = LossModel::Random(0.01);
    let crowded = Setting {
        duration: Duration::from_secs(2),
        ..constant(20)
    }
    .with_flows(3);
    for (setting, spec) in [(&moving, "bbr-s"), (&moving, "oracle"), (&crowded, "cubic")] {
        let config = setting.run_by(&contender(spec)).config(7).unwrap();
        let measured = |simulate: &dyn Fn(Simulation, &mut Meter) -> Outcome| {
            let mut meter = Meter::new(&config);
            let outcome = simulate(Simulation::new(config.clone()).unwrap(), &mut meter);
            format!("{outcome:?} {:?}", meter.finish())
        };
        let whole = measured(&|simulation, meter| simulation.run(meter));
        let parts = measured(&|mut simulation, meter| {
            for n in 0.. {
                let until = Time::ZERO + Duration::from_micros(7_321) * n;
                simulation.run_until(until, meter);
                if until > Time::ZERO + config.duration {
                    break;
                }
            }
            simulation.outcome()
        });
        assert_eq!(parts, whole, "{spec}");
        let halves = measured(&|mut simulation, meter| {
            simulation.run_until(Time::ZERO + config.duration.div(2), meter);
            simulation.run(meter)
        });
        assert_eq!(halves, whole, "{spec}");
    }
}
