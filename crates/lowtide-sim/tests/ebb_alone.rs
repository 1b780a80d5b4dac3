//! ebb on links of its own.

use lowtide_cc::registry;
use lowtide_cc::units::{Duration, Time};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::probe::AckSeen;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::trace::generate;
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig, Simulation};

const DURATION: Duration = Duration::from_secs(60);

/// How often the flow took the queue for others', and for how long.
#[derive(Debug, Default)]
struct Competes {
    entries: u32,
    on_since: Option<Time>,
    span: Duration,
}

impl Probe for Competes {
    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        let phase = ack.controller.map(|c| c.snapshot().phase);
        // Drains belong to the mode in which they begin.
        match (phase, self.on_since) {
            (Some("Compete"), None) => {
                self.entries += 1;
                self.on_since = Some(ack.now);
            }
            (Some("Compete"), Some(since)) => {
                self.span += ack.now.since(since);
                self.on_since = Some(ack.now);
            }
            (Some("Steady"), Some(_)) => self.on_since = None,
            _ => {}
        }
    }
}

fn run(link: Link, buffer: QueueLimit, loss: f64, seed: u64) -> Competes {
    let one_way = Duration::from_millis(20);
    let spec = registry::parse("ebb").unwrap();
    let flows = vec![FlowConfig::bulk(SenderKind::of(&spec))];
    let mut config = SimConfig::over(link, buffer, one_way, flows, DURATION);
    config.seed = seed;
    config.forward.loss = LossModel::Random(loss);
    let mut seen = Competes::default();
    Simulation::new(config).unwrap().run(&mut seen);
    seen
}

#[test]
fn it_never_takes_its_own_queue_for_anothers() {
    let mut failures = Vec::new();
    for named in generate::named() {
        for buffer in [QueueLimit::Unlimited, QueueLimit::Bdp(2.0)] {
            for loss in [0.0, 0.01] {
                for seed in 0..2 {
                    let link = Link::Rates(named.model().generate(DURATION, seed).unwrap());
                    let seen = run(link, buffer, loss, seed);
                    if seen.entries > 0 {
                        let name = named.name;
                        failures.push(format!("{name} {buffer:?} {loss} seed {seed}: {seen:?}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
