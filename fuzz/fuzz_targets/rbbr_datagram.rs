//! Any datagrams at any times: none but whole frames is taken, and the estimate stays a rate.
#![no_main]

use std::sync::Arc;
use std::time::{Duration, Instant};

use lowtide_cc::controllers::rbbr::frame::LENGTH;
use lowtide_noq::{Controllers, Extension, Factory};
use noq_proto::ConnectionStats;
use noq_proto::congestion::ControllerFactory;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let base = Instant::now();
    let controllers = Arc::new(Controllers::from(Factory::new("rbbr").unwrap().with_seed(1)));
    let mut controller = controllers.build(base, 1200);
    let mut extension = Extension::new(controller.clone_box());
    let mut stats = ConnectionStats::default();
    let (mut rest, mut number) = (input, 0);
    // Time step, received bytes and frames, length of the datagram, the datagram.
    while let [step, bytes, frames, length, tail @ ..] = rest {
        let now = base + Duration::from_micros(u64::from(*step) * 977 * number);
        let (payload, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        number += 1;
        if extension.on_datagram(now, payload) {
            assert_eq!(payload.len(), LENGTH);
        }
        // Counters may go back: a path that is closed takes its own with it.
        stats.udp_rx.bytes = u64::from(*bytes) * 1_000_003 * u64::from(*step);
        stats.frame_rx.stream = u64::from(*frames);
        stats.frame_rx.datagram = number / 2;
        extension.on_received(now, &stats);
        if let Some(payload) = extension.poll_datagram(now) {
            assert_eq!(payload.len(), LENGTH);
        }
        assert!(extension.estimate().is_none_or(|rate| !rate.is_zero()));
        controller.on_packet_sent(now, 1200, number);
        assert!(controller.window() > 0);
        assert!(controller.metrics().pacing_rate.is_none_or(|rate| rate > 0));
    }
});
