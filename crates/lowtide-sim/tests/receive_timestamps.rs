//! Controllers are told when packets arrived, where the flow's receiver reports it.

use std::collections::HashMap;

use lowtide_cc::controller::AckedPacket;
use lowtide_cc::registry;
use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::trace::generate;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

/// The grain of reported times.
const TICK: Duration = Duration::from_micros(16);

/// What the controller was told of its packets, and when packets sent at a time arrived.
#[derive(Debug, Default)]
struct Watch {
    told: Vec<AckedPacket>,
    rtt: Duration,
    rtts: u64,
    /// What the controller made of feedback, last.
    feedback: Option<&'static str>,
    arrived: HashMap<Time, Vec<Time>>,
}

impl Probe for Watch {
    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        self.told.extend(ack.packets);
        self.rtt += ack.rtt.unwrap_or_default();
        self.rtts += u64::from(ack.rtt.is_some());
        let snapshot = ack.controller.map(|c| c.snapshot());
        self.feedback = snapshot.and_then(|s| s.feedback).map(|f| f.state);
    }
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        let arrived = self.arrived.entry(delivery.sent_at).or_default();
        arrived.push(delivery.now);
    }
}

impl Watch {
    fn mean_rtt(&self) -> f64 {
        self.rtt.as_secs_f64() / self.rtts as f64
    }
}

/// Ten seconds of BBR at 20 Mbit/s where this share of the acknowledgments is lost.
fn run(transport: TransportConfig, ack_loss: f64) -> Watch {
    let link = Link::constant(Rate::from_mbps(20)).unwrap();
    run_by("bbr", transport, link, 10, ack_loss)
}

fn run_by(
    spec: &str,
    transport: TransportConfig,
    link: Link,
    seconds: u64,
    ack_loss: f64,
) -> Watch {
    let one_way = Duration::from_millis(20);
    let flow = FlowConfig {
        transport,
        ..FlowConfig::bulk(SenderKind::of(&registry::parse(spec).unwrap()))
    };
    let duration = Duration::from_secs(seconds);
    let mut config = SimConfig::over(link, QueueLimit::Unlimited, one_way, vec![flow], duration);
    config.reverse.loss = LossModel::Random(ack_loss);
    let mut watch = Watch::default();
    Simulation::new(config).unwrap().run(&mut watch);
    assert!(watch.told.len() > 10_000, "{} packets", watch.told.len());
    watch
}

fn reporting(every: u32) -> TransportConfig {
    let mut config = TransportConfig::quic();
    if let TransportConfig::Quic {
        ack_every,
        timestamps,
        ..
    } = &mut config
    {
        *ack_every = every;
        *timestamps = true;
    }
    config
}

#[test]
fn each_packets_arrival_is_known_to_a_tick_on_a_clock_that_runs_as_the_receivers() {
    for every in [1, 2, 50] {
        let watch = run(reporting(every), 0.0);
        let mut offset = None;
        for packet in &watch.told {
            let reported = packet.received_at.expect("no acknowledgment was lost");
            let happened = &watch.arrived[&packet.sent_at];
            let behind = |at: &Time| at.since(reported);
            let offset = *offset.get_or_insert_with(|| behind(&happened[0]));
            let is_exact = |at: &Time| behind(at) < offset + TICK && behind(at) + TICK > offset;
            assert!(happened.iter().any(is_exact), "{packet:?}, {happened:?}");
        }
    }
}

#[test]
fn a_lost_acknowledgment_takes_no_timestamps_with_it_two_in_a_row_do() {
    let packets = run(reporting(2), 0.1).told;
    let unknown = packets.iter().filter(|p| p.received_at.is_none()).count();
    let share = unknown as f64 / packets.len() as f64;
    assert!((0.005..0.02).contains(&share), "{share}");
}

#[test]
fn who_reports_nothing_is_not_guessed_at() {
    for transport in [TransportConfig::quic(), TransportConfig::tcp()] {
        let packets = run(transport, 0.0).told;
        assert!(packets.iter().all(|p| p.received_at.is_none()));
    }
}

#[test]
fn rbbr_needs_no_estimator_at_a_receiver_that_reports_arrivals() {
    let link = || {
        let model = generate::named()
            .iter()
            .find(|n| n.name == "4g-mobility")
            .unwrap()
            .model();
        Link::Rates(model.generate(Duration::from_secs(60), 1).unwrap())
    };
    let frame = run_by("rbbr", TransportConfig::quic(), link(), 60, 0.0);
    let from_timestamps = "rbbr:from=timestamps";
    let timestamps = run_by(from_timestamps, reporting(2), link(), 60, 0.0);
    let throughput = timestamps.told.len() as f64 / frame.told.len() as f64;
    let rtt = timestamps.mean_rtt() / frame.mean_rtt();
    println!("throughput × {throughput}, RTT × {rtt}");
    assert!((0.97..1.03).contains(&throughput), "{throughput}");
    assert!((0.97..1.03).contains(&rtt), "{rtt}");
    assert_eq!(timestamps.feedback, Some("used"));
    let without = run_by(from_timestamps, TransportConfig::quic(), link(), 60, 0.0);
    assert_eq!(without.feedback, None, "by its acknowledgments alone");
}
