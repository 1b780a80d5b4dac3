//! A simulation that both implementations go through.

use std::sync::{Arc, Mutex};

use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_cc::{Config, registry};
use lowtide_sim::link::Link;
use lowtide_sim::probe::Probe;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, SenderKind, SimConfig, Simulation};

use crate::side_by_side::{Seen, SideBySide, Tales};

pub(crate) const ONE_WAY: Duration = Duration::from_millis(20);

/// Watches nothing.
struct Unwatched;

impl Probe for Unwatched {}

pub(crate) fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

pub(crate) fn constant(mbps: u64) -> Link {
    Link::constant(Rate::from_mbps(mbps)).unwrap()
}

/// A simulation of one flow, both implementations its controller, and what is seen of them.
pub(crate) struct Run {
    config: SimConfig,
    seen: Arc<Mutex<Seen>>,
}

impl Run {
    pub(crate) fn over(link: Link, buffer: QueueLimit, seconds: u64) -> Self {
        Self::told(Tales::NONE, link, buffer, seconds)
    }

    pub(crate) fn told(tales: Tales, link: Link, buffer: QueueLimit, seconds: u64) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let tally = Arc::clone(&seen);
        let controller = move |config: &Config| {
            let both = SideBySide::new(config, tales, Arc::clone(&tally));
            Box::new(both) as Box<_>
        };
        let flows = vec![FlowConfig::bulk(SenderKind::controlled(controller))];
        let duration = Duration::from_secs(seconds);
        let config = SimConfig::over(link, buffer, ONE_WAY, flows, duration);
        Self { config, seen }
    }

    pub(crate) fn beside(mut self, rival: &'static str, start: Time, stop: Option<Time>) -> Self {
        let controller = |config: &Config| registry::build(rival, config).unwrap();
        self.config.flows.push(FlowConfig {
            sender: SenderKind::controlled(controller),
            start,
            stop,
            ..self.config.flows[0].clone()
        });
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut SimConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// What was seen of both, who did not differ.
    pub(crate) fn agrees(self, name: &str) -> Seen {
        Simulation::new(self.config).unwrap().run(&mut Unwatched);
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        println!("{name}: {seen:?}");
        if let Some(difference) = &seen.difference {
            panic!("{name}: {difference}");
        }
        assert!(seen.events > 100, "{name}: {} events", seen.events);
        seen
    }
}

pub(crate) fn report_arrivals(config: &mut SimConfig) {
    if let TransportConfig::Quic { timestamps, .. } = &mut config.flows[0].transport {
        *timestamps = true;
    }
}
