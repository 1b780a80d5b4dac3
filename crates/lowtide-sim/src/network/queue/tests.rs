//! What holds for every discipline.

use std::collections::HashMap;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;

use super::*;
use crate::network::packet::Handle;

const ECN: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { flow: u32, bytes: u64 },
    Leave,
    Pause { us: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u32..8, 40_u64..1_500).prop_map(|(flow, bytes)| Step::Arrive { flow, bytes }),
        3 => Just(Step::Leave),
        1 => (0_u64..30_000).prop_map(|us| Step::Pause { us }),
    ]
}

proptest! {
    #[test]
    fn each_packet_leaves_or_is_dropped_once_and_those_of_a_flow_in_order(
        steps in prop::collection::vec(step(), 1..500),
        packets in prop_oneof![Just(u64::MAX), 0_u64..40],
    ) {
        for entry in QUEUES {
            let kind = QueueKind::parse(entry.name).unwrap();
            let capacity = Capacity { packets, bytes: Bytes::new(30_000) };
            let mut queue = Queue::new(&QueueSetup { kind, capacity, link: Arc::new(Link::constant(Rate::from_mbps(12)).unwrap()), seed: 1 });
            let mut inside: HashMap<u32, Handle> = HashMap::new();
            let mut last_of_flow = [None; 8];
            let (mut now, mut id) = (Time::ZERO, 0);
            for step in &steps {
                let mut dropped = Vec::new();
                match *step {
                    Step::Pause { us } => now += Duration::from_micros(us),
                    Step::Arrive { flow, bytes } => {
                        let packet = Handle::new(id, flow, Bytes::new(bytes), ECN[flow as usize % 4]);
                        id += 1;
                        inside.insert(packet.id(), packet);
                        queue.enqueue(now, packet, |packet, _| dropped.push(packet));
                    }
                    Step::Leave => {
                        let next = queue.dequeue(now, |packet, _| dropped.push(packet));
                        if let Some(Waiting { packet, .. }) = next {
                            let came = inside.remove(&packet.id()).expect("came and has not left");
                            prop_assert_eq!((came.flow(), came.bytes), (packet.flow(), packet.bytes));
                            let is_marked = packet.ecn() == Ecn::Ce && came.ecn().is_capable();
                            prop_assert!(is_marked || packet.ecn() == came.ecn(), "{}", entry.name);
                            let last = &mut last_of_flow[packet.flow() as usize];
                            prop_assert!(*last < Some(packet.id()), "{}: reordered", entry.name);
                            *last = Some(packet.id());
                        }
                    }
                }
                for packet in dropped {
                    prop_assert!(inside.remove(&packet.id()).is_some(), "{}", entry.name);
                }
                let bytes: Bytes = inside.values().map(|packet| packet.bytes).sum();
                prop_assert_eq!(queue.bytes(), bytes, "{}", entry.name);
                prop_assert!(capacity.holds(inside.len() as u64, bytes), "{}", entry.name);
            }
            while let Some(next) = queue.dequeue(now, |packet, _| { inside.remove(&packet.id()); }) {
                inside.remove(&next.packet.id());
            }
            prop_assert!(inside.is_empty(), "{}: {} packets are stuck", entry.name, inside.len());
        }
    }
}
