//! A queue from any spec, before a link that any packets come to.
#![no_main]

use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::link::Link;
use lowtide_sim::network::Packet;
use lowtide_sim::queue::{QueueKind, QueueLimit};
use lowtide_sim::{AccessConfig, Direction, Network, NetworkConfig, PipeConfig};

libfuzzer_sys::fuzz_target!(|input: (&str, Vec<(u8, u8, u16)>)| {
    let (spec, packets) = input;
    let Ok(kind) = QueueKind::parse(spec) else {
        return;
    };
    let Ok(link) = Link::constant(Rate::from_mbps(10)) else {
        return;
    };
    let delay = Duration::from_millis(1);
    let mut forward = PipeConfig::link_with_delay(Arc::new(link), QueueLimit::Packets(20), delay);
    forward.queue = kind;
    let mut network = Network::new(&NetworkConfig {
        forward,
        reverse: PipeConfig::delay_only(delay),
        access: vec![AccessConfig::default(); 4],
        base_rtt: delay * 2,
        seed: 1,
    });
    let (mut now, sent) = (Time::ZERO, packets.len());
    let mut arrived = 0;
    for (flow, pause, bytes) in packets {
        now += Duration::from_micros(u64::from(pause).pow(2));
        while network.advance(now, &mut ()).is_some() {
            arrived += 1;
        }
        let packet = Packet {
            flow: u32::from(flow % 4),
            bytes: Bytes::new(u64::from(bytes)),
            ecn: Ecn::from_bits(flow >> 2),
            payload: (),
        };
        network.send(now, Direction::Forward, packet, &mut ());
    }
    while network.advance(Time::MAX, &mut ()).is_some() {
        arrived += 1;
    }
    assert!(arrived <= sent, "{arrived} of {sent}");
});
