//! Whole simulations with all metrics: packets over the bottleneck per wall second, one thread.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Duration as WallTime;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use lowtide_cc::units::{Duration, Rate};
use lowtide_lab::contender::Contenders;
use lowtide_lab::metrics::Meter;
use lowtide_lab::setting::{LinkSource, Setting, built_in};
use lowtide_sim::Simulation;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

fn constant((mbps, flows, seconds): (u64, usize, u64)) -> Setting {
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    let setting = Setting {
        duration: Duration::from_secs(seconds),
        ..Setting::on_link("constant", LinkSource::Fixed(Arc::new(link)))
    };
    setting.with_buffer(QueueLimit::Bdp(2.0)).with_flows(flows)
}

fn run(setting: &Setting, spec: &str) -> u64 {
    let contender = Contenders::default().parse(spec).unwrap();
    let config = setting.run_by(&contender).config(1).unwrap();
    let mut meter = Meter::new(&config);
    let outcome = Simulation::new(config).unwrap().run(&mut meter);
    std::hint::black_box(meter.finish());
    outcome.bottleneck_packets
}

fn simulation(c: &mut Criterion) {
    let mut group = c.benchmark_group("simulation");
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .measurement_time(WallTime::from_secs(5));
    let mut four_g = built_in()[0].setting();
    four_g.duration = Duration::from_secs(100);
    let constant = [
        ("bbr, 1 flow, 10 Mbit/s, 100 s", "bbr", (10, 1, 100)),
        ("bbr, 1 flow, 100 Mbit/s, 100 s", "bbr", (100, 1, 100)),
        ("bbr, 10 flows, 100 Mbit/s, 100 s", "bbr", (100, 10, 100)),
        ("bbr, 1 flow, 1 Gbit/s, 60 s", "bbr", (1000, 1, 60)),
        ("bbr, 100 flows, 1 Gbit/s, 20 s", "bbr", (1000, 100, 20)),
        ("bbr, 1000 flows, 1 Gbit/s, 20 s", "bbr", (1000, 1000, 20)),
        (
            "bbr, 10,000 flows, 1 Gbit/s, 20 s",
            "bbr",
            (1000, 10_000, 20),
        ),
        ("cubic, 1 flow, 100 Mbit/s, 100 s", "cubic", (100, 1, 100)),
    ];
    let constant = constant.map(|(name, spec, link)| (name, spec, self::constant(link)));
    let moving = ("bbr, 1 flow, 4G-like link, 100 s", "bbr", four_g);
    for (name, spec, setting) in constant.into_iter().chain([moving]) {
        group.throughput(Throughput::Elements(run(&setting, spec)));
        group.bench_function(name, |b| b.iter(|| run(&setting, spec)));
    }
    group.finish();
}

criterion_group!(benches, simulation);
criterion_main!(benches);
