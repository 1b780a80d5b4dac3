use lowtide_cc::controller::{AckEvent, LossEvent, PacketSent, Snapshot, TimeoutEvent};
use lowtide_cc::registry::Entry;
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::Rate;
use lowtide_sim::Simulation;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

use super::*;
use crate::contender::{Contender, Contenders};
use crate::metrics::Meter;
use crate::setting::{LinkSource, Setting};

fn run(spec: &str, flows: usize) -> (Timeline, Meter) {
    run_by(&Contenders::default().parse(spec).unwrap(), flows)
}

fn run_by(contender: &Contender, flows: usize) -> (Timeline, Meter) {
    let link = Link::constant(Rate::from_mbps(10)).unwrap();
    let setting = Setting {
        duration: Duration::from_secs(15),
        ..Setting::on_link("10 Mbit/s", LinkSource::Fixed(std::sync::Arc::new(link)))
    };
    let setting = setting.with_buffer(QueueLimit::Packets(100));
    let setting = setting.with_flows(flows).run_by(contender);
    let config = setting.config(1).unwrap();
    let mut probes = (Timeline::new(&config), Meter::new(&config));
    Simulation::new(config).unwrap().run(&mut probes);
    probes
}

fn largest(bins: &[FlowBin], get: impl Fn(&FlowBin) -> Envelope) -> f32 {
    let ends = bins.iter().filter_map(|b| get(b).get());
    ends.map(|(_, max)| max).fold(0.0, f32::max)
}

#[test]
fn bins_agree_with_the_meter_and_keep_their_peaks_when_coarsened() {
    let (timeline, mut meter) = run("cubic", 1);
    let measured = meter.finish().total;
    let delivered: Bytes = timeline.total().iter().map(|b| b.delivered).sum();
    let expected = measured["throughput_mbps"] * 15.0 * 1e6 / 8.0;
    assert!((delivered.as_f64() - expected).abs() < 1.0);
    let lost: u32 = timeline.total().iter().map(|b| b.lost).sum();
    let drops: u32 = timeline.link().iter().map(|b| b.drops).sum();
    assert!(lost > 0 && lost <= drops, "{lost} of {drops}");
    let peak = largest(timeline.total(), |b| b.rtt);
    assert!((f64::from(peak) - measured["rtt_ms.max"]).abs() < 0.01);

    let coarse = timeline.coarsened(70);
    assert!(coarse.total().len() < timeline.total().len() / 60);
    assert_eq!(largest(coarse.total(), |b| b.rtt), peak);
    let volume: Bytes = coarse.total().iter().map(|b| b.delivered).sum();
    assert_eq!(volume, delivered);
}

#[test]
fn a_timeline_that_grows_has_the_bins_of_one_that_was_as_long_from_the_beginning() {
    let (mut grown, _) = run("bbr", 1);
    let before: Bytes = grown.total().iter().map(|b| b.delivered).sum();
    let mut setting = Setting::on_link("none", LinkSource::Fixed(Link::unlimited().into()));
    for seconds in [20, 31, 700, 90_000] {
        let length = Duration::from_secs(seconds);
        grown.set_length(length);
        setting.duration = length;
        let whole = Timeline::new(&setting.config(1).unwrap());
        assert_eq!(grown.bin(), whole.bin(), "{seconds} s");
        assert_eq!(grown.total().len(), whole.total().len());
        assert!(grown.length() >= length && grown.link().len() <= 3_000);
    }
    let after: Bytes = grown.total().iter().map(|b| b.delivered).sum();
    assert_eq!(before, after);
}

#[test]
fn phases_modes_and_filters_are_kept() {
    let (bbr_s, _) = run("bbr-s", 1);
    let flow = &bbr_s.flows()[0];
    let states = flow.phases.states();
    for phase in "Startup/Drain/ProbeBW/ProbeBW, gain > 1/ProbeRTT".split('/') {
        let is_kept = states.iter().any(|s| s.name == phase);
        assert!(is_kept, "no {phase} in {states:?}");
    }
    assert!(flow.modes.states().iter().any(|s| s.name == "censored"));
    assert!(largest(&flow.bins, |b| b.filter.gain) > 0.0);

    // RBBR's filter is the receiver's, which the sender suspends at first.
    let (rbbr, _) = run("rbbr", 1);
    let flow = &rbbr.flows()[0];
    let changes = flow.modes.changes().iter();
    let modes = changes.map(|(_, n)| flow.modes.states()[usize::from(*n)].name.as_str());
    assert_eq!(modes.take(2).collect::<Vec<_>>(), ["suspended", "regular"]);
    assert!(largest(&flow.bins, |b| b.filter.measurement) > 0.0);
}

#[test]
fn many_flows_show_in_the_total_only() {
    let (timeline, _) = run("newreno", 20);
    assert_eq!(timeline.flows().len(), 16);
    let of = |bins: &[FlowBin]| bins.iter().map(|b| b.delivered.as_f64()).sum::<f64>();
    let kept: f64 = timeline.flows().iter().map(|f| of(&f.bins)).sum();
    assert!(kept < of(timeline.total()));
    // At the end the windows of twenty flows are about what path and buffer hold.
    let cwnd = largest(&timeline.total()[1000..], |b| b.cwnd);
    assert!((100.0..400.0).contains(&cwnd), "{cwnd} kB");
}

/// A controller of somebody else, with phases of its own.
#[derive(Debug, Default)]
struct Moody {
    acks: u64,
}

const SAD: State = State::new("Sad", StateKind::Down);
const MERRY: State = State::new("Merry", StateKind::Up);

impl Controller for Moody {
    fn on_packet_sent(&mut self, _sent: &PacketSent) {}
    fn on_ack(&mut self, _ack: &AckEvent<'_>) {
        self.acks += 1;
    }
    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}
    fn on_mtu_change(&mut self, _max_datagram: Bytes) {}

    fn cwnd(&self) -> Bytes {
        Bytes::new(30_000)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn send_quantum(&self) -> Bytes {
        Bytes::new(3_000)
    }

    fn snapshot(&self) -> Snapshot {
        let is_merry = (self.acks / 100).is_multiple_of(2);
        Snapshot {
            phase: if is_merry { MERRY.name } else { SAD.name },
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        &[SAD, MERRY]
    }
}

static MOODY: Entry = Entry {
    name: "moody",
    summary: "",
    source: "",
    parameters: &[],
    make: |_, _| Box::new(Moody::default()),
    receiver: None,
};

#[test]
fn a_controller_of_somebody_else_shows_its_phases_in_its_order_and_colours() {
    let contenders = Contenders::default().with(&MOODY).unwrap();
    let (timeline, _) = run_by(&contenders.parse("moody").unwrap(), 1);
    let phases = &timeline.flows()[0].phases;
    assert!(phases.changes().len() > 10);
    let shown = phases.entered().map(|s| (s.name.as_str(), s.kind));
    let expected = [("Sad", StateKind::Down), ("Merry", StateKind::Up)];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}
