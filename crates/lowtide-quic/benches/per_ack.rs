//! Cost of an acknowledgment through s2n-quic's own interface: our controllers with their host
//! beside s2n-quic's BBR and CUBIC, all in the same sequence of events.
//!
//! A flow in steady state, 96 Mbit/s and 40 ms: packets leave each 100 µs, an acknowledgment covers
//! one of them or ten (s2n-quic's default), and after each event the transport asks what it asks
//! s2n-quic's own: window, departure time, send quantum. Only ratios count.
#![allow(missing_docs)]

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use lowtide_cc::registry;
use lowtide_quic::{Controllers, Factory};
use s2n_quic::provider::congestion_controller::{
    Bbr, CongestionController, Cubic, Endpoint, PathInfo, Publisher, RttEstimator, Timestamp,
};
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::path::mtu;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::time::{Clock, NoopClock};

const SIZE: usize = 1200;
const GAP: Duration = Duration::from_micros(100);
const RTT: Duration = Duration::from_millis(40);
/// Packets in flight: a round trip of them.
const FLIGHT: usize = 400;

/// Nobody listens, as on an endpoint without a subscriber.
struct Silent;

impl Publisher for Silent {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _window: u32) {}
    fn on_delivery_rate_sampled(&mut self, _sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _rate: Bandwidth, _burst: u32, _gain: Ratio) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

type Ratio = num_rational::Ratio<u64>;

/// The same numbers in each run.
struct Numbers(u8);

impl Generator for Numbers {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        self.0 = self.0.wrapping_mul(167).wrapping_add(13);
        dest.fill(self.0);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.public_random_fill(dest);
    }
}

struct Flow<C: CongestionController> {
    controller: C,
    rtt: RttEstimator,
    numbers: Numbers,
    now: Timestamp,
    sent: VecDeque<(Timestamp, C::PacketInfo)>,
}

impl<C: CongestionController> Flow<C> {
    fn new<E: Endpoint<CongestionController = C>>(mut endpoint: E) -> Self {
        let address = SocketAddress::default();
        let path = PathInfo::new(&mtu::Config::default(), &address);
        let mut flow = Self {
            controller: endpoint.new_congestion_controller(path),
            rtt: RttEstimator::new(RTT),
            numbers: Numbers(1),
            now: NoopClock.get_time() + Duration::from_secs(1),
            sent: VecDeque::with_capacity(2 * FLIGHT),
        };
        for _ in 0..FLIGHT {
            flow.send();
        }
        flow
    }

    fn send(&mut self) {
        self.now += GAP;
        let info =
            self.controller
                .on_packet_sent(self.now, SIZE, Some(false), &self.rtt, &mut Silent);
        self.sent.push_back((self.now, info));
        self.ask();
    }

    fn acknowledge(&mut self, packets: usize) {
        let (sent_at, info) = self.sent[packets - 1];
        self.sent.drain(..packets);
        let (now, space) = (self.now, PacketNumberSpace::ApplicationData);
        self.rtt
            .update_rtt(Duration::ZERO, now - sent_at, now, true, space);
        self.controller
            .on_rtt_update(sent_at, now, &self.rtt, &mut Silent);
        self.controller.on_ack(
            sent_at,
            packets * SIZE,
            info,
            &self.rtt,
            &mut self.numbers,
            now,
            &mut Silent,
        );
        self.ask();
    }

    fn ask(&self) {
        black_box((
            self.controller.congestion_window(),
            self.controller.is_congestion_limited(),
            self.controller.earliest_departure_time(),
            self.controller.send_quantum(),
        ));
    }
}

fn bench<E: Endpoint>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    packets: usize,
    endpoint: E,
) {
    let mut flow = Flow::new(endpoint);
    // Past Startup and slow start.
    for _ in 0..20 * FLIGHT {
        for _ in 0..packets {
            flow.send();
        }
        flow.acknowledge(packets);
    }
    group.bench_function(name, |b| {
        b.iter(|| {
            for _ in 0..packets {
                flow.send();
            }
            flow.acknowledge(packets);
        });
    });
}

fn per_ack(c: &mut Criterion) {
    for packets in [1, 10] {
        let mut group = c.benchmark_group(format!("{packets}_packets_an_acknowledgment"));
        group.throughput(Throughput::Elements(packets as u64));
        bench(&mut group, "s2n-quic's BBR", packets, Bbr::default());
        bench(&mut group, "s2n-quic's CUBIC", packets, Cubic::default());
        for entry in registry::all() {
            let factory = Factory::new(entry.name).unwrap().with_seed(1);
            bench(&mut group, entry.name, packets, Controllers::from(factory));
        }
        group.finish();
    }
}

criterion_group!(benches, per_ack);
criterion_main!(benches);
