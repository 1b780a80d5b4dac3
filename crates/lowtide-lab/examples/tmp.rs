#![allow(missing_docs)]
use lowtide_cc::units::*;
use lowtide_lab::scenario::*;
use lowtide_sim::Simulation;
use lowtide_sim::probe::*;
use std::collections::BTreeMap;
use std::sync::Arc;

struct P {
    modes: BTreeMap<&'static str, u64>,
    print: (f64, f64),
    last: f64,
    every: f64,
}
impl Probe for P {
    fn on_ack(&mut self, a: &AckSeen<'_>) {
        let s = a.controller.unwrap().snapshot();
        if let Some(f) = s.filter {
            *self.modes.entry(f.mode).or_default() += 1;
        }
        let t = a.now.as_secs_f64();
        if t >= self.print.0 && t < self.print.1 && t - self.last > self.every {
            self.last = t;
            let f = s.filter;
            println!(
                "{t:.4} {} bw {:.2} rtt {:.1} min {:.1} g {:.2} infl {} cwnd {} {}",
                s.phase,
                s.bandwidth.map_or(0.0, Rate::as_mbps),
                a.rtt.map_or(0.0, |d| d.as_millis_f64()),
                s.min_rtt.map_or(0.0, |d| d.as_millis_f64()),
                s.pacing_gain.unwrap_or(0.0),
                a.inflight.get(),
                a.controller.unwrap().cwnd().get(),
                f.map_or(String::new(), |f| format!(
                    "{} K {:.3} q {:.3} r {:.3} d {:.3}",
                    f.mode,
                    f.gain,
                    f.process_noise.sqrt() * 8e-6,
                    f.measurement_noise.sqrt() * 8e-6,
                    f.innovation * 8e-6
                ))
            );
        }
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let link = if a[2].ends_with("mbit") {
        let r = a[2].trim_end_matches("mbit").parse().unwrap();
        lowtide_sim::link::Link::Rates(
            lowtide_sim::link::RateSchedule::new(
                vec![(Time::ZERO, Rate::from_mbps(r))],
                lowtide_sim::link::AfterLast::Hold,
            )
            .unwrap(),
        )
    } else {
        lowtide_sim::trace::load(std::path::Path::new(&a[2]), Bytes::new(1504)).unwrap()
    };
    let mut s = Scenario::on_link("x", LinkSource::Fixed(Arc::new(link)));
    s.rtt = Duration::from_millis(a[3].parse().unwrap());
    s.duration = Duration::from_secs(120);
    let spec = lowtide_cc::registry::parse(&a[1]).unwrap();
    let mut p = P {
        modes: BTreeMap::new(),
        print: (a[4].parse().unwrap(), a[5].parse().unwrap()),
        last: 0.0,
        every: a.get(6).map_or(0.0, |x| x.parse().unwrap()),
    };
    Simulation::new(s.config(&sender(&spec), 1).unwrap())
        .unwrap()
        .run(&mut p);
    println!("{:?}", p.modes);
}
