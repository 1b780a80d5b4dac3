//! Cost of one update of each estimator.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use lowtide_cc::estimators::normal::TobitTerms;
use lowtide_cc::estimators::{
    Adaptation, AdaptiveKalman, ArrivalForecast, Ewma, Maximum, Noise, SlopeFit, TobitKalman,
    Windowed,
};
use lowtide_cc::units::{Bytes, Duration, Time};

const NOISE: Noise = Noise {
    state_variance: 1.0,
    process: 0.01,
    measurement: 1.0,
};

/// Measurements that vary a little around 10.
struct Measurements(u32);

impl Measurements {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        9.0 + f64::from(self.0 >> 16) / 32_768.0
    }
}

fn filters(c: &mut Criterion) {
    let mut group = c.benchmark_group("update");
    group.bench_function("Windowed", |b| {
        let mut measurements = Measurements(1);
        let mut filter = Windowed::<f64, Maximum>::new(10);
        let mut round = 0;
        b.iter(|| {
            round += 1;
            black_box(filter.update(round, measurements.next()))
        });
    });
    group.bench_function("Ewma", |b| {
        let mut measurements = Measurements(1);
        let mut filter = Ewma::new(0.125);
        b.iter(|| black_box(filter.update(measurements.next())));
    });
    group.bench_function("AdaptiveKalman", |b| {
        let mut measurements = Measurements(1);
        let mut filter = AdaptiveKalman::new(10.0, NOISE, 0.6);
        b.iter(|| black_box(filter.update(measurements.next())));
    });
    for ceiling in [12.5, 10.0, 6.0] {
        group.bench_function(BenchmarkId::new("TobitKalman", ceiling), |b| {
            let mut measurements = Measurements(1);
            let mut filter = TobitKalman::new(10.0, NOISE, Adaptation::DEFAULT);
            b.iter(|| black_box(filter.update(measurements.next().min(ceiling), ceiling)));
        });
    }
    group.bench_function("ArrivalForecast", |b| {
        let mut measurements = Measurements(1);
        let mut forecast = ArrivalForecast::new();
        b.iter(|| {
            forecast.step(Some(measurements.next() as u32));
            black_box(forecast.arrivals(0.05))
        });
    });
    group.bench_function("SlopeFit", |b| {
        let mut fit = SlopeFit::default();
        let mut now = Time::ZERO;
        b.iter(|| {
            now += Duration::from_micros(100);
            fit.push(now, Duration::from_millis(40), Bytes::new(1200));
            black_box(&fit);
        });
    });
    group.finish();

    let mut group = c.benchmark_group("TobitTerms");
    for eta in [0.0, -5.1, -30.0] {
        group.bench_function(BenchmarkId::from_parameter(eta), |b| {
            b.iter(|| TobitTerms::at(black_box(eta)));
        });
    }
    group.finish();
}

criterion_group!(benches, filters);
criterion_main!(benches);
