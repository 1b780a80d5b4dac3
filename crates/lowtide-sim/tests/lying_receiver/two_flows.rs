//! Two flows over one link.

use lowtide_cc::units::Duration;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{FlowConfig, Probe, SimConfig, Simulation};

pub(crate) const ONE_WAY: Duration = Duration::from_millis(20);
pub(crate) const DURATION: Duration = Duration::from_secs(60);

pub(crate) fn run(link: Link, flows: Vec<FlowConfig>, seed: u64, probe: &mut impl Probe) {
    run_over(link, ONE_WAY, flows, seed, probe);
}

pub(crate) fn run_over(
    link: Link,
    one_way: Duration,
    flows: Vec<FlowConfig>,
    seed: u64,
    probe: &mut impl Probe,
) {
    let mut config = SimConfig::over(link, QueueLimit::Bdp(2.0), one_way, flows, DURATION);
    config.seed = seed;
    Simulation::new(config).unwrap().run(probe);
}

/// What the first of two flows got, and what both waited.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub(crate) bytes: [u64; 2],
    rtt: Duration,
    samples: u64,
}

impl Shares {
    pub(crate) fn of_first(&self) -> f64 {
        self.bytes[0] as f64 / (self.bytes[0] + self.bytes[1]) as f64
    }

    pub(crate) fn mean_rtt(&self) -> f64 {
        self.rtt.as_secs_f64() / self.samples as f64
    }
}

impl Probe for Shares {
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.bytes[delivery.flow] += delivery.bytes.get();
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        if let Some(rtt) = ack.rtt {
            self.rtt += rtt;
            self.samples += 1;
        }
    }
}
