//! The simulator keeps the contract between controllers and hosts, whatever the network does.

use std::sync::{Arc, Mutex};

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_cc::{Config, Transport, registry};
use lowtide_host::contract;
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel};
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, PipeConfig, SenderKind, SimConfig, Simulation};
use proptest::prelude::*;

const PACKET: Bytes = Bytes::new(1_500);

fn pipe(link: Link, delay: Duration) -> impl Strategy<Value = PipeConfig> {
    let link = Arc::new(link);
    let impairments = (
        prop::option::of(0.001..0.2_f64),
        prop::option::of((1_u64..80, any::<bool>())),
        prop::option::of(1_u64..40),
        1_u64..100,
    );
    impairments.prop_map(move |(loss, jitter, aggregation, packets)| {
        let ms = Duration::from_millis;
        PipeConfig {
            loss: loss.map_or(LossModel::None, LossModel::Random),
            jitter: jitter.map(|(max, reorder)| Jitter {
                max: ms(max),
                reorder,
            }),
            aggregation: aggregation.map(|period| Aggregation::every(ms(period))),
            ..PipeConfig::link_with_delay(link.clone(), QueueLimit::Bytes(PACKET * packets), delay)
        }
    })
}

fn source() -> impl Strategy<Value = SourceConfig> {
    let on_off = SourceConfig::OnOff {
        on: Duration::from_millis(300),
        off: Duration::from_millis(700),
        rate: Rate::from_mbps(4),
    };
    prop_oneof![
        Just(SourceConfig::Bulk),
        Just(SourceConfig::ConstantRate(Rate::from_mbps(1))),
        Just(on_off),
        (1_u64..400).prop_map(|kb| SourceConfig::Sized(Bytes::new(kb * 1000))),
    ]
}

fn transport() -> impl Strategy<Value = TransportConfig> {
    prop_oneof![
        Just(TransportConfig::quic()),
        Just(TransportConfig::tcp()),
        Just(TransportConfig::Tcp {
            min_rto: Duration::from_millis(200),
            delayed_ack: Duration::from_millis(40),
            sack: false,
        }),
    ]
}

fn network() -> impl Strategy<Value = SimConfig> {
    let rate = (1_u64..30).prop_map(|mbps| Link::constant(Rate::from_mbps(mbps)).unwrap());

    (rate, 2_u64..150, any::<u64>()).prop_flat_map(|(link, one_way, seed)| {
        let delay = Duration::from_millis(one_way);
        let pipes = (pipe(link, delay), pipe(Link::unlimited(), delay));
        pipes.prop_map(move |(forward, reverse)| SimConfig {
            forward,
            reverse,
            flows: Vec::new(),
            duration: Duration::from_secs(8),
            packet_size: PACKET,
            ack_size: Bytes::new(40),
            seed,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_simulator_keeps_the_contract(
        mut network in network(),
        transport in transport(),
        source in source(),
        controller in prop::sample::select(vec!["bbr", "bbr3", "cubic", "newreno", "bbr-s"]),
    ) {
        let spec = registry::parse(controller).unwrap();
        let record = match transport {
            TransportConfig::Quic { .. } => contract::recorded,
            TransportConfig::Tcp { .. } => contract::recorded_tcp,
        };
        let (controller, notes) = record(Arc::new(move |config| spec.build(config)));
        network.flows.push(FlowConfig {
            transport,
            source,
            ..FlowConfig::bulk(SenderKind::Controlled { controller, estimator: None })
        });
        let rtt = network.forward.delay + network.reverse.delay;
        Simulation::new(network).unwrap().run(&mut ());
        let notes = notes.lock().unwrap();
        // Before a buffer of a packet, a lossy path may lose all that TCP sends without SACK in so short a
        // time; where that were the rule, too few cases would be left.
        prop_assume!(notes.acked_packets > 0);
        prop_assert!(notes.breaches.is_empty(), "{:#?}", notes.breaches.first());
        // Also where TCP repeated what arrived after all.
        prop_assert!(notes.least_age >= Some(rtt), "{:?} after sending", notes.least_age);
    }
}

#[test]
fn a_controller_is_told_which_transport_carries_it() {
    for (transport, expected) in [
        (TransportConfig::quic(), Transport::Quic),
        (TransportConfig::tcp(), Transport::Tcp),
    ] {
        let told = Arc::new(Mutex::new(None));
        let record = told.clone();
        let controller = move |config: &Config| {
            *record.lock().unwrap() = Some(config.transport);
            registry::build("newreno", config).unwrap()
        };
        let flow = FlowConfig {
            transport,
            ..FlowConfig::bulk(SenderKind::controlled(controller))
        };
        let link = Link::constant(Rate::from_mbps(10)).unwrap();
        let ms = Duration::from_millis;
        let config = SimConfig::over(link, QueueLimit::Packets(20), ms(20), vec![flow], ms(100));
        Simulation::new(config).unwrap();
        assert_eq!(*told.lock().unwrap(), Some(expected));
    }
}
