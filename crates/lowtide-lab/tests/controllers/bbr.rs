//! BBR v1 as the papers describe it: Xiong 2020, Figs. 4.1 ff. (20 Mbit/s, 20 ms, 1000-byte packets,
//! a large buffer). The simulator used there sends packets one by one, hence `burst=1`; Linux's
//! bursts of a millisecond enlarge the window and with it the peaks.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_lab::metrics::Meter;
use lowtide_lab::scenario::{Scenario, sender};
use lowtide_sim::probe::AckSeen;
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{Probe, Simulation};

use crate::setting::{compare, constant, of};

fn scenario(flows: usize, seconds: u64) -> Scenario {
    Scenario {
        rtt: Duration::from_millis(20),
        buffer: QueueLimit::Bdp(80.0),
        duration: Duration::from_secs(seconds),
        flows,
        stagger: Duration::from_secs(3),
        packet_size: Bytes::new(1000),
        ..constant(20)
    }
}

/// What a flow's acknowledgments show.
#[derive(Default)]
struct Watch {
    /// (when, RTT in ms, phase, pacing gain).
    acks: Vec<(Time, f64, &'static str, f64)>,
}

impl Probe for Watch {
    fn on_ack(&mut self, ack: &AckSeen<'_>) {
        if let (Some(rtt), Some(cc)) = (ack.rtt, ack.controller) {
            let s = cc.snapshot();
            self.acks.push((
                ack.now,
                rtt.as_millis_f64(),
                s.phase,
                s.pacing_gain.unwrap_or(0.0),
            ));
        }
    }
}

fn run<P: Probe>(scenario: &Scenario, spec: &str, probe: P) -> (Meter, P) {
    let kind = sender(&registry::parse(spec).unwrap());
    let config = scenario.config(&kind, 1).unwrap();
    let mut probes = (Meter::new(&config), probe);
    Simulation::new(config).unwrap().run(&mut probes);
    probes
}

#[test]
fn one_flow_overshoots_in_startup_probes_gently_and_dips_every_ten_seconds() {
    let (mut meter, watch) = run(&scenario(1, 45), "bbr:burst=1", Watch::default());
    let peak = |phase: &str, from: u64| {
        watch
            .acks
            .iter()
            .filter(|(at, _, p, _)| *p == phase && at.as_secs_f64() >= from as f64)
            .map(|(_, rtt, _, _)| *rtt)
            .fold(0.0, f64::max)
    };
    // A rate of 2.885 times the bottleneck's fills up to 1.885 BDP of queue: 2.885 · 20 = 57.7 ms.
    let startup = watch.acks.iter().take_while(|(_, _, p, _)| *p != "ProbeBW");
    let startup_peak = startup.map(|(_, rtt, _, _)| *rtt).fold(0.0, f64::max);
    assert!((54.0..62.0).contains(&startup_peak), "{startup_peak}");
    // A gain of 1.25 for one RTT adds a quarter of a BDP.
    let probe_peak = peak("ProbeBW", 5);
    assert!((24.0..27.5).contains(&probe_peak), "{probe_peak}");
    // The pipe is emptied each 10 s for 0.2 s.
    let mut dips = Vec::new();
    for pair in watch.acks.windows(2) {
        if pair[0].2 != "ProbeRTT" && pair[1].2 == "ProbeRTT" {
            dips.push(pair[1].0);
        }
    }
    assert_eq!(
        dips.len(),
        4,
        "{:?}",
        dips.iter().map(|t| t.as_secs_f64()).collect::<Vec<_>>()
    );
    for pair in dips.windows(2) {
        let apart = pair[1].since(pair[0]).as_secs_f64();
        assert!((10.0..10.6).contains(&apart), "{apart}");
    }
    let m = meter.finish().total;
    assert!(m.utilisation > 0.93, "{}", m.utilisation);
    assert_eq!(m.loss_share, 0.0);
}

#[test]
fn two_flows_build_a_queue_of_one_to_one_and_a_half_bdp_and_use_the_link() {
    let (mut meter, _) = run(&scenario(2, 90), "bbr:burst=1", ());
    let m = meter.finish().total;
    // Xiong §4.2: mean RTT 2 to 2.5 times the minimum.
    assert!((40.0..50.0).contains(&m.rtt_ms.mean), "{}", m.rtt_ms.mean);
    assert!(m.utilisation > 0.94, "{}", m.utilisation);
    assert_eq!(m.loss_share, 0.0);
}

#[test]
fn in_a_host_that_does_not_pace_the_windows_second_bdp_stands_in_the_queue() {
    let mean_rtt_ms = |pacing| {
        let scenario = Scenario {
            pacing,
            ..scenario(1, 30)
        };
        of(&compare(&scenario, &["bbr:burst=1"]), "bbr:burst=1")
            .rtt_ms
            .mean
    };
    // 20 ms of path. Startup's gain of 2.9 holds until the first ProbeRTT, because Drain needs pacing.
    let (paced, unpaced) = (mean_rtt_ms(true), mean_rtt_ms(false));
    assert!(paced < 24.0, "{paced}");
    assert!((40.0..60.0).contains(&unpaced), "{unpaced}");
}
