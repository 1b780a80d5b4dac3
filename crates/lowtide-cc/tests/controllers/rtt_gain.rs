//! RTT-gain BBR: the gain by RTT, and the early end of the probe.

use super::events::ms;
use super::host::Host;
use lowtide_cc::Config;
use lowtide_cc::controllers::bbr::{Model, Policy};
use lowtide_cc::controllers::rtt_gain::RttGain;
use lowtide_cc::units::{Duration, Rate};

#[test]
fn the_steady_gain_is_alpha_times_min_rtt_over_rtt_and_probing_ends_at_five_quarters() {
    let mut model = Model::new(&Config::default());
    model.min_rtt = ms(40);
    for (alpha, rtt, gain, ends) in [
        (1.0, ms(40), 1.0, false),
        (1.0, ms(80), 0.5, true),
        (0.75, ms(60), 0.5, true),
        (0.5, Duration::from_micros(49_999), 0.400_008, false),
        (0.5, ms(50), 0.4, true),
        // An RTT below the minimum is the new minimum, not a reason to speed up.
        (1.0, ms(20), 1.0, false),
    ] {
        model.rtt = rtt;
        let policy = RttGain::new(alpha);
        assert!((policy.steady_gain(&model) - gain).abs() < 1e-9, "{rtt}");
        assert_eq!(policy.ends_probe(&model), ends, "{rtt}");
    }
}

/// The longest time that the gain stays at 1.25 once the RTT has reached 1.25 times its minimum,
/// over a link that loses half its rate.
fn longest_probe_into_a_queue(spec: &str) -> Duration {
    let mut host = Host::of(spec, Rate::from_mbps(20), ms(40));
    host.run_until(|h| h.phase() == "ProbeBW");
    host.rate = Rate::from_mbps(10);
    let (mut longest, mut since) = (Duration::ZERO, None);
    for _ in 0..20_000 {
        assert!(host.step());
        let snapshot = host.cc.snapshot();
        let queued = host.last_rtt >= ms(50);
        let probes = snapshot.phase == "ProbeBW" && snapshot.pacing_gain == Some(1.25) && queued;
        since = probes.then(|| since.unwrap_or(host.now));
        longest = longest.max(since.map_or(Duration::ZERO, |s| host.now.since(s)));
    }
    longest
}

#[test]
fn probing_stops_at_the_acknowledgment_that_shows_a_queue() {
    assert!(longest_probe_into_a_queue("bbr") >= ms(40));
    // The phase begins by the clock, whatever the queue; the next acknowledgment ends it.
    assert!(longest_probe_into_a_queue("rtt-gain") < ms(2));
}
