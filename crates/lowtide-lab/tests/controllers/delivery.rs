//! Whatever the path does, a transport delivers all of its data.

use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_lab::contender::Contenders;
use lowtide_lab::setting::{Group, LinkSource, Setting};
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel};
use lowtide_sim::link::Link;
use lowtide_sim::probe::Delivery;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{Probe, Simulation};
use proptest::prelude::*;

#[derive(Default)]
struct Watch {
    first_copies: Bytes,
    completed_at: Option<Time>,
}

impl Probe for Watch {
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        if delivery.first_copy {
            self.first_copies += delivery.bytes;
        }
    }

    fn on_flow_complete(&mut self, _flow: usize, now: Time) {
        self.completed_at = Some(now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn every_byte_arrives_once_and_the_flow_completes(
        controller in 0..registry::all().len(),
        tcp in any::<bool>(),
        volume in 1_u64..2_000_000,
        loss in 0.0..0.2_f64,
        ack_loss in 0.0..0.2_f64,
        jitter_ms in 0_u64..40,
        reorder in any::<bool>(),
        aggregation_ms in 0_u64..30,
        buffer in 1_u64..200,
        seed in any::<u64>(),
    ) {
        let link = Link::constant(Rate::from_mbps(20)).unwrap();
        let contender = Contenders::default().parse(registry::all()[controller].name).unwrap();
        let group = Group {
            transport: if tcp { TransportConfig::tcp() } else { TransportConfig::quic() },
            source: SourceConfig::Sized(Bytes::new(volume)),
            ..Group::of(contender)
        };
        let mut setting = Setting {
            groups: vec![group],
            duration: Duration::from_secs(3600),
            ..Setting::on_link("rough", LinkSource::Fixed(Arc::new(link)))
        };
        let (forward, back) = (&mut setting.forward, &mut setting.back);
        forward.buffer = QueueLimit::Packets(buffer);
        forward.loss = LossModel::Random(loss);
        forward.jitter = Some(Jitter { max: Duration::from_millis(jitter_ms), reorder });
        back.loss = LossModel::Random(ack_loss);
        back.aggregation = Some(Aggregation::every(Duration::from_millis(aggregation_ms)));
        let mut watch = Watch::default();
        let config = setting.config(seed).unwrap();
        Simulation::new(config).unwrap().run(&mut watch);
        prop_assert_eq!(watch.first_copies, Bytes::new(volume));
        prop_assert!(watch.completed_at.is_some());
    }
}
