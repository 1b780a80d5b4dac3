//! BBR v1 as the papers describe it: Xiong 2020, Figs. 4.1 ff. (20 Mbit/s, 20 ms, 1000-byte packets,
//! a large buffer). The simulator used there sends packets one by one, hence `burst=1`; Linux's
//! bursts of a millisecond enlarge the window and with it the peaks.

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_lab::metrics::Meter;
use lowtide_lab::setting::{LinkSource, Setting};
use lowtide_sim::link::{AfterLast, Link, RateSchedule};
use lowtide_sim::probe::AckSeen;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::transport::{Pacing, TransportConfig};
use lowtide_sim::{Probe, Simulation};

use crate::setting::{compare, constant, contender, of};

fn setting(flows: usize, seconds: u64) -> Setting {
    let mut setting = Setting {
        duration: Duration::from_secs(seconds),
        packet_size: Bytes::new(1000),
        ..constant(20)
    };
    setting.groups[0].every = Duration::from_secs(3);
    let setting = setting.with_rtt(Duration::from_millis(20));
    setting.with_buffer(QueueLimit::Bdp(80.0)).with_flows(flows)
}

/// When an acknowledgment came, with which RTT in ms, in which phase.
type Ack = (Time, f64, &'static str);

/// What a flow's acknowledgments show.
#[derive(Default)]
struct Watch {
    acks: Vec<Ack>,
}

impl Probe for Watch {
    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        if let (Some(rtt), Some(cc)) = (ack.rtt, ack.controller) {
            let phase = cc.snapshot().phase;
            self.acks.push((ack.now, rtt.as_millis_f64(), phase));
        }
    }
}

fn run<P: Probe>(setting: &Setting, spec: &str, probe: P) -> (Meter, P) {
    let config = setting.run_by(&contender(spec)).config(1).unwrap();
    let mut probes = (Meter::new(&config), probe);
    Simulation::new(config).unwrap().run(&mut probes);
    probes
}

/// Window and phase at the last acknowledgment before each timeout and at the first after it.
#[derive(Default)]
struct AroundTimeouts {
    last: Option<(Bytes, &'static str)>,
    timed_out: bool,
    pairs: Vec<[(Bytes, &'static str); 2]>,
}

impl Probe for AroundTimeouts {
    fn on_timeout(&mut self, _flow: usize, _now: Time) {
        self.timed_out = true;
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        let seen = ack.controller.map(|cc| (cc.cwnd(), cc.snapshot().phase));
        let before = std::mem::replace(&mut self.last, seen);
        if let (true, Some(before), Some(after)) = (self.timed_out, before, seen) {
            self.pairs.push([before, after]);
        }
        self.timed_out = false;
    }
}

#[test]
fn a_link_that_stalls_for_a_second_leaves_window_and_phase_as_they_were() {
    let (full, stalled) = (Rate::from_mbps(20), Rate::ZERO);
    let steps = [(0, full), (5, stalled), (6, full), (8, stalled), (9, full)];
    let steps = steps.map(|(at, rate)| (Time::ZERO + Duration::from_secs(at), rate));
    let link = RateSchedule::new(steps.to_vec(), AfterLast::Hold).unwrap();
    let setting = Setting {
        // The minimum RTT lasts ten: no ProbeRTT is due.
        duration: Duration::from_secs(10),
        ..Setting::on_link("stalls", LinkSource::Fixed(Arc::new(Link::Rates(link))))
    };
    let setting = setting.over(TransportConfig::tcp());
    for spec in ["bbr", "bbr-acd", "ebcc"] {
        let (_, watch) = run(&setting, spec, AroundTimeouts::default());
        assert_eq!(watch.pairs.len(), 2, "{spec}: a timeout each");
        for [(before, phase), (after, then)] in watch.pairs {
            let kept = after >= before.mul_f64(0.9) && then == phase;
            assert!(kept, "{spec}: {before} {phase}, then {after} {then}");
        }
    }
}

#[test]
fn one_flow_overshoots_in_startup_probes_gently_and_dips_every_ten_seconds() {
    let (mut meter, watch) = run(&setting(1, 45), "bbr:burst=1", Watch::default());
    let peak = |acks: &mut dyn Iterator<Item = &Ack>| acks.map(|a| a.1).fold(0.0, f64::max);
    // A rate of 2.885 times the bottleneck's fills up to 1.885 BDP of queue: 2.885 · 20 = 57.7 ms.
    let startup_peak = peak(&mut watch.acks.iter().take_while(|a| a.2 != "ProbeBW"));
    assert!((54.0..62.0).contains(&startup_peak), "{startup_peak}");
    // A gain of 1.25 for one RTT adds a quarter of a BDP.
    let is_probe = |a: &&Ack| a.2 == "ProbeBW" && a.0.as_secs_f64() >= 5.0;
    let probe_peak = peak(&mut watch.acks.iter().filter(is_probe));
    assert!((24.0..27.5).contains(&probe_peak), "{probe_peak}");
    // The pipe is emptied each 10 s for 0.2 s.
    let begins = |pair: &&[Ack]| pair[0].2 != "ProbeRTT" && pair[1].2 == "ProbeRTT";
    let dips = watch.acks.windows(2).filter(begins);
    let dips: Vec<f64> = dips.map(|pair| pair[1].0.as_secs_f64()).collect();
    assert_eq!(dips.len(), 4, "{dips:?}");
    let mut apart = dips.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(apart.all(|apart| (10.0..10.6).contains(&apart)), "{dips:?}");
    let m = meter.finish().total;
    assert!(m["utilisation"] > 0.93, "{}", m["utilisation"]);
    assert_eq!(m["loss_share"], 0.0);
}

#[test]
fn two_flows_build_a_queue_of_one_to_one_and_a_half_bdp_and_use_the_link() {
    let (mut meter, _) = run(&setting(2, 90), "bbr:burst=1", ());
    let m = meter.finish().total;
    // Xiong §4.2: mean RTT 2 to 2.5 times the minimum.
    let rtt = m["rtt_ms.mean"];
    assert!((40.0..50.0).contains(&rtt), "{rtt}");
    assert!(m["utilisation"] > 0.94, "{}", m["utilisation"]);
    assert_eq!(m["loss_share"], 0.0);
}

#[test]
fn in_a_host_that_does_not_pace_the_windows_second_bdp_stands_in_the_queue() {
    let mean_rtt_ms = |pacing| {
        let mut setting = setting(1, 30);
        setting.groups[0].pacing = pacing;
        of(&compare(&setting, &["bbr:burst=1"]), "bbr:burst=1")["rtt_ms.mean"]
    };
    // 20 ms of path. Startup's gain of 2.9 holds until the first ProbeRTT, because Drain needs pacing.
    let (paced, unpaced) = (mean_rtt_ms(Pacing::Rate), mean_rtt_ms(Pacing::Off));
    assert!(paced < 24.0, "{paced}");
    assert!((40.0..60.0).contains(&unpaced), "{unpaced}");
}
