//! LeoCC: what it does when satellites are reassigned, and when not.

use super::events::{at, ms};
use super::host::{Host, MSS};
use lowtide_cc::units::{Duration, Rate};

const RATE: Rate = Rate::from_mbps(16);

fn host(spec: &str) -> Host {
    let mut host = Host::of(spec, RATE, ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host
}

#[test]
fn a_reconfiguration_leads_through_probe_rtt_to_startup_and_the_longer_path_is_known_at_once() {
    let mut host = host("leocc:offset=5s,period=15s");
    host.run_until(|h| h.now >= at(4_890));
    assert_eq!(host.phase(), "ProbeBW");
    host.rtt = ms(70);
    let phases = host.phases(ms(3_100));
    let phases: Vec<_> = phases.iter().map(|(phase, ..)| *phase).collect();
    assert_eq!(
        phases,
        ["ProbeBW", "ProbeRTT", "Startup", "Drain", "ProbeBW"]
    );
    let s = host.cc.snapshot();
    assert!(s.min_rtt >= Some(ms(70)), "{:?}", s.min_rtt);
    let bandwidth = s.bandwidth.unwrap().as_f64() / RATE.as_f64();
    assert!((0.95..1.05).contains(&bandwidth), "{bandwidth}");
    // BBR still believes in the old path, and so does LeoCC without a schedule.
    for spec in ["bbr", "leocc:period=0s"] {
        let mut host = self::host(spec);
        host.run_until(|h| h.now >= at(4_890));
        host.rtt = ms(70);
        host.run_until(|h| h.now >= at(8_000));
        assert!(host.cc.snapshot().min_rtt < Some(ms(45)), "{spec}");
    }
}

#[test]
fn reconfigurations_come_each_period_and_probe_rtt_keeps_half_a_bdp() {
    let mut host = host("leocc:offset=3s,period=4s");
    let (mut began, mut least, mut phase) = (Vec::new(), u64::MAX, host.phase());
    while host.now < at(16_000) {
        assert!(host.step());
        if host.phase() == "ProbeRTT" {
            least = least.min(host.cc.cwnd().get());
            if phase != "ProbeRTT" {
                began.push(host.now);
            }
        }
        phase = host.phase();
    }
    // 100 ms before, and with the next acknowledgment.
    let late = |(i, t): (u64, &lowtide_cc::units::Time)| t.since(at(2_900 + 4_000 * i));
    let worst = (0..).zip(&began).map(late).max();
    assert_eq!(began.len(), 4, "{began:?}");
    assert!(worst < Some(ms(10)), "{began:?}");
    // The BDP is 80 packets.
    let half = 40.0 * MSS.as_f64();
    assert!((0.95..1.1).contains(&(least as f64 / half)), "{least}");
}

#[test]
fn without_reconfigurations_the_minimum_rtt_lasts_for_twenty_seconds() {
    let mut host = host("leocc:period=0s");
    host.rtt = ms(60);
    let longest = Duration::from_secs(21);
    host.run_until(|h| h.phase() == "ProbeRTT");
    let since = host.now.since(at(0));
    assert!(
        since > Duration::from_secs(20) && since < longest,
        "{since}"
    );
}
