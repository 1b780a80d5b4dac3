//! RBBR.

use std::sync::Arc;

use lowtide_cc::units::{Rate, Time};
use lowtide_cc::{Config, registry};
use lowtide_sim::link::Link;
use lowtide_sim::probe::AckSeen;
use lowtide_sim::trace::generate;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind};

use super::deceived::{Clock, Deceived, Lie, at_speed, jumping};
use super::two_flows::{DURATION, Shares, run};

fn flow(name: &str, lie: Lie) -> FlowConfig {
    flow_told(name, lie, |_, at| at)
}

/// An RBBR flow that makes its own estimate of what its receiver's clock says.
fn flow_by_timestamps(clock: Clock) -> FlowConfig {
    let mut flow = flow_told("rbbr:from=timestamps", |_, rate| rate, clock);
    if let TransportConfig::Quic { timestamps, .. } = &mut flow.transport {
        *timestamps = true;
    }
    flow
}

fn flow_told(name: &str, lie: Lie, clock: Clock) -> FlowConfig {
    let spec = registry::parse(name).unwrap();
    let estimator = spec.receiver();
    FlowConfig::bulk(SenderKind::Controlled {
        controller: Arc::new(move |config: &Config| {
            let inner = spec.build(config);
            Box::new(Deceived { inner, lie, clock })
        }),
        estimator,
    })
}

/// Three runs of an RBBR flow beside `rival`.
fn beside(rival: &str, lie: Lie) -> Shares {
    beside_flow(rival, &flow("rbbr", lie), 3)
}

fn beside_flow(rival: &str, first: &FlowConfig, seeds: u64) -> Shares {
    let mut shares = Shares::default();
    for seed in 0..seeds {
        let link = Link::constant(Rate::from_mbps(20)).unwrap();
        let flows = vec![first.clone(), flow(rival, |_, rate| rate)];
        run(link, flows, seed, &mut shares);
    }
    shares
}

fn gains_a_tenth_at_most(liar: &Shares, honest: &Shares, name: &str) {
    println!(
        "{name}: {:.3} ({:.3}) of the link, {:.1} ms ({:.1})",
        liar.of_first(),
        honest.of_first(),
        liar.mean_rtt() * 1e3,
        honest.mean_rtt() * 1e3
    );
    assert!(liar.of_first() < 1.1 * honest.of_first(), "{name}");
    assert!(liar.mean_rtt() < 1.1 * honest.mean_rtt(), "{name}");
}

/// On in every other second.
fn by_turns(now: Time, rate: Rate) -> Rate {
    let second = now.since(Time::ZERO).as_nanos() / 1_000_000_000;
    rate.mul_f64(if second.is_multiple_of(2) { 1.25 } else { 1.0 })
}

#[test]
fn a_receiver_that_reports_more_than_arrived_or_nothing_gains_a_tenth_at_most() {
    let lies: [(&str, Lie); 6] = [
        ("1 % more", |_, rate| rate.mul_f64(1.01)),
        ("5 % more", |_, rate| rate.mul_f64(1.05)),
        ("a quarter more", |_, rate| rate.mul_f64(1.25)),
        ("a quarter more by turns", by_turns),
        ("the highest rate", |_, _| Rate::MAX),
        ("nothing", |_, _| Rate::ZERO),
    ];
    for rival in ["rbbr", "cubic", "bbr"] {
        let honest = beside(rival, |_, rate| rate);
        for (name, lie) in lies {
            let liar = beside(rival, lie);
            gains_a_tenth_at_most(&liar, &honest, &format!("{rival}, {name}"));
        }
    }
}

#[test]
fn a_receiver_whose_clock_lies_gains_a_tenth_at_most() {
    let clocks: [(&str, Clock); 5] = [
        ("1 % slow", |_, at| at_speed(at, 0.99)),
        ("5 % slow", |_, at| at_speed(at, 0.95)),
        ("a fifth slow", |_, at| at_speed(at, 0.8)),
        ("standing still", |_, _| Time::ZERO),
        ("jumping", jumping),
    ];
    for rival in ["rbbr", "cubic", "bbr"] {
        let honest = beside_flow(rival, &flow_by_timestamps(|_, at| at), 6);
        for (name, clock) in clocks {
            let liar = beside_flow(rival, &flow_by_timestamps(clock), 6);
            gains_a_tenth_at_most(&liar, &honest, &format!("{rival}, {name}"));
        }
    }
}

#[test]
fn a_receiver_that_reports_half_keeps_most_of_its_flows_share() {
    let honest = beside("rbbr", |_, rate| rate).of_first();
    let half = beside("rbbr", |_, rate| rate.mul_f64(0.5)).of_first();
    assert!(half > 0.6 * honest, "{half} instead of {honest}");
}

/// Whether the first flow's sender doubted a report.
#[derive(Debug, Default)]
struct Doubts {
    doubted: bool,
    used: bool,
}

impl Probe for Doubts {
    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        let feedback = ack.controller.and_then(|c| c.snapshot().feedback);
        let state = feedback.map(|f| f.state);
        self.used |= state == Some("used");
        self.doubted |= state == Some("doubted");
    }
}

#[test]
fn an_honest_receiver_is_believed_on_mobile_links() {
    for named in generate::named()
        .iter()
        .filter(|n| n.name.starts_with("4g"))
    {
        for seed in 0..2 {
            let link = named.model().generate(DURATION, seed).unwrap();
            let mut seen = Doubts::default();
            let flows = vec![flow("rbbr", |_, rate| rate)];
            run(Link::Rates(link), flows, seed, &mut seen);
            assert!(seen.used && !seen.doubted, "{}", named.name);
        }
    }
}
