use lowtide_cc::units::Rate;
use lowtide_sim::Simulation;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

use super::*;
use crate::contender::Contenders;
use crate::metrics::Meter;
use crate::setting::{LinkSource, Setting};

fn run(spec: &str, flows: usize) -> (Timeline, Meter) {
    let link = Link::constant(Rate::from_mbps(10)).unwrap();
    let setting = Setting {
        duration: Duration::from_secs(15),
        buffer: QueueLimit::Packets(100),
        ..Setting::on_link("10 Mbit/s", LinkSource::Fixed(std::sync::Arc::new(link)))
    };
    let contender = Contenders::default().parse(spec).unwrap();
    let setting = setting.with_flows(flows).run_by(&contender);
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
fn phases_modes_and_filters_are_kept() {
    let (bbr_s, _) = run("bbr-s", 1);
    let flow = &bbr_s.flows()[0];
    for phase in [
        "Startup",
        "Drain",
        "ProbeBW",
        "ProbeBW, gain > 1",
        "ProbeRTT",
    ] {
        let states = flow.phases.states();
        assert!(
            states.iter().any(|s| s.name == phase),
            "no {phase} in {states:?}"
        );
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
