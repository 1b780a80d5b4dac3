//! Cost of an acknowledgment for each controller: one packet sent, one acknowledged, and what a
//! host reads afterwards, in steady state. The sampler's own cost is measured beside them.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lowtide_cc::controller::{AckEvent, Controller};
use lowtide_cc::delivery_rate::{DeliveryRateSampler, PacketRateState};
use lowtide_cc::units::{Duration, Time};
use lowtide_cc::{Config, registry};

#[path = "../tests/controllers/events.rs"]
#[allow(dead_code, reason = "the controllers' tests need more of it")]
mod events;

use events::{MSS, ack, packet, sent};

/// One packet each 100 µs: 80 Mbit/s.
const GAP: Duration = Duration::from_micros(100);
const RTT: Duration = Duration::from_millis(40);
const WINDOW: u64 = 400;

/// A flow in steady state on an ideal link.
struct Flow {
    sampler: DeliveryRateSampler,
    states: Vec<(Time, PacketRateState)>,
    now: Time,
    number: u64,
}

impl Flow {
    fn new() -> Self {
        let mut flow = Self {
            sampler: DeliveryRateSampler::new(),
            states: vec![(Time::ZERO, PacketRateState::default()); WINDOW as usize],
            now: Time::ZERO + Duration::from_secs(1),
            number: 0,
        };
        for _ in 0..WINDOW {
            flow.send(None);
        }
        flow
    }

    fn send(&mut self, cc: Option<&mut dyn Controller>) {
        self.now += GAP;
        let inflight = MSS * self.number.min(WINDOW - 1);
        let state = self.sampler.on_packet_sent(self.now, MSS, inflight);
        self.states[(self.number % WINDOW) as usize] = (self.now, state);
        if let Some(cc) = cc {
            cc.on_packet_sent(&sent(self.now, self.number, inflight + MSS));
        }
        self.number += 1;
    }

    fn acknowledge(&mut self, cc: Option<&mut dyn Controller>) {
        let number = self.number - WINDOW;
        let (sent_at, state) = self.states[(number % WINDOW) as usize];
        self.sampler.on_packet_acked(self.now, MSS, sent_at, &state);
        let rate_sample = self.sampler.sample(RTT.div(2));
        if let Some(cc) = cc {
            let rtt = self.now.since(sent_at);
            cc.on_ack(&AckEvent {
                prior_inflight: MSS * WINDOW,
                inflight: MSS * (WINDOW - 1),
                rate_sample,
                ..ack(self.now, rtt, &[packet(number, sent_at)])
            });
        } else {
            black_box(rate_sample);
        }
    }
}

fn on_ack(c: &mut Criterion) {
    let mut group = c.benchmark_group("sent_and_acked");
    group.bench_function("(sampler alone)", |b| {
        let mut flow = Flow::new();
        b.iter(|| {
            flow.acknowledge(None);
            flow.send(None);
        });
    });
    for entry in registry::all() {
        group.bench_function(entry.name, |b| {
            let mut flow = Flow::new();
            let mut cc = registry::build(entry.name, &Config::for_datagram(MSS)).unwrap();
            b.iter(|| {
                flow.acknowledge(Some(&mut *cc));
                flow.send(Some(&mut *cc));
                black_box((cc.cwnd(), cc.pacing_rate(), cc.send_quantum()))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, on_ack);
criterion_main!(benches);
