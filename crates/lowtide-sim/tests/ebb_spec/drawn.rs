//! Networks drawn at random.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_sim::impairment::{Aggregation, Jitter, LossModel, MovingDelay};
use lowtide_sim::link::Link;
use lowtide_sim::queue::{Policer, QueueLimit};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::generate;
use lowtide_sim::transport::TransportConfig;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::run::{Run, at, report_arrivals};

/// How many are drawn.
pub(crate) const NETWORKS: u64 = 300;

const SECONDS: u64 = 30;

struct Dice(Pcg64Mcg);

impl Dice {
    fn uniform(&mut self, from: f64, to: f64) -> f64 {
        let share = (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        from + share * (to - from)
    }

    /// Each octave is as likely as any other.
    fn octaves(&mut self, from: f64, to: f64) -> f64 {
        from * (self.uniform(0.0, 1.0) * (to / from).ln()).exp()
    }

    fn ms(&mut self, from: f64, to: f64) -> Duration {
        Duration::from_nanos((self.octaves(from, to) * 1e6) as u64)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.0.next_u64().is_multiple_of(n)
    }
}

/// The same for the same seed.
pub(crate) fn network(seed: u64) -> Run {
    let mut dice = Dice(Pcg64Mcg::seed_from_u64(seed));
    let rate = Rate::from_mbps(10).mul_f64(dice.octaves(0.05, 5.0));
    let link = if dice.one_in(3) {
        let models = generate::named();
        let model = models[(dice.0.next_u64() % models.len() as u64) as usize].model();
        let schedule = model.generate(Duration::from_secs(SECONDS), seed).unwrap();
        Link::Rates(schedule.scaled_to(rate).unwrap())
    } else {
        Link::constant(rate).unwrap()
    };
    let one_way = dice.ms(2.0, 100.0);
    let buffer = QueueLimit::Bdp(dice.octaves(0.25, 8.0));
    let mut run = Run::over(link, buffer, SECONDS);
    for _ in 0..3 {
        if dice.one_in(3) {
            let rivals = ["cubic", "cubic", "newreno", "bbr", "ebb"];
            let rival = rivals[(dice.0.next_u64() % rivals.len() as u64) as usize];
            let start = dice.0.next_u64() % 10;
            let stop = dice.one_in(2).then_some(at(20));
            run = run.beside(rival, at(start), stop);
        }
    }
    run.with(|config| {
        config.seed = seed;
        config.forward.delay = one_way;
        config.reverse.delay = one_way;
        if dice.one_in(3) {
            config.forward.loss = LossModel::Random(dice.octaves(0.001, 0.1));
        }
        if dice.one_in(4) {
            config.forward.jitter = Some(Jitter {
                max: dice.ms(0.1, 20.0),
                reorder: dice.one_in(2),
            });
        }
        if dice.one_in(4) {
            let period = dice.ms(1.0, 50.0);
            config.reverse.aggregation = Some(Aggregation::every(period));
        }
        if dice.one_in(2) {
            let later = [(at(12), one_way + dice.ms(2.0, 100.0))];
            let delay = MovingDelay::stepped(one_way, &later).unwrap();
            config.forward.moving = Some(Arc::new(delay));
        }
        if dice.one_in(8) {
            config.forward.policer = Some(Policer {
                rate: rate.mul_f64(0.7),
                burst: Bytes::new(30_000),
            });
        }
        let flow = &mut config.flows[0];
        if dice.one_in(4) {
            flow.source = SourceConfig::Video {
                rate: rate.mul_f64(dice.uniform(0.3, 0.9)),
                fps: 30,
                spread: 0.3,
            };
        }
        if dice.one_in(4) {
            flow.transport = TransportConfig::tcp();
        } else if dice.one_in(3) {
            report_arrivals(config);
        }
    })
}
