//! Programs behind a link in real time, as the lab shows simulated flows.
//!
//! [`Program`] is all that goes over a link, as one flow whatever it is; [`Programs`] are the flows of a
//! setting. The link knows what came, what passed, what
//! was dropped and how long it took; what only its sender knows is missing: windows, phases, which
//! data was sent again. The RTT is what a sender would see whose packets are acknowledged at once:
//! the path's, and the packet's own time in the queue and on the link.

mod flows;
mod link_view;
mod obstacle;
mod sender_log;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::Probe;
use lowtide_sim::link::LinkError;
use lowtide_sim::probe::{Delivery, Departure, DropCause, Sent};
use serde::Serialize;

pub use self::flows::{Programs, UNKNOWN};
use self::link_view::LinkView;
pub use self::obstacle::{MAX_PROGRAMS, obstacle};
pub use self::sender_log::SenderLog;
use crate::compare::{Comparison, Entry, Role};
use crate::measure::Gauges;
use crate::metrics::Meter;
use crate::run::{self, Keep};
use crate::setting::{LinkSource, Setting};

/// Name of a program among controllers.
pub const NAME: &str = "your program";

/// Metrics that the link alone does not show.
const UNKNOWN_OF_ALL: [&str; 2] = ["goodput_mbps", "retransmitted_share"];

/// How long a timeline is before it grows.
const FIRST_LENGTH: Duration = Duration::from_secs(30);

/// Watches what a program does with a link, in memory that does not grow with time.
#[derive(Debug)]
pub struct Program {
    setting: Setting,
    view: LinkView,
    /// At least from the link to the far end.
    from_link: Duration,
    /// When its first packet came.
    first: Option<Time>,
    last_delivery: Time,
    delivered: Bytes,
    /// When something was seen last.
    last: Time,
}

/// What a program did while it sent at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Active {
    /// When its first packet came to the link, seconds.
    pub from_s: f64,
    /// When its last packet arrived behind the link, seconds.
    pub to_s: f64,
    /// The program's rate in that time, Mbit/s.
    pub throughput_mbps: f64,
    /// The program's share of what the link offered in that time.
    pub utilisation: f64,
}

/// What a program did with a link.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The link, for as long as it was watched: where others can be compared with the program.
    pub setting: Setting,
    /// The program's part of a comparison.
    pub entry: Entry,
    /// While it sent; `None` when nothing arrived.
    pub active: Option<Active>,
}

impl Program {
    /// Watches a link with this setting, and this seed. Of its flows nothing matters.
    ///
    /// # Errors
    /// When the link cannot be made.
    pub fn new(setting: &Setting, seed: u64) -> Result<Self, LinkError> {
        let mut config = setting.config(seed)?;
        // One link for the program and for all that it is compared with, however long that takes:
        // a generated one would change with the length of the run.
        let mut setting = setting.clone();
        setting.forward.link = LinkSource::Fixed(Arc::clone(&config.forward.link));
        config.duration = Duration::MAX;
        let meter = Meter::new(&config);
        config.duration = FIRST_LENGTH;
        let view = LinkView::new(&config, (meter, Gauges::new()), setting.back.delay);
        Ok(Self {
            setting,
            view,
            from_link: config.forward.least_delay(),
            first: None,
            last_delivery: Time::ZERO,
            delivered: Bytes::ZERO,
            last: Time::ZERO,
        })
    }

    /// What the program has done in all the time until `end`, rounded up to a millisecond.
    #[must_use]
    pub fn finish(self, end: Duration) -> Watched {
        const STEP: Duration = Duration::from_millis(1);
        let end = end.max(self.last.since(Time::ZERO)).max(STEP);
        let end = STEP * end.as_nanos().div_ceil(STEP.as_nanos());
        let active = self.active();
        let LinkView {
            mut meters,
            mut timeline,
            ..
        } = self.view;
        timeline.set_length(end);
        meters.on_flow_complete(0, Time::ZERO + end);
        let setting = Setting {
            duration: end,
            ..self.setting
        };
        let seed = setting.seeds.first;
        let mut run = run::measured(&setting, seed, Keep::Timeline, meters, 0, Some(timeline));
        run.measured = run.measured.without(&UNKNOWN_OF_ALL);
        run.measured.flows = vec![run.measured.total];
        Watched {
            setting,
            entry: Entry::of_runs(NAME, Role::Contender, vec![run]),
            active,
        }
    }

    fn active(&self) -> Option<Active> {
        let link = match &self.setting.forward.link {
            LinkSource::Fixed(link) => link,
            LinkSource::Generated { .. } => return None,
        };
        let (from, to) = (self.first?, self.last_delivery);
        let seconds = to.since(from).as_secs_f64();
        let offered = link.volume_between(from, to - self.from_link);
        (seconds > 0.0).then(|| Active {
            from_s: from.since(Time::ZERO).as_secs_f64(),
            to_s: to.since(Time::ZERO).as_secs_f64(),
            throughput_mbps: self.delivered.as_f64() * 8e-6 / seconds,
            utilisation: self.delivered.as_f64() / offered.as_f64(),
        })
    }

    fn cover(&mut self, now: Time) {
        self.last = now;
        let length = self.view.timeline.length();
        if now >= Time::ZERO + length {
            self.view.timeline.set_length(length * 2);
        }
    }
}

impl Watched {
    /// The program in front of all that it was compared with.
    #[must_use]
    pub fn beside(self, mut others: Comparison) -> (Setting, Comparison) {
        let entries = others.entries.iter();
        let place = entries.filter(|e| e.role < Role::Contender).count();
        others.entries.insert(place, self.entry);
        (self.setting, others)
    }
}

impl Probe for Program {
    fn on_flow_start(&mut self, flow: usize, start: Time, to_link: Duration, from_link: Duration) {
        self.view.on_flow_start(flow, start, to_link, from_link);
    }

    fn on_send(&mut self, sent: &Sent) {
        self.cover(sent.now);
        self.first = self.first.or(Some(sent.now));
        self.view.on_send(sent);
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        self.cover(now);
        self.view.on_drop(flow, now, bytes, cause);
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.cover(exit.at);
        self.view.on_bottleneck_exit(exit);
    }

    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.cover(delivery.now);
        self.last_delivery = delivery.now;
        self.delivered += delivery.bytes;
        self.view.on_deliver(delivery);
    }
}

#[cfg(test)]
mod tests {
    use lowtide_sim::Simulation;
    use lowtide_sim::link::Link;
    use lowtide_sim::queue::QueueLimit;

    use super::*;
    use crate::contender::Contenders;
    use crate::timeline::Timeline;

    /// A flow of the simulator, seen by the link alone, has the metrics that the simulator gives it.
    #[test]
    fn what_the_link_sees_of_a_flow_is_what_the_simulator_measures() {
        let link = Link::constant(lowtide_cc::units::Rate::from_mbps(10)).unwrap();
        let duration = Duration::from_secs(40);
        let setting = Setting {
            duration,
            ..Setting::on_link("10 Mbit/s", LinkSource::Fixed(Arc::new(link)))
        };
        let setting = setting.with_buffer(QueueLimit::Packets(100));
        let cubic = Contenders::default().parse("cubic").unwrap();
        let setting = setting.run_by(&cubic);
        let known = run::run(&setting, 1, Keep::Timeline).unwrap();
        // It uses what a link sees, and nothing else that the simulator tells.
        let mut program = Program::new(&setting, 1).unwrap();
        let config = setting.config(1).unwrap();
        Simulation::new(config).unwrap().run(&mut program);
        let watched = program.finish(duration);
        let (seen, known_metrics) = (&watched.entry.mean, &known.measured.total);
        let same = "throughput_mbps utilisation queue_delay_ms.mean queue_delay_ms.p95 \
                    self_inflicted_ms.p95 loss_share";
        for key in same.split(' ') {
            assert_eq!(seen[key], known_metrics[key], "{key}");
        }
        // Of two packets that are acknowledged together the first waits for the second.
        let rtt = seen["rtt_ms.mean"] - known_metrics["rtt_ms.mean"];
        assert!(rtt.abs() < 2.0, "{rtt}");
        assert!(seen["retransmitted_share"].is_nan());
        let active = watched.active.unwrap();
        assert!(active.from_s == 0.0 && active.to_s > 39.9, "{active:?}");
        let used = active.utilisation;
        assert!(used > 0.9 && used <= 1.0, "{used}");
        let own = watched.entry.timeline.unwrap();
        let simulated = known.details.unwrap().timeline.unwrap();
        assert_eq!(own.bin(), simulated.bin());
        let delivered =
            |t: &Timeline| -> Vec<Bytes> { t.total().iter().map(|bin| bin.delivered).collect() };
        assert_eq!(delivered(&own), delivered(&simulated));
        let drops: u32 = own.link().iter().map(|bin| bin.drops).sum();
        assert!(drops > 0);
    }
}
