//! Controllers over whole s2n-quic connections in virtual time.

mod network;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_cc::{Ecn, registry};
use lowtide_host::contract;
use lowtide_quic::virtual_time;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::queue::{QueueKind, QueueLimit};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::{EcnFeedback, TransportConfig};
use lowtide_sim::{SenderKind, SimConfig, Simulation};

use network::{Watch, config};

const TEN_MBIT: Rate = Rate::from_mbps(10);

fn quic(config: &SimConfig) -> Watch {
    virtual_time::run(config, Watch::default()).unwrap().1
}

fn model(config: SimConfig) -> Watch {
    let mut watch = Watch::default();
    Simulation::new(config).unwrap().run(&mut watch);
    watch
}

#[test]
fn every_controller_carries_data_like_the_model_of_the_transport() {
    for entry in registry::all() {
        let config = config(entry.name, TEN_MBIT, QueueLimit::Bdp(2.0), 8);
        let (real, model) = (quic(&config), model(config));
        let throughput = real.delivered.as_f64() / model.delivered.as_f64();
        let rtt = real.mean_rtt_ms() / model.mean_rtt_ms();
        let shows = format!("{}: throughput × {throughput}, RTT × {rtt}", entry.name);
        assert!((0.95..1.05).contains(&throughput), "{shows}");
        // What queued in C4's first round trips stays its longest RTT for seconds, and these differ.
        let tolerance = if entry.name == "c4" { 0.5 } else { 0.15 };
        assert!((rtt - 1.0).abs() < tolerance, "{shows}");
    }
}

#[test]
fn a_flow_that_asks_for_timestamps_gets_them_from_the_model_and_from_the_stack() {
    let mut config = config("bbr", TEN_MBIT, QueueLimit::Bdp(2.0), 4);
    assert!(quic(&config).received_at == 0 && model(config.clone()).received_at == 0);
    if let TransportConfig::Quic { timestamps, .. } = &mut config.flows[0].transport {
        *timestamps = true;
    }
    for watch in [quic(&config), model(config)] {
        let share = watch.received_at as f64 / watch.acked as f64;
        assert!(share > 0.99, "{share}");
    }
}

#[test]
fn a_run_repeats_to_the_byte() {
    let mut config = config("rbbr", TEN_MBIT, QueueLimit::Bdp(1.0), 3);
    config.forward.loss = LossModel::Random(0.01);
    let (first, second) = (quic(&config), quic(&config));
    assert!(first.lost > Bytes::ZERO);
    assert_eq!(first, second);
    config.seed += 1;
    assert_ne!(first, quic(&config));
}

#[test]
fn losses_reach_the_controller_and_no_other() {
    let mut config = config("newreno", TEN_MBIT, QueueLimit::Unlimited, 10);
    config.forward.loss = LossModel::Random(0.02);
    let second = config.flows[0].clone();
    config.flows.push(second);
    let watch = quic(&config);
    // What was dropped shortly before the end is not known to be lost.
    let known = watch.lost.as_f64() / watch.dropped.as_f64();
    assert!((0.9..1.01).contains(&known), "{known}");
    // 1.22 MSS / (RTT √p), Mathis et al. 1997, is 2.6 Mbit/s for each.
    let mbps = watch.delivered.as_f64() * 8.0 / 10.0 / 1e6;
    assert!((3.0..7.5).contains(&mbps), "{mbps}");
}

#[test]
fn a_source_that_pauses_is_application_limited_and_its_receiver_does_not_sample_the_pauses() {
    let mut config = config("rbbr", TEN_MBIT, QueueLimit::Bdp(2.0), 12);
    config.flows[0].source = SourceConfig::OnOff {
        on: Duration::from_secs(1),
        off: Duration::from_secs(1),
        rate: Rate::from_mbps(20),
    };
    let watch = quic(&config);
    let estimate = watch.last_bandwidth.unwrap().as_mbps();
    assert!((9.0..10.1).contains(&estimate), "{estimate} Mbit/s");
    // The application writes twice what fits: after the first pause it is behind.
    let mbps = watch.delivered.as_f64() * 8.0 / 12.0 / 1e6;
    assert!((8.5..10.0).contains(&mbps), "{mbps} Mbit/s");
}

#[test]
fn a_queue_that_marks_sees_the_codepoint_asked_for_and_its_marks_are_told() {
    let run = |ecn, feedback| {
        let mut config = config("newreno", TEN_MBIT, QueueLimit::Unlimited, 6);
        config.forward.queue = QueueKind::parse("codel").unwrap();
        config.flows[0].ecn = feedback;
        let spec = registry::parse("newreno").unwrap();
        let make = Arc::new(move |config: &_| spec.build(config));
        let (controller, notes) = contract::recorded_with_ecn(make, ecn);
        config.flows[0].sender = SenderKind::Controlled {
            controller,
            estimator: None,
        };
        let watch = quic(&config);
        let notes = notes.lock().unwrap();
        // What a client has in flight of a handshake is discarded, of which the notes know nothing.
        let of_marks = notes.breaches.iter().find(|b| b.contains("marks"));
        assert_eq!(of_marks, None, "{ecn:?}");
        (watch, notes.ce)
    };
    for (ecn, feedback, left) in [
        (Ecn::Ect0, EcnFeedback::Accurate, Ecn::Ect0),
        (Ecn::Ect1, EcnFeedback::Accurate, Ecn::Ect1),
        (Ecn::NotEct, EcnFeedback::Accurate, Ecn::NotEct),
        (Ecn::Ect0, EcnFeedback::Off, Ecn::NotEct),
    ] {
        let (watch, told) = run(ecn, feedback);
        let seen = watch.codepoints;
        let shows = format!("{ecn:?}, {feedback:?}: {seen:?}, {told} told");
        let (as_left, marked) = (seen[left as usize], seen[Ecn::Ce as usize]);
        let all: u64 = seen.iter().sum();
        assert!(as_left + marked > all * 9 / 10, "{shows}");
        assert_eq!(left.is_capable(), marked > 0, "{shows}");
        assert_eq!(left.is_capable(), watch.dropped.is_zero(), "{shows}");
        // s2n-quic marks a packet itself every ten to a hundred round trips.
        assert!(told <= marked && marked <= told + 15, "{shows}");
        let others = [Ecn::Ect0, Ecn::Ect1].into_iter().filter(|e| *e != left);
        assert!(
            others.map(|e| seen[e as usize]).sum::<u64>() == 0,
            "{shows}"
        );
    }
}

/// The same with s2n-quic's own controller of this name.
fn stock(name: &str, rate: Rate, seconds: u64) -> SimConfig {
    let mut config = config("cubic", rate, QueueLimit::Bdp(2.0), seconds);
    let stock = virtual_time::STOCK.iter().find(|stock| stock.name == name);
    config.flows[0].sender = SenderKind::Stock(stock.unwrap());
    config
}

#[test]
fn s2n_quics_own_controllers_fill_the_link_and_repeat_to_the_byte() {
    for name in ["s2n/cubic", "s2n/bbr"] {
        let mut config = stock(name, TEN_MBIT, 15);
        let watch = quic(&config);
        let mbps = watch.delivered.as_f64() * 8.0 / 15.0 / 1e6;
        assert!((9.0..10.0).contains(&mbps), "{name}: {mbps} Mbit/s");
        let rtt = watch.mean_rtt_ms();
        assert!((41.0..120.0).contains(&rtt), "{name}: {rtt} ms");
        config.duration = Duration::from_secs(3);
        config.forward.loss = LossModel::Random(0.01);
        assert_eq!(quic(&config), quic(&config), "{name}");
    }
}

#[test]
fn s2n_quics_cubic_does_what_the_models_does() {
    let model = model(config("cubic", TEN_MBIT, QueueLimit::Bdp(2.0), 15));
    let real = quic(&stock("s2n/cubic", TEN_MBIT, 15));
    let throughput = real.delivered.as_f64() / model.delivered.as_f64();
    assert!((0.97..1.03).contains(&throughput), "× {throughput}");
    let rtt = real.mean_rtt_ms() / model.mean_rtt_ms();
    assert!((0.8..1.1).contains(&rtt), "RTT × {rtt}");
}

#[test]
fn s2n_quics_own_controllers_see_the_marks_of_what_they_send() {
    let mut config = stock("s2n/cubic", TEN_MBIT, 6);
    config.forward.queue = QueueKind::parse("codel").unwrap();
    config.forward.buffer = QueueLimit::Unlimited;
    let watch = quic(&config);
    assert!(watch.codepoints[Ecn::Ce as usize] > 3 && watch.dropped.is_zero());
    assert!(watch.mean_rtt_ms() < 60.0, "{}", watch.mean_rtt_ms());
}

#[test]
fn the_version_shown_is_that_of_the_lock_file() {
    let lock = include_str!("../../../Cargo.lock");
    for stock in virtual_time::STOCK {
        let (package, version) = stock.source.split_once(' ').unwrap();
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{}: {}", stock.name, stock.source);
    }
}

#[test]
fn what_s2n_quic_cannot_run_is_refused() {
    let good = config("bbr", TEN_MBIT, QueueLimit::Unlimited, 1);
    let refused = |change: &dyn Fn(&mut SimConfig)| {
        let mut config = good.clone();
        change(&mut config);
        virtual_time::run(&config, ()).unwrap_err().to_string()
    };
    assert!(refused(&|c| c.flows[0].sender = SenderKind::Oracle).contains("oracle"));
    assert!(refused(&|c| c.packet_size = Bytes::new(600)).contains("600 B"));
    assert!(refused(&|c| c.flows.clear()).contains("at least one flow"));
    assert!(refused(&|c| c.flows[0].ecn = EcnFeedback::Classic).contains("ECN-Echo"));
    let tcp = TransportConfig::tcp();
    assert!(refused(&|c| c.flows[0].transport = tcp).contains("TCP"));
}
