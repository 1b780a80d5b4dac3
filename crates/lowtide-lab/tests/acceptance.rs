//! The cases that users come with.

use std::path::PathBuf;
use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate};
use lowtide_lab::compare::{Comparison, Contender, Host, Plan, Role, compare};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::scenario::{LinkSource, Scenario, built_in};
use lowtide_sim::SenderKind;
use lowtide_sim::impairment::{Jitter, LossModel};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::transport::TransportConfig;

fn run(scenario: &Scenario, names: &[&str], seeds: u64, jobs: usize) -> Comparison {
    let contenders: Vec<Contender> = names.iter().map(|n| Contender::parse(n).unwrap()).collect();
    let plan = Plan {
        host: Host::default(),
        seeds,
        first_seed: 1,
        jobs,
        timelines: false,
    };
    compare(scenario, &contenders, &plan, &|| ()).unwrap()
}

fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a Metrics {
    &comparison
        .entries
        .iter()
        .find(|e| e.name == name)
        .unwrap()
        .mean
}

fn named(name: &str) -> Scenario {
    built_in()
        .iter()
        .find(|b| b.name == name)
        .unwrap()
        .scenario()
}

#[test]
fn a_source_faster_than_the_link_fills_cubics_queue_and_not_bbrs() {
    let result = run(&named("media"), &["bbr", "cubic"], 1, 1);
    let (bbr, cubic) = (of(&result, "bbr"), of(&result, "cubic"));
    assert!(bbr.throughput_mbps > 4.7, "{bbr:?}");
    // Linux's allowance of three send quanta leaves six packets, 15 ms, standing at this rate.
    assert!((100.0..130.0).contains(&bbr.rtt_ms.mean), "{bbr:?}");
    assert!(cubic.throughput_mbps > 4.7, "{cubic:?}");
    assert!((450.0..620.0).contains(&cubic.rtt_ms.p50), "{cubic:?}");
}

#[test]
fn a_video_slower_than_the_link_is_paced_and_loses_nothing() {
    let result = run(&named("video"), &["bbr", "cubic", "newreno"], 1, 1);
    for name in ["bbr", "cubic", "newreno"] {
        let m = of(&result, name);
        assert!((1.9..2.1).contains(&m.goodput_mbps), "{name} {m:?}");
        assert_eq!((m.loss_share, m.retransmitted_share), (0.0, 0.0), "{name}");
        // A frame of 8.3 kB alone takes 13 ms of a 5 Mbit/s link.
        assert!(m.rtt_ms.p95 < 140.0, "{name} {m:?}");
    }
}

#[test]
fn the_oracle_uses_every_opportunity_without_a_queue_on_every_kind_of_link() {
    let mut scenarios = vec![named("4g")];
    let constant = Link::constant(Rate::from_mbps(50)).unwrap();
    let base = Scenario::on_link("constant", LinkSource::Fixed(Arc::new(constant)));
    scenarios.push(Scenario {
        flows: 3,
        ..base.clone()
    });
    scenarios.push(Scenario {
        transport: TransportConfig::tcp(),
        ..base
    });
    // So many flows that each waits longer for its next slot than for a retransmission timer.
    scenarios.push(Scenario {
        flows: 100,
        ..named("4g")
    });
    for scenario in scenarios {
        let result = run(&scenario, &[], 1, 0);
        let oracle = of(&result, "oracle");
        assert!(oracle.utilisation > 0.995, "{oracle:?}");
        // Where the link is slow, the transmission of a single packet takes milliseconds.
        let queueing = oracle.queue_delay_ms;
        assert!(queueing.p50 < 1.0 && queueing.p95 < 5.0, "{oracle:?}");
        assert_eq!(oracle.loss_share, 0.0);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut scenario = named("4g");
    scenario.duration = Duration::from_secs(5);
    scenario.loss = LossModel::Random(0.01);
    scenario.jitter = Some(Jitter {
        max: Duration::from_millis(3),
        reorder: true,
    });
    let one = run(&scenario, &["bbr", "cubic", "newreno"], 3, 1);
    let four = run(&scenario, &["bbr", "cubic", "newreno"], 3, 4);
    assert_eq!(one.simulated_packets, four.simulated_packets);
    for (a, b) in one.entries.iter().zip(&four.entries) {
        assert_eq!(
            format!("{:?} {:?}", a.mean, a.ci95),
            format!("{:?} {:?}", b.mean, b.ci95)
        );
    }
    let other_seed = run(
        &Scenario {
            duration: Duration::from_secs(5),
            ..named("4g")
        },
        &["bbr"],
        2,
        1,
    );
    let seeds = &other_seed.entries[1].seeds;
    assert_ne!(seeds[0], seeds[1], "seeds differ");
}

#[test]
fn random_loss_of_one_percent_leaves_bbr_its_throughput_and_takes_it_from_newreno() {
    let link = Link::constant(Rate::from_mbps(20)).unwrap();
    let scenario = Scenario {
        loss: LossModel::Random(0.01),
        buffer: QueueLimit::Bdp(2.0),
        ..Scenario::on_link("lossy", LinkSource::Fixed(Arc::new(link)))
    };
    for transport in [TransportConfig::quic(), TransportConfig::tcp()] {
        let result = run(
            &Scenario {
                transport,
                ..scenario.clone()
            },
            &["bbr", "newreno"],
            1,
            0,
        );
        let (bbr, newreno) = (of(&result, "bbr"), of(&result, "newreno"));
        assert!(bbr.utilisation > 0.85, "{transport:?} {bbr:?}");
        assert!(newreno.utilisation < 0.5, "{transport:?} {newreno:?}");
        // What is lost is sent again, once.
        assert!(
            (0.005..0.02).contains(&bbr.retransmitted_share),
            "{transport:?} {bbr:?}"
        );
        assert!(
            bbr.throughput_mbps - bbr.goodput_mbps < 0.1,
            "{transport:?} {bbr:?}"
        );
    }
}

#[test]
fn after_an_outage_of_three_seconds_a_flow_comes_back() {
    let schedule = lowtide_sim::trace::schedule::parse("0s:20mbit,5s:0mbit,8s:20mbit").unwrap();
    let link = Arc::new(Link::Rates(schedule));
    for transport in [TransportConfig::quic(), TransportConfig::tcp()] {
        let scenario = Scenario {
            transport,
            duration: Duration::from_secs(20),
            ..Scenario::on_link("outage", LinkSource::Fixed(link.clone()))
        };
        let result = run(&scenario, &["bbr", "bbr-noagg", "cubic", "newreno"], 1, 0);
        for entry in &result.entries[1..5] {
            let used = entry.mean.goodput_mbps / (20.0 * 17.0 / 20.0);
            assert!(used > 0.85, "{} {transport:?} {:?}", entry.name, entry.mean);
        }
    }
}

#[test]
fn on_a_real_lte_link_cubic_fills_the_queue_and_bbr_keeps_throughput_at_a_fraction_of_the_delay() {
    let traces = std::env::var_os("LOWTIDE_TRACES").map_or_else(
        || {
            PathBuf::from(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../../shared/traces"
            ))
        },
        PathBuf::from,
    );
    let file = traces.join("mahimahi/Verizon-LTE-short.down");
    if !file.exists() {
        println!(
            "skipped: no {}; set LOWTIDE_TRACES to the folder of traces",
            file.display()
        );
        return;
    }
    let link = lowtide_sim::trace::load(&file, MAHIMAHI_OPPORTUNITY).unwrap();
    assert!((link.mean_rate().as_mbps() - 5.03).abs() < 0.02);
    let scenario = Scenario {
        duration: Duration::from_secs(120),
        ..Scenario::on_link("Verizon", LinkSource::Fixed(Arc::new(link)))
    };
    let result = run(&scenario, &["bbr", "bbr-noagg", "cubic"], 1, 0);
    let (bbr, noagg, cubic) = (
        of(&result, "bbr"),
        of(&result, "bbr-noagg"),
        of(&result, "cubic"),
    );
    assert!(
        bbr.utilisation > 0.94 && noagg.utilisation > 0.92,
        "{bbr:?} {noagg:?}"
    );
    assert!(
        noagg.rtt_ms.mean < bbr.rtt_ms.mean,
        "compensation costs delay"
    );
    assert!(cubic.rtt_ms.mean > 20.0 * bbr.rtt_ms.mean, "{cubic:?}");
    let oracle = of(&result, "oracle");
    assert!(
        oracle.utilisation > 0.99 && oracle.self_inflicted_ms.p95 < 1.0,
        "{oracle:?}"
    );
}

#[test]
fn a_controller_that_panics_ends_its_own_runs_and_no_other() {
    let mut scenario = named("4g");
    scenario.duration = Duration::from_secs(1);
    let faulty = Contender::Controller {
        name: "faulty".to_string(),
        sender: SenderKind::Controlled {
            controller: Arc::new(|_| panic!("no such thing")),
            estimator: None,
        },
    };
    let contenders = [faulty, Contender::parse("bbr").unwrap()];
    let plan = Plan {
        host: Host::default(),
        seeds: 2,
        // Seeds wrap around; none is left out.
        first_seed: u64::MAX,
        jobs: 0,
        timelines: false,
    };
    let result = compare(&scenario, &contenders, &plan, &|| ()).unwrap();
    let roles: Vec<Role> = result.entries.iter().map(|e| e.role).collect();
    assert_eq!(roles, [Role::Limit, Role::Contender, Role::Floor]);
    assert!(result.entries.iter().all(|e| e.seeds.len() == 2));
    let failed: Vec<(&str, u64)> = result.failed.iter().map(|f| (&*f.name, f.seed)).collect();
    assert_eq!(failed, [("faulty", u64::MAX), ("faulty", 0)]);
    assert!(result.failed[0].reason.contains("no such thing"));
}
